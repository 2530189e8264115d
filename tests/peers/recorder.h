// Recorder: one node's receiving side: keeps what came, and can be waited for. Safe from any thread.

#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "log/transport.h"
#include "server/peer_hooks.h"

namespace cadastre::peers {

inline constexpr std::chrono::seconds kPatience{30};

struct Heard {
  log::NodeId from;
  log::GroupId group;
  std::string text;

  friend bool operator==(const Heard&, const Heard&) = default;
};

class Recorder final : public log::TransportSink, public server::PeerHooks {
 public:
  // What is seen of it at one moment.
  struct Seen {
    std::vector<Heard> frames;
    std::map<log::GroupId, std::size_t> held;  // Frames that are kept with the memory they lie in.
    std::map<log::NodeId, std::size_t> unreachable;
    std::vector<std::pair<log::GroupId, log::Index>> not_here;
    std::vector<log::SnapshotReport> reports;
    std::vector<log::NodeAddress> hints;

    // Texts of a group, in the order of their arrival.
    [[nodiscard]] std::vector<std::string> texts(log::GroupId group) const {
      std::vector<std::string> out;
      for (const Heard& heard : frames) {
        if (heard.group == group) out.push_back(heard.text);
      }
      return out;
    }
  };

  void on_frames(log::NodeId from, std::vector<log::Frame> frames) override {
    const base::MutexLock lock(mutex_);
    for (log::Frame& frame : frames) {
      if (holds_) {
        ++seen_.held[frame.group];
        held_.push_back(std::move(frame));
      } else {
        seen_.frames.push_back({from, frame.group, std::string(base::as_text(frame.body.bytes()))});
      }
    }
    changed_.notify_all();
  }
  void on_unreachable(log::NodeId to) override {
    const base::MutexLock lock(mutex_);
    ++seen_.unreachable[to];
    changed_.notify_all();
  }
  [[nodiscard]] bool has_group(log::GroupId group) const override {
    const base::MutexLock lock(mutex_);
    return !foreign_.contains(group);
  }
  [[nodiscard]] std::optional<log::Index> not_here(log::GroupId group,
                                                   log::NodeId /*from*/) const override {
    const base::MutexLock lock(mutex_);
    const auto unknown = unknown_.find(group);
    if (unknown == unknown_.end()) return std::nullopt;
    return unknown->second;
  }
  void on_not_here(log::NodeId /*from*/, log::GroupId group, log::Index configuration) override {
    const base::MutexLock lock(mutex_);
    seen_.not_here.emplace_back(group, configuration);
    changed_.notify_all();
  }
  void on_snapshot_report(log::NodeId /*from*/,
                          log::GroupId /*group*/,
                          const log::SnapshotReport& report) override {
    const base::MutexLock lock(mutex_);
    seen_.reports.push_back(report);
    changed_.notify_all();
  }
  void on_address_hint(log::NodeId /*from*/, const log::NodeAddress& address) override {
    const base::MutexLock lock(mutex_);
    seen_.hints.push_back(address);
    changed_.notify_all();
  }

  // From now on frames are kept with their memory, as by a log thread that does not come to them.
  void hold() {
    const base::MutexLock lock(mutex_);
    holds_ = true;
  }
  // They are taken, all at once.
  void let_go() {
    std::vector<log::Frame> taken;
    {
      const base::MutexLock lock(mutex_);
      holds_ = false;
      taken = std::exchange(held_, {});
      seen_.held.clear();
    }
    for (log::Frame& frame : taken) {
      const log::NodeId from = frame.from;
      std::vector<log::Frame> one;
      one.push_back(std::move(frame));
      on_frames(from, std::move(one));
    }
  }
  void does_not_know(log::GroupId group, log::Index configuration) {
    const base::MutexLock lock(mutex_);
    unknown_[group] = configuration;
  }
  void never_had(log::GroupId group) {
    const base::MutexLock lock(mutex_);
    foreign_.insert(group);
  }

  [[nodiscard]] Seen seen() const {
    const base::MutexLock lock(mutex_);
    return seen_;
  }
  // Waits until it is so; false: it was not, for a long time.
  [[nodiscard]] bool wait_until(const std::function<bool(const Seen&)>& is_so,
                                std::chrono::nanoseconds patience = kPatience) {
    const base::Elapsed deadline = clock_.elapsed() + patience;
    const base::MutexLock lock(mutex_);
    while (!is_so(seen_)) {
      const base::Elapsed left = deadline - clock_.elapsed();
      if (left <= left.zero()) return false;
      changed_.wait_for(mutex_, left);
    }
    return true;
  }

 private:
  base::SystemClock clock_;
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  Seen seen_ CAD_GUARDED_BY(mutex_);
  bool holds_ CAD_GUARDED_BY(mutex_) = false;
  std::vector<log::Frame> held_ CAD_GUARDED_BY(mutex_);
  std::map<log::GroupId, log::Index> unknown_ CAD_GUARDED_BY(mutex_);
  std::set<log::GroupId> foreign_;
};

}  // namespace cadastre::peers
