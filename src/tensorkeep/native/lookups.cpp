// Rows of several tables side by side, as models with many embedded columns look them up.

#include <cstdint>
#include <cstring>

#include "rules.h"

namespace {

// One column: rows of a table at indices, or, where there are no indices, the rows of an array one after the other.
struct Column {
  int64_t table;         // address
  int64_t table_rows;
  int64_t length;        // bytes of a row
  int64_t indices;       // address, or 0
  int64_t index_step;    // bytes from one index to the next
  int64_t index_bytes;   // 4 or 8
  int64_t wraps;         // whether an index below zero counts from the end
  int64_t offset;        // bytes from the beginning of a row of the output
};

int64_t index_at(const Column& column, int64_t row) {
  const char* at = reinterpret_cast<const char*>(column.indices) + row * column.index_step;
  int64_t index;
  if (column.index_bytes == 8) {
    std::memcpy(&index, at, sizeof(index));
  } else {
    int32_t narrow;
    std::memcpy(&narrow, at, sizeof(narrow));
    index = narrow;
  }
  return index < 0 && column.wraps ? index + column.table_rows : index;
}

}  // namespace

// Puts what `count` columns have for each of `rows` rows side by side; rows of the output are `out_step` bytes apart.
// 0 if an index is none of its table: what is in the output then is nothing.
TENSORKEEP_EXPORT int32_t lookups_join(const int64_t* numbers, int64_t count, int64_t rows, char* out, int64_t out_step) {
  Column column;
  static_assert(sizeof(column) == 8 * sizeof(int64_t), "numbers only");
  for (int64_t c = 0; c < count; ++c) {
    std::memcpy(&column, numbers + 8 * c, sizeof(column));
    const char* table = reinterpret_cast<const char*>(column.table);
    char* to = out + column.offset;
    for (int64_t row = 0; row < rows; ++row, to += out_step) {
      const int64_t index = column.indices ? index_at(column, row) : row;
      if (index < 0 || index >= column.table_rows) return 0;
      std::memcpy(to, table + index * column.length, column.length);
    }
  }
  return 1;
}
