// Products, convolutions and attention, some rows at a time, for one kind of processor. layers.cpp includes this once for
// each kind, inside a namespace, after tiles.h and elements.h. No include guard, for that reason.

// A chain that goes over the rows of a product as soon as they are computed, while they are in the cache. `out` is where
// row 0 lies, `first` the number of the row that its product counts from.
struct Finish {
  Chain chain;
  float* out;
  int64_t first;

  // Of numbers in this order: addresses of inputs, of their steps, how many, address of the code, how many
  // instructions, three sizes, the address of the output, the first row.
  static Finish of(const int64_t* numbers) {
    const Chain chain{reinterpret_cast<const float* const*>(numbers[0]),
                      reinterpret_cast<const int64_t*>(numbers[1]),
                      numbers[2],
                      reinterpret_cast<const int64_t*>(numbers[3]),
                      numbers[4],
                      {numbers[5], numbers[6], numbers[7]}};
    return {chain, reinterpret_cast<float*>(numbers[8]), numbers[9]};
  }
};

// Lets a chain go over rows, as many at a time as are worth a call and stay in the cache.
class Finisher {
 public:
  Finisher(const int64_t* numbers, int64_t first_row, int64_t columns, int64_t begin)
      : numbers_(numbers), first_row_(first_row), columns_(columns), done_(begin) {}

  // Rows before `end` are computed; they are `all` if no more will be.
  void reach(int64_t end, bool all) {
    if (!numbers_ || (!all && (end - done_) * columns_ < kCached / 2)) return;
    const Finish finish = Finish::of(numbers_);
    run_chain(finish.chain, finish.out, finish.first + first_row_ + done_, finish.first + first_row_ + end);
    done_ = end;
  }

 private:
  const int64_t* numbers_;
  int64_t first_row_, columns_, done_;
};

// Rows `begin` to `end` of a product with a packed matrix.
static void multiply_all(const float* left, int64_t row_step, const float* packed, float* out, int64_t out_step,
                         int64_t depth, int64_t columns, const int64_t* finish, int64_t begin, int64_t end) {
  const float* rows[kMostRows];
  float* outs[kMostRows];
  const int64_t offset = 0;
  const Product product{&offset, 1, depth};
  const int64_t step = rows_at_a_time(depth, columns);
  const Apart apart(1, depth, row_step);
  Finisher finisher(finish, 0, columns, begin);
  for (int64_t first = begin; first < end; first += step) {
    const int64_t count = end - first < step ? end - first : step;
    for (int64_t m = 0; m < count; ++m) {
      rows[m] = left + (first + m) * row_step;
      outs[m] = out + (first + m) * out_step;
    }
    apart.move(rows, count);
    multiply_rows(product, rows, count, packed, outs, columns);
    finisher.reach(first + count, first + count == end);
  }
}

// Panels `begin` to `end` of the columns of a product of few rows: each panel of the right matrix is packed where it is
// used, so that it is read but once. Says whether there was memory for that.
static bool multiply_narrow(const float* left, int64_t row_step, int64_t count, const float* right, int64_t right_row,
                            int64_t right_column, float* out, int64_t depth, int64_t columns, int64_t begin,
                            int64_t end) {
  const int64_t panel = 2 * Vector::lanes, offset = 0;
  const Product product{&offset, 1, depth};
  float* packed = static_cast<float*>(std::malloc(sizeof(float) * (depth * panel + 1)));
  if (!packed) return false;
  const float* rows[kMostRows];
  float* outs[kMostRows];
  const Apart apart(1, depth, row_step);
  for (int64_t first = 0; first < count; first += kMostRows) {
    const int64_t some = count - first < kMostRows ? count - first : kMostRows;
    for (int64_t m = 0; m < some; ++m) rows[m] = left + (first + m) * row_step;
    apart.move(rows, some);
    for (int64_t column = begin * panel; column < end * panel && column < columns; column += panel) {
      const int64_t width = columns - column < panel ? columns - column : panel;
      pack(right + column * right_column, depth, width, right_row, right_column, packed);
      for (int64_t m = 0; m < some; ++m) outs[m] = out + (first + m) * columns + column;
      multiply_rows(product, rows, some, packed, outs, width);
    }
  }
  std::free(packed);
  return true;
}

static void convolve(const Product& product, const Windows& w, const float* images, const float* packed, int64_t columns,
                     float* out, const int64_t* finish, int64_t first_row, int64_t begin, int64_t end) {
  const float* rows[kMostRows];
  float* outs[kMostRows];
  const int64_t step = rows_at_a_time(product.runs * product.length, columns);
  const Apart apart(product.runs, product.length, w.column_stride * w.depth);
  int64_t x = begin % w.output_columns, line = begin / w.output_columns;
  int64_t y = line % w.output_rows, image = line / w.output_rows;
  Finisher finisher(finish, first_row, columns, begin);
  for (int64_t first = begin; first < end; first += step) {
    const int64_t count = end - first < step ? end - first : step;
    for (int64_t m = 0; m < count; ++m) {
      rows[m] = images + ((image * w.height + y * w.row_stride) * w.width + x * w.column_stride) * w.depth;
      outs[m] = out + image * w.out_image + y * w.out_row + x * w.out_column;
      if (++x == w.output_columns) {
        x = 0;
        if (++y == w.output_rows) {
          y = 0;
          ++image;
        }
      }
    }
    apart.move(rows, count);
    multiply_rows(product, rows, count, packed, outs, columns);
    finisher.reach(first + count, first + count == end);
  }
}

