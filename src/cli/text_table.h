// TextTable: rows of words in aligned columns, for people.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cadastre::cli {

class TextTable {
 public:
  using Row = std::vector<std::string>;

  // Every row has as many cells as the title. Cells hold what a terminal may show.
  explicit TextTable(Row title);

  void add(Row row);

  // The lines without the last one's end, and without spaces at their ends.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Row> rows_;  // the title first
  std::vector<std::size_t> columns_;
};

}  // namespace cadastre::cli
