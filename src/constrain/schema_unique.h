// uniqueItems, once it is known what the items can be.
//
// Kept where all items are scalars and there are always enough different ones. Of finitely many
// values as many items may follow as there are values. Where the places of an array differ and few
// arrays are possible at all, they are listed. Everything else is refused. One compilation, one
// thread.
#pragma once

#include "constrain/schema_builder.h"
#include "constrain/schema_form.h"

namespace zerohop {

/// Leaves `form` without nodes where nothing satisfies it any more; stops the work where it
/// refuses.
void settle_unique_items(SchemaForm& form, SchemaBuilder& builder);

}  // namespace zerohop
