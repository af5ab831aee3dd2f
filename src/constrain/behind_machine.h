// The rest of a text whose beginning is there already: the prompt ends inside of a call that must
// be made, or with a text of the client's that the answer continues.
//
// What it makes belongs to one thread, as all machines do (constraint_machine.h).
#pragma once

#include <memory>
#include <string>

#include "constrain/constraint_machine.h"

namespace zerohop {

/// What may follow `prefix` in the texts of `machine`, of which only renew() is called. Null: no
/// text begins like that.
std::unique_ptr<ConstraintMachine> make_behind_machine(
    std::shared_ptr<const ConstraintMachine> machine, std::string prefix);

}  // namespace zerohop
