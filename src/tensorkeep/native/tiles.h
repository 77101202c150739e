// Matrix products and depthwise convolutions for one kind of processor. layers.cpp includes this once for each kind,
// inside a namespace, with
//
//   TILE_TARGET   the attribute of functions that use its instructions
//   TILE_ROWS     how many rows of a product are computed at a time, by two vectors of columns
//   Vector        load, store, load_part, store_part, set, multiply_add, larger of `Vector::lanes` floats
//
// No include guard, for that reason.

// What a product multiplies. Row m of the left matrix consists of `runs` stretches of `length` numbers each, which lie
// at rows[m] + offsets[run]: the window of a convolution, or a row of a matrix, which is one stretch. The right matrix
// is packed: columns in panels, each panel row after row.
struct Product {
  const int64_t* offsets;
  int64_t runs, length;
};

// Adds the products of one number of each row with a row of the packed matrix, and goes on to the next of these.
template <int rows, int vectors>
TILE_TARGET TENSORKEEP_INLINE static void multiply_column(const float* const* at, int64_t k, const float*& right,
                                                          Vector::Type (&sums)[rows][vectors]) {
  Vector::Type columns[vectors];
  for (int v = 0; v < vectors; ++v) columns[v] = Vector::load(right + v * Vector::lanes);
  right += vectors * Vector::lanes;
  for (int m = 0; m < rows; ++m) {
    const Vector::Type value = Vector::set(at[m][k]);
    for (int v = 0; v < vectors; ++v) sums[m][v] = Vector::multiply_add(value, columns[v], sums[m][v]);
  }
}

// Computes `rows` rows by `vectors` vectors of columns, of which the last has `part` columns.
template <int rows, int vectors>
TILE_TARGET static void tile(const Product& product, const float* const* left, const float* right, float* const* out,
                             int64_t column, int part) {
  Vector::Type sums[rows][vectors];
  for (int m = 0; m < rows; ++m) {
    for (int v = 0; v < vectors; ++v) sums[m][v] = Vector::set(0.0f);
    for (int v = 0; v < vectors; ++v) __builtin_prefetch(out[m] + column + v * Vector::lanes, 1);
  }
  for (int64_t run = 0; run < product.runs; ++run) {
    const int64_t start = product.offsets[run];
    const float* at[rows];
    for (int m = 0; m < rows; ++m) at[m] = left[m] + start;
    int64_t k = 0;
    for (; k + 4 <= product.length; k += 4) {
      for (int step = 0; step < 4; ++step) multiply_column<rows, vectors>(at, k + step, right, sums);
    }
    for (; k < product.length; ++k) multiply_column<rows, vectors>(at, k, right, sums);
  }
  for (int v = 0; v < vectors; ++v) {
    const int64_t first = column + v * Vector::lanes;
    const int count = v == vectors - 1 ? part : Vector::lanes;
    for (int m = 0; m < rows; ++m) {
      if (count == Vector::lanes) {
        Vector::store(out[m] + first, sums[m][v]);
      } else {
        Vector::store_part(out[m] + first, sums[m][v], count);
      }
    }
  }
}

using Tile = void (*)(const Product&, const float* const*, const float*, float* const*, int64_t, int);

template <int vectors>
static Tile tile_of(int64_t rows) {
  switch (rows) {
    case 1: return tile<1, vectors>;
    case 2: return tile<2, vectors>;
    case 3: return tile<3, vectors>;
    case 4: return tile<4, vectors>;
    case 5: return tile<5, vectors>;
    case 6: return tile<6, vectors>;
#if TILE_ROWS > 6
    case 7: return tile<7, vectors>;
    case 8: return tile<8, vectors>;
    case 9: return tile<9, vectors>;
    case 10: return tile<10, vectors>;
    case 11: return tile<11, vectors>;
    case 12: return tile<12, vectors>;
    case 13: return tile<13, vectors>;
    default: return tile<14, vectors>;
#else
    default: return tile<6, vectors>;
#endif
  }
}

// A product of few columns leaves most of a vector of columns empty. There vectors run along rows instead, and the right
// matrix is packed column after column.
constexpr int64_t kFewColumns = 4, kLongRow = 64;

