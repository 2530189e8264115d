// A list of any length from a server that gives pages: asks for the next page behind the last entry until as many
// have come as were wanted, or a page is not full.
//
//   fetch_pages<Entry, Id, Error>({limit, after, last_id}, [](Page<Id> page, auto told) { … }, done);
//
// `ask` begins to fetch one page and tells what came, perhaps before it returns; it is copied. One page is under way
// at a time. The first error ends the list with it: half a list is never told. A page that does not go on
// behind the one before, as none of a server's does, is an error too, so that nothing is asked for without end.

#pragma once

#include <algorithm>
#include <cstddef>
#include <expected>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "client/limits.h"
#include "coord/errors.h"

namespace cadastre::client {

template <class Id>
struct Page {
  std::size_t limit = 0;  // 1 to kListLimitMax: on the wire 0 is a limit left out
  std::optional<Id> after = std::nullopt;
};

// What is wanted of a list.
template <class Entry, class Id>
struct Wanted {
  std::size_t limit = 0;
  std::optional<Id> after = std::nullopt;
  Id (*id_of)(const Entry&) = nullptr;
};

template <class Entry, class Error>
using Listed = std::move_only_function<void(std::expected<std::vector<Entry>, Error>)>;

template <class Entry, class Id, class Error, class Ask>
class PageFetch {
 public:
  PageFetch(const Wanted<Entry, Id>& wanted, Ask ask, Listed<Entry, Error> done)
      : wanted_(wanted), ask_(std::move(ask)), done_(std::move(done)) {}

  static void next(std::unique_ptr<PageFetch> fetch) {
    // On the wire nobody can ask for nothing: one is asked for, and not told.
    const Page<Id> page{.limit = std::clamp<std::size_t>(fetch->left(), 1, kListLimitMax),
                        .after = fetch->wanted_.after};
    Ask ask = fetch->ask_;  // The fetch may be over before `ask` returns.
    ask(page,
        [fetch = std::move(fetch), page](std::expected<std::vector<Entry>, Error> came) mutable {
          take(std::move(fetch), page, std::move(came));
        });
  }

 private:
  [[nodiscard]] std::size_t left() const noexcept { return wanted_.limit - entries_.size(); }

  static void take(std::unique_ptr<PageFetch> fetch,
                   const Page<Id>& page,
                   std::expected<std::vector<Entry>, Error> came) {
    if (!came) return fetch->done_(std::move(came));
    const bool is_last = came->size() < page.limit || fetch->left() <= page.limit;
    if (came->size() > fetch->left())
      came->erase(came->begin() + static_cast<std::ptrdiff_t>(fetch->left()), came->end());
    if (!came->empty()) {
      const Id last = fetch->wanted_.id_of(came->back());
      if (page.after == last) return fetch->done_(std::unexpected(Error(standing_still())));
      fetch->wanted_.after = last;
    }
    std::ranges::move(*came, std::back_inserter(fetch->entries_));
    if (is_last) return fetch->done_(std::move(fetch->entries_));
    next(std::move(fetch));
  }

  [[nodiscard]] static coord::InfraError standing_still() {
    return coord::refused("list", "the server's pages do not go on");
  }

  Wanted<Entry, Id> wanted_;
  Ask ask_;
  Listed<Entry, Error> done_;
  std::vector<Entry> entries_;
};

template <class Entry, class Id, class Error, class Ask>
void fetch_pages(const Wanted<Entry, Id>& wanted, Ask ask, Listed<Entry, Error> done) {
  using Fetch = PageFetch<Entry, Id, Error, Ask>;
  Fetch::next(std::make_unique<Fetch>(wanted, std::move(ask), std::move(done)));
}

}  // namespace cadastre::client
