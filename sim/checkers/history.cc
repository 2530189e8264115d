#include "sim/checkers/history.h"

#include "base/check.h"
#include "sim/schedule/sim_time.h"

namespace cadastre::sim::checkers {

OpNumber History::call(SimTime now, const Call& call) {
  operations_.push_back({.call = call, .called = now, .returned = {}});
  return OpNumber(operations_.size() - 1);
}

Operation& History::unanswered(OpNumber number) {
  CAD_CHECK(number.value() < operations_.size(), "an operation is called before it is answered");
  Operation& operation = operations_[number.value()];
  CAD_CHECK(operation.outcome == Outcome::kUnknown, "an operation is answered once");
  return operation;
}

void History::ok(OpNumber number, SimTime now, Value result) {
  Operation& operation = unanswered(number);
  CAD_CHECK(operation.called <= now, "a call precedes its answer");
  operation.outcome = Outcome::kOk;
  operation.returned = now;
  operation.result = result;
}

void History::failed(OpNumber number) {
  unanswered(number).outcome = Outcome::kFailed;
}

}  // namespace cadastre::sim::checkers