static bool has_few_columns(int64_t depth, int64_t columns) { return columns <= kFewColumns && depth >= kLongRow; }

// Adds the products of so many numbers of each row, a vector of them or fewer, with those of each column.
template <int rows, int columns, bool is_whole>
TILE_TARGET TENSORKEEP_INLINE static void dot_vector(const float* const (&left)[rows], int64_t k, const float* right,
                                                     int64_t column_step, int count,
                                                     Vector::Type (&sums)[rows][columns]) {
  Vector::Type factors[columns];
  for (int c = 0; c < columns; ++c) {
    const float* from = right + c * column_step + k;
    factors[c] = is_whole ? Vector::load(from) : Vector::load_part(from, count);
  }
  for (int m = 0; m < rows; ++m) {
    const float* from = left[m] + k;
    const Vector::Type value = is_whole ? Vector::load(from) : Vector::load_part(from, count);
    for (int c = 0; c < columns; ++c) sums[m][c] = Vector::multiply_add(value, factors[c], sums[m][c]);
  }
}

template <int rows, int columns>
TILE_TARGET static void dot_tile(const Product& product, const float* const* left, const float* right,
                                 float* const* out) {
  const int64_t depth = product.runs * product.length, length = product.length;
  Vector::Type sums[rows][columns];
  for (int m = 0; m < rows; ++m) {
    for (int c = 0; c < columns; ++c) sums[m][c] = Vector::set(0.0f);
  }
  for (int64_t run = 0; run < product.runs; ++run, right += length) {
    const float* at[rows];
    for (int m = 0; m < rows; ++m) at[m] = left[m] + product.offsets[run];
    int64_t k = 0;
    for (; k + Vector::lanes <= length; k += Vector::lanes) {
      dot_vector<rows, columns, true>(at, k, right, depth, Vector::lanes, sums);
    }
    if (k < length) dot_vector<rows, columns, false>(at, k, right, depth, static_cast<int>(length - k), sums);
  }
  for (int m = 0; m < rows; ++m) {
    for (int c = 0; c < columns; ++c) out[m][c] = Vector::sum(sums[m][c]);
  }
}

template <int columns>
static void multiply_by_few(const Product& product, const float* const* left, int64_t count, const float* right,
                            float* const* out) {
  constexpr int kRows = TILE_ROWS > 6 ? 4 : 2;
  int64_t row = 0;
  for (; row + kRows <= count; row += kRows) dot_tile<kRows, columns>(product, left + row, right, out + row);
  for (; row < count; ++row) dot_tile<1, columns>(product, left + row, right, out + row);
}

// Some rows of a product: so few that what they read stays in the cache while all panels of columns pass.
static void multiply_rows(const Product& product, const float* const* left, int64_t count, const float* right,
                          float* const* out, int64_t columns) {
  const int64_t depth = product.runs * product.length, panel = 2 * Vector::lanes;
  if (has_few_columns(depth, columns)) {
    switch (columns) {
      case 1: return multiply_by_few<1>(product, left, count, right, out);
      case 2: return multiply_by_few<2>(product, left, count, right, out);
      case 3: return multiply_by_few<3>(product, left, count, right, out);
      default: return multiply_by_few<4>(product, left, count, right, out);
    }
  }
  for (int64_t column = 0; column < columns; column += panel) {
    const int64_t width = columns - column < panel ? columns - column : panel;
    const bool is_half = width <= Vector::lanes;
    const int part = static_cast<int>(is_half ? width : width - Vector::lanes);
    const Tile whole = is_half ? tile_of<1>(TILE_ROWS) : tile_of<2>(TILE_ROWS);
    int64_t row = 0;
    for (; row + TILE_ROWS <= count; row += TILE_ROWS) whole(product, left + row, right, out + row, column, part);
    if (row < count) {
      const Tile rest = is_half ? tile_of<1>(count - row) : tile_of<2>(count - row);
      rest(product, left + row, right, out + row, column, part);
    }
    right += depth * (is_half ? Vector::lanes : panel);
  }
}

