#include "constrain/behind_machine.h"

#include <utility>

namespace zerohop {
namespace {

class BehindMachine final : public ConstraintMachine {
 public:
  BehindMachine(std::shared_ptr<const ConstraintMachine> whole, std::string prefix)
      : whole_(std::move(whole)),
        prefix_(std::move(prefix)),
        machine_(whole_->renew()),
        start_(step_all(*machine_, machine_->start(), prefix_)) {}

  MachineState start() override { return start_; }
  MachineState step(MachineState state, unsigned char byte) override {
    return machine_->step(state, byte);
  }
  bool accepting(MachineState state) override { return machine_->accepting(state); }
  std::string shortest_end(MachineState state) override { return machine_->shortest_end(state); }
  std::size_t shortest_end_bytes(MachineState state) override {
    return machine_->shortest_end_bytes(state);
  }
  std::string forced(MachineState state, std::size_t bytes_max) override {
    return machine_->forced(state, bytes_max);
  }
  std::optional<ContentRun> content(MachineState state) override {
    return machine_->content(state);
  }
  std::vector<MachineState> parts(MachineState state) override { return machine_->parts(state); }
  bool plain_ends() override { return machine_->plain_ends(); }
  std::bitset<256> first_bytes(MachineState state) override { return machine_->first_bytes(state); }
  std::uint64_t work() const override { return machine_->work(); }
  std::size_t memory_bytes() const override { return machine_->memory_bytes() + prefix_.size(); }
  std::unique_ptr<ConstraintMachine> renew() const override {
    return std::make_unique<BehindMachine>(whole_, prefix_);
  }

 private:
  std::shared_ptr<const ConstraintMachine> whole_;
  std::string prefix_;
  std::unique_ptr<ConstraintMachine> machine_;
  MachineState start_;
};

}  // namespace

std::unique_ptr<ConstraintMachine> make_behind_machine(
    std::shared_ptr<const ConstraintMachine> machine, std::string prefix) {
  auto behind = std::make_unique<BehindMachine>(std::move(machine), std::move(prefix));
  if (behind->start() == kDeadState) return nullptr;
  return behind;
}

}  // namespace zerohop
