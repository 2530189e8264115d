// Conformance: what every store promises, written once for all backends.
//
// Each case begins with an empty store that has the key space "one".

#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "kv/conformance/store_factory_testing.h"
#include "kv/kv.h"
#include "kv/shown_testing.h"
#include "kv/store.h"

namespace cadastre::kv::conformance {

struct TextEntry {
  std::string_view key;
  std::string_view value;
};

class Conformance : public testing::TestWithParam<StoreFactory> {
 public:
  Conformance() { open({}); }

  // Begins again, with another store.
  void open(const StoreOptions& options) {
    store_ = GetParam().open(clock_, options);
    one_ = store_->open_space("one").value();
  }

  [[nodiscard]] Store& store() const { return *store_; }
  [[nodiscard]] SpaceId one() const { return one_; }
  [[nodiscard]] base::ManualClock& clock() { return clock_; }

  [[nodiscard]] std::unique_ptr<ReadTransaction> read() const {
    return store_->begin_read().value();
  }
  [[nodiscard]] std::unique_ptr<WriteTransaction> write() const {
    return store_->begin_write().value();
  }

  // Stores the entries in space "one", in one transaction.
  void commit(std::initializer_list<TextEntry> entries) const {
    const auto txn = write();
    for (const TextEntry& entry : entries)
      put(txn->writer(one_), entry);
    ASSERT_EQ(shown(txn->commit()), "done");
  }
  static void put(Writer& writer, const TextEntry& entry) {
    ASSERT_EQ(shown(writer.put(base::as_bytes(entry.key), base::as_bytes(entry.value))), "done");
  }
  [[nodiscard]] static std::string get(Reader& reader, std::string_view key) {
    return shown(reader.get(base::as_bytes(key)));
  }
  // What is committed in space "one".
  [[nodiscard]] std::vector<std::string> committed() const {
    const auto txn = read();
    return contents(txn->reader(one_));
  }

 private:
  base::ManualClock clock_;
  std::shared_ptr<Store> store_;
  SpaceId one_;
};

using Texts = std::vector<std::string>;

}  // namespace cadastre::kv::conformance
