#include "cli/text_table.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "base/check.h"
#include "cli/key_text.h"

namespace cadastre::cli {

TextTable::TextTable(Row title) : columns_(title.size()) {
  add(std::move(title));
}

void TextTable::add(Row row) {
  CAD_CHECK(row.size() == columns_.size(), "a row has a cell for each column");
  for (std::size_t i = 0; i < row.size(); ++i)
    columns_[i] = std::max(columns_[i], column_count(row[i]));
  rows_.push_back(std::move(row));
}

std::string TextTable::text() const {
  std::string text;
  for (const Row& row : rows_) {
    if (!text.empty()) text += '\n';
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      text.append(columns_[i] - column_count(row[i]) + 2, ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
  }
  return text;
}

}  // namespace cadastre::cli
