// SpoilingWriter: a Writer whose views are spoilt by the next mutation, before it is carried out. Over a
// store where they would happen to survive it shows who uses a view that has died (kv.h, rule 1; B-21).

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"
#include "kv/error.h"
#include "kv/kv.h"

namespace cadastre::bitmap::testing {

// Copies of what was read since the last mutation.
class LentBytes {
 public:
  [[nodiscard]] base::ByteView lend(base::ByteView bytes) {
    return lent_.emplace_back(base::to_owned(bytes));
  }
  [[nodiscard]] std::optional<kv::EntryView> lend(const std::optional<kv::EntryView>& entry) {
    if (!entry) return std::nullopt;
    return kv::EntryView{lend(entry->key), lend(entry->value)};
  }
  // Spoilt bytes stay in memory until the next time, so that a late reader finds them.
  void spoil() {
    for (base::Bytes& bytes : lent_)
      bytes.assign(bytes.size(), std::byte{0xa5});
    spoilt_ = std::exchange(lent_, {});
  }

 private:
  std::deque<base::Bytes> lent_;
  std::deque<base::Bytes> spoilt_;
};

class SpoilingCursor final : public kv::Cursor {
 public:
  SpoilingCursor(std::unique_ptr<kv::Cursor> behind, LentBytes& lent)
      : behind_(std::move(behind)), lent_(lent) {}

  using Found = base::Result<std::optional<kv::EntryView>, kv::Error>;
  [[nodiscard]] Found seek_ceiling(base::ByteView key) override {
    return lent_.lend(CAD_TRY(behind_->seek_ceiling(key)));
  }
  [[nodiscard]] Found seek_floor(base::ByteView key) override {
    return lent_.lend(CAD_TRY(behind_->seek_floor(key)));
  }
  [[nodiscard]] Found next() override { return lent_.lend(CAD_TRY(behind_->next())); }
  [[nodiscard]] Found prev() override { return lent_.lend(CAD_TRY(behind_->prev())); }

 private:
  std::unique_ptr<kv::Cursor> behind_;
  LentBytes& lent_;
};

class SpoilingWriter final : public kv::Writer {
 public:
  explicit SpoilingWriter(kv::Writer& behind) : behind_(behind) {}

  [[nodiscard]] base::Result<std::optional<base::ByteView>, kv::Error> get(
      base::ByteView key) override {
    const auto found = CAD_TRY(behind_.get(key));
    if (!found) return std::nullopt;
    return lent_.lend(*found);
  }
  [[nodiscard]] base::Result<std::unique_ptr<kv::Cursor>, kv::Error> cursor() override {
    return std::make_unique<SpoilingCursor>(CAD_TRY(behind_.cursor()), lent_);
  }
  [[nodiscard]] std::uint64_t mutation_count() const override { return behind_.mutation_count(); }
  [[nodiscard]] const kv::Limits& limits() const override { return behind_.limits(); }
  [[nodiscard]] base::Result<void, kv::Error> put(base::ByteView key,
                                                  base::ByteView value) override {
    lent_.spoil();
    return behind_.put(key, value);
  }
  [[nodiscard]] base::Result<void, kv::Error> erase(base::ByteView key) override {
    lent_.spoil();
    return behind_.erase(key);
  }
  [[nodiscard]] base::Result<void, kv::Error> erase_range(base::ByteView first,
                                                          base::ByteView last) override {
    lent_.spoil();
    return behind_.erase_range(first, last);
  }

 private:
  kv::Writer& behind_;
  LentBytes lent_;
};

}  // namespace cadastre::bitmap::testing
