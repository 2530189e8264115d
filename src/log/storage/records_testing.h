// RecordMap: the records of a log database as a plain map, to read from and to damage.

#pragma once

#include <map>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/check.h"
#include "log/storage/image_reader.h"
#include "log/storage/records.h"
#include "log/storage/write_plan.h"

namespace cadastre::log {

struct BytesLess {
  using is_transparent = void;
  bool operator()(ByteView a, ByteView b) const noexcept { return base::less(a, b); }
};
using RecordMap = std::map<Bytes, Bytes, BytesLess>;

inline void put_sealed(RecordMap& records, const RecordKey& key, ByteView value) {
  Bytes sealed = base::to_owned(value);
  const auto sum = record_sum(key.view(), value);
  sealed.insert(sealed.end(), sum.begin(), sum.end());
  records[base::to_owned(key.view())] = std::move(sealed);
}

inline Bytes& record(RecordMap& records, const RecordKey& key) {
  const auto found = records.find(key.view());
  CAD_CHECK(found != records.end(), "a test damages what is there");
  return found->second;
}

class MapSink final : public RecordSink {
 public:
  explicit MapSink(RecordMap& records) noexcept : records_(records) {}

  void put(ByteView key, std::span<const ByteView> value) override {
    Bytes whole;
    for (const ByteView part : value)
      whole.insert(whole.end(), part.begin(), part.end());
    records_[base::to_owned(key)] = std::move(whole);
  }
  void erase(ByteView key) override { records_.erase(base::to_owned(key)); }
  void erase_range(ByteView begin, ByteView end) override {
    records_.erase(records_.lower_bound(begin), records_.lower_bound(end));
  }

 private:
  RecordMap& records_;
};

class RecordMapCursor final : public RecordCursor {
 public:
  explicit RecordMapCursor(const RecordMap& records) : records_(records), at_(records.begin()) {}

  void seek(ByteView key) override { at_ = records_.lower_bound(key); }
  void next() override { ++at_; }
  [[nodiscard]] bool valid() const override { return failed.empty() && at_ != records_.end(); }
  [[nodiscard]] ByteView key() const override { return at_->first; }
  [[nodiscard]] ByteView value() const override { return at_->second; }
  [[nodiscard]] std::string error() const override { return failed; }

  std::string failed;  // The disk does not answer, and why.

 private:
  const RecordMap& records_;
  RecordMap::const_iterator at_;
};

}  // namespace cadastre::log