// Puts a matrix into panels of columns; the last is half as wide if that is enough, and filled up with zeros.
static void pack(const float* matrix, int64_t depth, int64_t columns, int64_t row_step, int64_t column_step,
                 float* __restrict out) {
  const int64_t panel = 2 * Vector::lanes;
  if (has_few_columns(depth, columns)) {
    for (int64_t column = 0; column < columns; ++column) {
      for (int64_t k = 0; k < depth; ++k) *out++ = matrix[k * row_step + column * column_step];
    }
    return;
  }
  for (int64_t column = 0; column < columns; column += panel) {
    const int64_t left = columns - column, width = left < panel ? left : panel;
    const int64_t room = width <= Vector::lanes ? Vector::lanes : panel;
    if (column_step == 1) {
      for (int64_t k = 0; k < depth; ++k, out += room) {
        std::memcpy(out, matrix + k * row_step + column, sizeof(float) * width);
        for (int64_t i = width; i < room; ++i) out[i] = 0;
      }
      continue;
    }
    for (int64_t first = 0; first < depth; first += 16) {  // so few rows that what is written stays in the cache
      const int64_t last = depth - first < 16 ? depth : first + 16;
      for (int64_t i = 0; i < room; ++i) {
        const float* from = matrix + (column + i) * column_step;
        for (int64_t k = first; k < last; ++k) out[k * room + i] = i < width ? from[k * row_step] : 0.0f;
      }
    }
    out += depth * room;
  }
}

// ------------------------------------------------------------------------------------------------------- Depthwise

struct Depthwise {
  int64_t height, width, depth, rows, columns, row_stride, column_stride, row_dilation, column_dilation, top, left,
      output_height, output_width;
};

// Some outputs along a row, all of whose column taps from `first_tap` to `last_tap` meet the image.
template <int outputs, int vectors>
TILE_TARGET TENSORKEEP_INLINE static void meet(const Depthwise& d, const float* image, const float* filters, float* out,
                                               int64_t first_row, int64_t last_row, int64_t first_tap,
                                               int64_t last_tap, int count) {
  // `image` is where tap (0, 0) of the first output would meet it, at some channel; `count` channels of the last vector
  const int64_t step = d.column_stride * d.depth;
  Vector::Type sums[outputs][vectors];
  for (int i = 0; i < outputs; ++i) {
    for (int v = 0; v < vectors; ++v) sums[i][v] = Vector::set(0.0f);
  }
  for (int64_t row = first_row; row < last_row; ++row) {
    for (int64_t tap = first_tap; tap < last_tap; ++tap) {
      const float* from = image + (row * d.row_dilation * d.width + tap * d.column_dilation) * d.depth;
      const float* by = filters + (row * d.columns + tap) * d.depth;
      for (int v = 0; v < vectors; ++v) {
        const bool is_whole = v < vectors - 1 || count == Vector::lanes;
        const int64_t at = v * Vector::lanes;
        const Vector::Type weight = is_whole ? Vector::load(by + at) : Vector::load_part(by + at, count);
        for (int i = 0; i < outputs; ++i) {
          const float* met = from + i * step + at;
          const Vector::Type value = is_whole ? Vector::load(met) : Vector::load_part(met, count);
          sums[i][v] = Vector::multiply_add(value, weight, sums[i][v]);
        }
      }
    }
  }
  for (int i = 0; i < outputs; ++i) {
    for (int v = 0; v < vectors; ++v) {
      float* to = out + i * d.depth + v * Vector::lanes;
      if (v < vectors - 1 || count == Vector::lanes) {
        Vector::store(to, sums[i][v]);
      } else {
        Vector::store_part(to, sums[i][v], count);
      }
    }
  }
}

// The taps of a window at `start` that meet a line of `size` elements: from the first to before the last.
static void meeting(int64_t start, int64_t taps, int64_t dilation, int64_t size, int64_t& first, int64_t& last) {
  first = start < 0 ? (-start + dilation - 1) / dilation : 0;
  last = start >= size ? 0 : (size - 1 - start) / dilation + 1;
  if (last > taps) last = taps;
  if (first > last) first = last;
}