static void convolve_lines(const Depthwise& d, const float* images, const float* filters, float* out,
                           const int64_t* finish, int64_t begin, int64_t end) {
  const int64_t line = d.output_width * d.depth;
  const int64_t step = finish ? (line < kCached ? kCached / (line > 0 ? line : 1) : 1) : end - begin;
  Finisher finisher(finish, 0, d.depth, begin * d.output_width);
  for (int64_t first = begin; first < end; first += step) {
    const int64_t last = end - first < step ? end : first + step;
    convolve_depthwise(d, images, filters, out, first, last);
    finisher.reach(last * d.output_width, last == end);
  }
}

// ---------------------------------------------------------------------------------------------------------- Attention

// softmax(queries keysᵀ scale + bias) values, for each of `batch` times `heads`. Steps are floats from one to the next:
// of queries and of the output along batch, heads, queries; of keys and values along batch, heads, keys, columns; of the
// bias along batch, heads, queries, keys.
struct Attention {
  int64_t batch, heads, queries, keys, depth, columns;
  int64_t query_steps[3], key_steps[4], value_steps[4], bias_steps[4], out_steps[3];
};

TILE_TARGET static void scale_row(float* row, int64_t count, float scale, const float* bias, int64_t bias_step) {
  if (!bias) {
    for (int64_t i = 0; i < count; ++i) row[i] *= scale;
  } else if (bias_step == 1) {
    for (int64_t i = 0; i < count; ++i) row[i] = row[i] * scale + bias[i];
  } else {
    for (int64_t i = 0; i < count; ++i) row[i] = row[i] * scale + bias[i * bias_step];
  }
}

// Those of `begin` to `end` of batch times heads. Says whether there was memory for it.
static bool attend(const Attention& a, const float* queries, const float* keys, const float* values, const float* bias,
                   float scale, float* out, int64_t begin, int64_t end) {
  constexpr int64_t kQueries = 8 * TILE_ROWS;
  const int64_t panel = 2 * Vector::lanes, offset = 0;
  const int64_t key_room = a.depth * (a.keys + panel), value_room = a.keys * (a.columns + panel);
  float* packed_keys = static_cast<float*>(std::malloc(sizeof(float) * (key_room + value_room + kQueries * a.keys + 1)));
  if (!packed_keys) return false;
  float* const packed_values = packed_keys + key_room;
  float* const scores = packed_values + value_room;
  const Product by_keys{&offset, 1, a.depth}, by_values{&offset, 1, a.keys};
  const float* rows[kQueries];
  float* outs[kQueries];
  for (int64_t one = begin; one < end; ++one) {
    const int64_t image = one / a.heads, head = one % a.heads;
    pack(keys + image * a.key_steps[0] + head * a.key_steps[1], a.depth, a.keys, a.key_steps[3], a.key_steps[2],
         packed_keys);
    pack(values + image * a.value_steps[0] + head * a.value_steps[1], a.keys, a.columns, a.value_steps[2],
         a.value_steps[3], packed_values);
    for (int64_t first = 0; first < a.queries; first += kQueries) {
      const int64_t count = a.queries - first < kQueries ? a.queries - first : kQueries;
      for (int64_t m = 0; m < count; ++m) {
        rows[m] = queries + image * a.query_steps[0] + head * a.query_steps[1] + (first + m) * a.query_steps[2];
        outs[m] = scores + m * a.keys;
      }
      multiply_rows(by_keys, rows, count, packed_keys, outs, a.keys);
      if (bias || scale != 1.0f) {
        const float* from = bias ? bias + image * a.bias_steps[0] + head * a.bias_steps[1] : nullptr;
        for (int64_t m = 0; m < count; ++m) {
          scale_row(scores + m * a.keys, a.keys, scale, from ? from + (first + m) * a.bias_steps[2] : nullptr,
                    a.bias_steps[3]);
        }
      }
      softmax_rows(scores, scores, a.keys, 0, count);
      for (int64_t m = 0; m < count; ++m) {
        rows[m] = scores + m * a.keys;
        outs[m] = out + image * a.out_steps[0] + head * a.out_steps[1] + (first + m) * a.out_steps[2];
      }
      multiply_rows(by_values, rows, count, packed_values, outs, a.columns);
    }
  }
  std::free(packed_keys);
  return true;
}
