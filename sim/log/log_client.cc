#include "sim/log/log_client.h"

namespace cadastre::sim {

LogClient::LogClient(Scheduler& scheduler,
                     Network& network,
                     checkers::History& history,
                     std::uint64_t& next_number,
                     const Options& options)
    : scheduler_(scheduler),
      network_(network),
      history_(history),
      next_number_(next_number),
      options_(options),
      random_(options.seed) {
  network_.attach(options_.id, *this);
}

LogClient::~LogClient() {
  network_.detach(options_.id);
}

void LogClient::begin() {
  think();
}

void LogClient::think() {
  const auto pause = 1 + random_.below(static_cast<std::uint64_t>(options_.think_most.count()));
  scheduler_.after(options_.id, std::chrono::nanoseconds(pause), [this] { ask(); });
}

NodeId LogClient::choose_node() {
  if (leader_ && random_.below(8) != 0) return *leader_;
  return NodeId{1 + random_.below(options_.nodes)};
}

void LogClient::ask() {
  if (resting_) return;
  const NodeId node = choose_node();
  if (options_.is_lost(node)) return think();
  LogRequest request;
  request.number = next_number_++;
  request.group = random_.below(options_.groups);
  request.key = random_.below(options_.keys);
  request.argument = request.number;
  switch (random_.below(4)) {
    case 0:
      request.kind = checkers::OpKind::kRead;
      if (options_.registers == Registers::kOfAll)
        request.mode = static_cast<log::ReadMode>(random_.below(log::kReadModes));
      break;
    case 1:
      request.kind = checkers::OpKind::kCompareAndSet;
      if (random_.below(4) != 0) request.expected = random_.below(request.number + 1);
      break;
    default: request.kind = checkers::OpKind::kWrite; break;
  }
  const bool read = request.kind == checkers::OpKind::kRead;
  const NodeId owner = options_.registers == Registers::kOfAll ? NodeId{0} : node;
  const checkers::OpNumber op =
      history_.call(scheduler_.now(), {.client = checkers::ClientId{options_.id.value()},
                                       .key = history_key(owner, request.group, request.key),
                                       .kind = request.kind,
                                       .expected = request.expected,
                                       .argument = read ? checkers::Value{} : request.argument});
  waiting_ = Waiting{request.number, op, node};
  network_.send({{options_.id, node}, Lane::kControl}, encode(request));
  timeout_ = scheduler_.after(options_.id, options_.patience, [this] {
    waiting_.reset();  // Whatever becomes of it, nobody knows.
    leader_.reset();
    think();
  });
}

void LogClient::on_frame(const StreamId& /*stream*/, base::Bytes frame) {
  const LogReply reply = decode_reply(frame);
  if (!waiting_ || waiting_->number != reply.number) return;  // Too late, or twice.
  leader_.reset();
  if (options_.registers == Registers::kOfAll && reply.outcome == LogOutcome::kOk)
    leader_ = waiting_->node;
  switch (reply.outcome) {
    case LogOutcome::kOk:
      history_.ok(waiting_->op, scheduler_.now(), reply.value);
      ++succeeded_;
      break;
    case LogOutcome::kRefused: history_.failed(waiting_->op); break;
    case LogOutcome::kUnknown: break;
  }
  ++answered_;
  waiting_.reset();
  scheduler_.cancel(timeout_);
  think();
}

}  // namespace cadastre::sim