// Rows of output images, numbered through all images, from `begin` to `end`.
TILE_TARGET static void convolve_depthwise(const Depthwise& d, const float* images, const float* filters, float* out,
                                           int64_t begin, int64_t end) {
  constexpr int kOutputs = 4;
  for (int64_t line = begin; line < end; ++line) {
    const int64_t image = line / d.output_height, y = line % d.output_height;
    const int64_t top = y * d.row_stride - d.top;
    int64_t first_row, last_row;
    meeting(top, d.rows, d.row_dilation, d.height, first_row, last_row);
    const float* base = images + (image * d.height + top) * d.width * d.depth;
    float* to = out + line * d.output_width * d.depth;
    for (int64_t x = 0; x < d.output_width;) {
      const int64_t start = x * d.column_stride - d.left;
      const int64_t last_start = start + (kOutputs - 1) * d.column_stride;
      const int64_t reach = (d.columns - 1) * d.column_dilation;
      const bool is_inside = start >= 0 && last_start + reach < d.width && x + kOutputs <= d.output_width;
      int64_t first_tap = 0, last_tap = d.columns;
      if (!is_inside) meeting(start, d.columns, d.column_dilation, d.width, first_tap, last_tap);
      const float* at = base + start * d.depth;
      int64_t channel = 0;
      for (; channel + 2 * Vector::lanes <= d.depth; channel += 2 * Vector::lanes) {
        if (is_inside) {
          meet<kOutputs, 2>(d, at + channel, filters + channel, to + x * d.depth + channel, first_row, last_row,
                            first_tap, last_tap, Vector::lanes);
        } else {
          meet<1, 2>(d, at + channel, filters + channel, to + x * d.depth + channel, first_row, last_row, first_tap,
                     last_tap, Vector::lanes);
        }
      }
      for (; channel < d.depth; channel += Vector::lanes) {
        const int64_t left = d.depth - channel;
        const int count = static_cast<int>(left < Vector::lanes ? left : Vector::lanes);
        if (is_inside) {
          meet<kOutputs, 1>(d, at + channel, filters + channel, to + x * d.depth + channel, first_row, last_row,
                            first_tap, last_tap, count);
        } else {
          meet<1, 1>(d, at + channel, filters + channel, to + x * d.depth + channel, first_row, last_row, first_tap,
                     last_tap, count);
        }
      }
      x += is_inside ? kOutputs : 1;
    }
  }
}

// Rows of output images, numbered through all images, from `begin` to `end`: what is largest under each window, and
// `floor` if nothing is larger, or a number at all.
TILE_TARGET static void pool_maxima(const Depthwise& d, const float* images, float floor, float* out, int64_t begin,
                                    int64_t end) {
  for (int64_t line = begin; line < end; ++line) {
    const int64_t image = line / d.output_height, top = line % d.output_height * d.row_stride - d.top;
    int64_t first_row, last_row;
    meeting(top, d.rows, d.row_dilation, d.height, first_row, last_row);
    const float* base = images + (image * d.height + top) * d.width * d.depth;
    float* to = out + line * d.output_width * d.depth;
    for (int64_t x = 0; x < d.output_width; ++x, to += d.depth) {
      const int64_t start = x * d.column_stride - d.left;
      int64_t first_tap, last_tap;
      meeting(start, d.columns, d.column_dilation, d.width, first_tap, last_tap);
      for (int64_t channel = 0; channel < d.depth; channel += Vector::lanes) {
        const int64_t left = d.depth - channel;
        const int count = static_cast<int>(left < Vector::lanes ? left : Vector::lanes);
        Vector::Type largest = Vector::set(floor);
        for (int64_t row = first_row; row < last_row; ++row) {
          const float* from = base + (row * d.row_dilation * d.width + start) * d.depth + channel;
          for (int64_t tap = first_tap; tap < last_tap; ++tap) {
            const float* at = from + tap * d.column_dilation * d.depth;
            const Vector::Type value = count == Vector::lanes ? Vector::load(at) : Vector::load_part(at, count);
            largest = Vector::larger(value, largest);
          }
        }
        if (count == Vector::lanes) {
          Vector::store(to + channel, largest);
        } else {
          Vector::store_part(to + channel, largest, count);
        }
      }
    }
  }
}
