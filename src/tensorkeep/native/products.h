// Products, convolutions and attention, some rows at a time, for one kind of processor. layers.cpp includes this once for
// each kind, inside a namespace, after tiles.h and elements.h. No include guard, for that reason.

// A chain that goes over the rows of a product as soon as they are computed, while they are in the cache. `out` is where
// row 0 lies.
struct Finish {
  Chain chain;
  float* out;

  // Of numbers in this order: addresses of inputs, of their steps, how many, address of the code, how many
  // instructions, three sizes, the address of the output.
  static Finish of(const int64_t* numbers) {
    const Chain chain{reinterpret_cast<const void* const*>(numbers[0]),
                      reinterpret_cast<const int64_t*>(numbers[1]),
                      numbers[2],
                      reinterpret_cast<const int64_t*>(numbers[3]),
                      numbers[4],
                      {numbers[5], numbers[6], numbers[7]}};
    return {chain, reinterpret_cast<float*>(numbers[8])};
  }
};

// Lets a chain go over rows, as many at a time as are worth a call and stay in the cache.
class Finisher {
 public:
  Finisher(const int64_t* numbers, int64_t columns, int64_t begin)
      : numbers_(numbers), columns_(columns), done_(begin) {}

  // Rows before `end` are computed; they are `all` if no more will be.
  void reach(int64_t end, bool all) {
    if (!numbers_ || (!all && (end - done_) * columns_ < kCached / 2)) return;
    const Finish finish = Finish::of(numbers_);
    run_chain(finish.chain, finish.out, done_, end);
    done_ = end;
  }

 private:
  const int64_t* numbers_;
  int64_t columns_, done_;
};

// Copies of some rows of a matrix that lies column by column, each row in one piece, for as many rows at a time as products
// are made of.
class TurnedRows {
 public:
  TurnedRows(int64_t depth, int64_t most_rows, int64_t row_step, int64_t column_step)
      : depth_(depth), column_step_(column_step), is_needed_(column_step != 1 && row_step == 1) {
    if (is_needed_) copy_ = static_cast<float*>(std::malloc(sizeof(float) * most_rows * (depth + kGap)));
  }
  ~TurnedRows() { std::free(copy_); }
  TurnedRows(const TurnedRows&) = delete;
  TurnedRows& operator=(const TurnedRows&) = delete;

  // Whether there was no memory.
  bool is_lacking() const { return is_needed_ && !copy_; }

  // Replaces the places of `count` rows that lie one beside the other.
  TILE_TARGET void move(const float** rows, int64_t count) const {
    if (!is_needed_) return;
    const float* from = rows[0];
    const int64_t pitch = depth_ + kGap;
    for (int64_t k = 0; k < depth_; k += kSide) {
      const int64_t height = depth_ - k < kSide ? depth_ - k : kSide;
      for (int64_t m = 0; m < count; m += kSide) {
        const int64_t width = count - m < kSide ? count - m : kSide;
        turn(from + k * column_step_ + m, height, width, copy_ + m * pitch + k, pitch);
      }
    }
    for (int64_t m = 0; m < count; ++m) rows[m] = copy_ + m * pitch;
  }

 private:
  static constexpr int64_t kSide = 16, kGap = 32;

  TILE_TARGET TENSORKEEP_INLINE void turn(const float* from, int64_t height, int64_t width, float* to, int64_t pitch) const {
    float block[kSide][kSide];
    for (int64_t k = 0; k < height; ++k) std::memcpy(block[k], from + k * column_step_, sizeof(float) * width);
    if (height == kSide) {
      for (int64_t m = 0; m < width; ++m, to += pitch) {
        for (int64_t k = 0; k < kSide; ++k) to[k] = block[k][m];
      }
      return;
    }
    for (int64_t m = 0; m < width; ++m, to += pitch) {
      for (int64_t k = 0; k < height; ++k) to[k] = block[k][m];
    }
  }

  int64_t depth_, column_step_;
  bool is_needed_;
  float* copy_ = nullptr;
};

// Rows `begin` to `end` of a product with a packed matrix. The left one lies row by row, or column by column. Says whether
// there was memory for the copies that the latter needs.
static bool multiply_all(const float* left, int64_t row_step, int64_t column_step, const float* packed, float* out,
                         int64_t out_step, int64_t depth, int64_t columns, const int64_t* finish, int64_t begin,
                         int64_t end) {
  const float* rows[kMostRows];
  float* outs[kMostRows];
  const int64_t offset = 0;
  const Product product{&offset, 1, depth};
  const int64_t step = rows_at_a_time(depth, columns);
  const Apart apart(column_step == 1 ? 1 : 0, depth, row_step);
  const TurnedRows turned(depth, step, row_step, column_step);
  if (turned.is_lacking()) return false;
  Finisher finisher(finish, columns, begin);
  for (int64_t first = begin; first < end; first += step) {
    const int64_t count = end - first < step ? end - first : step;
    for (int64_t m = 0; m < count; ++m) {
      rows[m] = left + (first + m) * row_step;
      outs[m] = out + (first + m) * out_step;
    }
    apart.move(rows, count);
    turned.move(rows, count);
    multiply_rows(product, rows, count, packed, outs, columns);
    finisher.reach(first + count, first + count == end);
  }
  return true;
}

// Some rows and columns of a product whose right matrix has its columns one after the other: nothing has to be packed.
template <int rows, int columns>
TILE_TARGET static void dot_block(const float* left, int64_t row_step, const float* right, int64_t column_step,
                                  int64_t depth, float* out, int64_t out_step) {
  Vector::Type sums[rows][columns];
  for (int m = 0; m < rows; ++m) {
    for (int c = 0; c < columns; ++c) sums[m][c] = Vector::set(0.0f);
  }
  int64_t k = 0;
  for (; k + Vector::lanes <= depth; k += Vector::lanes) {
    Vector::Type factors[columns];
    for (int c = 0; c < columns; ++c) factors[c] = Vector::load(right + c * column_step + k);
    for (int m = 0; m < rows; ++m) {
      const Vector::Type value = Vector::load(left + m * row_step + k);
      for (int c = 0; c < columns; ++c) sums[m][c] = Vector::multiply_add(value, factors[c], sums[m][c]);
    }
  }
  if (k < depth) {
    const int rest = static_cast<int>(depth - k);
    Vector::Type factors[columns];
    for (int c = 0; c < columns; ++c) factors[c] = Vector::load_part(right + c * column_step + k, rest);
    for (int m = 0; m < rows; ++m) {
      const Vector::Type value = Vector::load_part(left + m * row_step + k, rest);
      for (int c = 0; c < columns; ++c) sums[m][c] = Vector::multiply_add(value, factors[c], sums[m][c]);
    }
  }
  for (int m = 0; m < rows; ++m) {
    for (int c = 0; c < columns; ++c) out[m * out_step + c] = Vector::sum(sums[m][c]);
  }
}

constexpr int kDotRows = TILE_ROWS > 6 ? 5 : 3, kDotColumns = TILE_ROWS > 6 ? 4 : 3;

template <int columns>
static void dot_columns(const float* left, int64_t row_step, int64_t count, const float* right, int64_t column_step,
                        int64_t depth, float* out, int64_t out_step) {
  int64_t row = 0;
  for (; row + kDotRows <= count; row += kDotRows) {
    dot_block<kDotRows, columns>(left + row * row_step, row_step, right, column_step, depth, out + row * out_step,
                                 out_step);
  }
  for (; row < count; ++row) {
    dot_block<1, columns>(left + row * row_step, row_step, right, column_step, depth, out + row * out_step, out_step);
  }
}

// Panels `begin` to `end` of the columns of a product of few rows: each panel of the right matrix is packed where it is
// used, so that it is read but once. Says whether there was memory for that.
static bool multiply_narrow(const float* left, int64_t row_step, int64_t count, const float* right, int64_t right_row,
                            int64_t right_column, float* out, int64_t depth, int64_t columns, int64_t begin,
                            int64_t end) {
  const int64_t panel = 2 * Vector::lanes, offset = 0;
  if (right_row == 1 && depth >= kLongRow) {
    const int64_t last = end * panel < columns ? end * panel : columns;
    int64_t column = begin * panel;
    for (; column + kDotColumns <= last; column += kDotColumns) {
      dot_columns<kDotColumns>(left, row_step, count, right + column * right_column, right_column, depth, out + column,
                               columns);
    }
    for (; column < last; ++column) {
      dot_columns<1>(left, row_step, count, right + column * right_column, right_column, depth, out + column, columns);
    }
    return true;
  }
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

constexpr int64_t kTurnedRows = 512, kTurnedColumns = 64;  // of a turned product at a time: what is summed is in the cache

// Adds what `depth` rows of a matrix, turned, times as many rows of the right one give: to `rows` vectors, one after the
// other. `count` columns of the right one are of use.
template <int depth>
TILE_TARGET static void add_turned_rows(const float* matrix, int64_t step, const float* right, int64_t right_step,
                                        float* sums, int count, int64_t rows) {
  Vector::Type by[depth];
  for (int k = 0; k < depth; ++k) by[k] = Vector::load_part(right + k * right_step, count);
  for (int64_t m = 0; m < rows; ++m, sums += Vector::lanes) {
    Vector::Type sum = Vector::load(sums);
    for (int k = 0; k < depth; ++k) sum = Vector::multiply_add(Vector::set(matrix[k * step + m]), by[k], sum);
    Vector::store(sums, sum);
  }
}

// Rows `begin` to `end` of the product of a matrix [depth, rows], turned, with one of no more than kTurnedColumns. The
// first is read once, some rows at a time.
static void multiply_turned(const float* matrix, int64_t step, const float* right, float* out, int64_t depth,
                            int64_t columns, int64_t begin, int64_t end) {
  constexpr int kDepth = 8;
  alignas(64) float sums[kTurnedRows * kTurnedColumns];
  for (int64_t first = begin; first < end; first += kTurnedRows) {
    const int64_t rows = end - first < kTurnedRows ? end - first : kTurnedRows;
    const int64_t vectors = (columns + Vector::lanes - 1) / Vector::lanes;
    std::memset(sums, 0, sizeof(float) * vectors * rows * Vector::lanes);
    for (int64_t k = 0; k < depth;) {
      const int64_t some = k + kDepth <= depth ? kDepth : 1;
      for (int64_t v = 0; v < vectors; ++v) {
        const int64_t column = v * Vector::lanes, left = columns - column;
        const int count = static_cast<int>(left < Vector::lanes ? left : Vector::lanes);
        const float* from = matrix + k * step + first;
        const float* by = right + k * columns + column;
        float* to = sums + v * rows * Vector::lanes;
        some == kDepth ? add_turned_rows<kDepth>(from, step, by, columns, to, count, rows)
                       : add_turned_rows<1>(from, step, by, columns, to, count, rows);
      }
      k += some;
    }
    for (int64_t m = 0; m < rows; ++m) {
      for (int64_t column = 0; column < columns; column += Vector::lanes) {
        const int64_t left = columns - column, count = left < Vector::lanes ? left : Vector::lanes;
        const float* from = sums + (column / Vector::lanes * rows + m) * Vector::lanes;
        std::memcpy(out + (first + m) * columns + column, from, sizeof(float) * count);
      }
    }
  }
}

// -------------------------------------------------------------------------------------------------------- Convolutions

// Copies `count` stretches of `length` floats each.
TILE_TARGET static void spread_channels(const float* from, int64_t from_step, float* to, int64_t to_step, int64_t count,
                                        int64_t length) {
  const int64_t whole = length / Vector::lanes * Vector::lanes;
  const int rest = static_cast<int>(length - whole);
  for (int64_t i = 0; i < count; ++i, from += from_step, to += to_step) {
    for (int64_t k = 0; k < whole; k += Vector::lanes) Vector::store(to + k, Vector::load(from + k));
    if (rest) Vector::store_part(to + whole, Vector::load_part(from + whole, rest), rest);
  }
}

// Lines of an image, zeros around them: from row `low`, which may be before the image, so many rows.
static void fill_strip(const Images& s, const Sources& sources, int64_t image, int64_t low, int64_t rows, float* to) {
  const int64_t line = s.width * s.depth, before = s.left * s.depth, pitch = s.padded_width * s.depth;
  for (int64_t row = low; row < low + rows; ++row, to += pitch) {
    if (row < 0 || row >= s.height) {
      std::memset(to, 0, sizeof(float) * pitch);
      continue;
    }
    std::memset(to, 0, sizeof(float) * before);
    const int64_t first = (image * s.height + row) * s.width;
    if (sources.count == 1) {
      std::memcpy(to + before, sources.arrays[0] + first * s.depth, sizeof(float) * line);
    } else {
      float* channels = to + before;
      for (int64_t i = 0; i < sources.count; channels += sources.depths[i], ++i) {
        const int64_t depth = sources.depths[i];
        spread_channels(sources.arrays[i] + first * depth, depth, channels, s.depth, s.width, depth);
      }
    }
    std::memset(to + before + line, 0, sizeof(float) * (pitch - before - line));
  }
}

// Images as far as a strip needs them: row `low` of the first at `from`, in rows of `pitch` floats.
struct Strip {
  const float* from;
  int64_t image_step, pitch, depth;
  int64_t first_image, images, first_line, last_line;
};

// What one part of a convolution makes of a strip.
static void convolve_strip(const Part& part, const Strip& strip, int64_t low, const float* packed, float* out,
                           int64_t out_image) {
  const float* rows[kMostRows];
  float* outs[kMostRows];
  const Product product{part.offsets, part.runs, part.length};
  const int64_t last = strip.last_line < part.output_rows ? strip.last_line : part.output_rows;
  const int64_t step = part.column_stride * strip.depth;
  const Apart apart(part.runs, part.length, step);
  int64_t count = 0;
  for (int64_t image = 0; image < strip.images; ++image) {
    for (int64_t y = strip.first_line; y < last; ++y) {
      const float* from = strip.from + image * strip.image_step + part.column * strip.depth +
                          (part.row + y * part.row_stride - low) * strip.pitch;
      float* to = out + (strip.first_image + image) * out_image + part.out_start + y * part.out_row;
      for (int64_t x = 0; x < part.output_columns; ++x, from += step, to += part.out_column) {
        rows[count] = from;
        outs[count] = to;
        if (++count < kMostRows) continue;
        apart.move(rows, count);
        multiply_rows(product, rows, count, packed, outs, part.columns);
        count = 0;
      }
    }
  }
  apart.move(rows, count);
  multiply_rows(product, rows, count, packed, outs, part.columns);
}

// How much of the images strips are made of: some lines of one image, or some whole images.
struct StripSize {
  int64_t low, span;  // the first row that windows of line 0 read, and how many rows windows of one line reach over
  int64_t stride, lines, images;

  static StripSize of(const Images& s, const Part* parts, int64_t count) {
    int64_t low = parts[0].row, high = low, width = 0, windows = 0;
    for (const Part* part = parts; part < parts + count; ++part) {
      if (part->row < low) low = part->row;
      if (part->row + part->reach > high) high = part->row + part->reach;
      width += part->output_columns * part->columns;
      if (part->output_columns > windows) windows = part->output_columns;
    }
    StripSize size{low, high - low, parts[0].row_stride, s.lines, 1};
    const int64_t pitch = s.padded_width * s.depth, line = size.stride * pitch + width;
    const int64_t image = size.rows() * pitch + s.lines * width;
    if (image <= kStrip) {
      size.images = kStrip / image;
    } else {
      const int64_t fitting = (kStrip - (size.span - size.stride) * pitch) / line;
      const int64_t strips = fitting > 0 ? (s.lines + fitting - 1) / fitting : s.lines;
      size.lines = (s.lines + strips - 1) / strips;
    }
    // Filters are read for each strip: there are to be so many windows at least.
    const int64_t fewest = (kFewestRows + windows - 1) / windows;
    if (size.lines < fewest) size.lines = fewest < s.lines ? fewest : s.lines;
    if (size.images * s.lines < fewest) size.images = (fewest + s.lines - 1) / s.lines;
    if (size.lines < s.lines) size.images = 1;
    return size;
  }

  int64_t rows() const { return (lines - 1) * stride + span; }
};

// Lines `begin` to `end` of outputs, numbered through all images. Says whether there was memory for a strip.
static bool convolve(const Images& s, const Sources& sources, const Part* parts, int64_t part_count,
                     const float* const* packed, float* out, const int64_t* finish, int64_t begin, int64_t end) {
  const StripSize size = StripSize::of(s, parts, part_count);
  const int64_t pitch = s.padded_width * s.depth, image_size = s.height * s.width * s.depth;
  void* held = nullptr;
  for (int64_t line = begin; line < end;) {
    Strip strip{nullptr, 0, pitch, s.depth, line / s.lines, 1, line % s.lines, 0};
    const int64_t left = end - line;
    strip.last_line = strip.first_line + (left < size.lines ? left : size.lines);
    if (strip.last_line > s.lines) strip.last_line = s.lines;
    if (strip.first_line == 0 && strip.last_line == s.lines) {
      strip.images = left / s.lines < size.images ? left / s.lines : size.images;
    }
    const int64_t count = strip.last_line - strip.first_line;
    const int64_t low = size.low + strip.first_line * size.stride, rows = (count - 1) * size.stride + size.span;
    if (sources.count == 1 && s.padded_width == s.width && low >= 0 && low + rows <= s.height) {
      strip.from = sources.arrays[0] + strip.first_image * image_size + low * pitch;
      strip.image_step = image_size;
    } else {
      if (!held) held = std::malloc(sizeof(float) * size.images * size.rows() * pitch + 64);
      if (!held) return false;
      float* copy = reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(held) + 63) / 64 * 64);
      strip.from = copy;
      strip.image_step = rows * pitch;
      for (int64_t i = 0; i < strip.images; ++i) {
        fill_strip(s, sources, strip.first_image + i, low, rows, copy + i * strip.image_step);
      }
    }
    for (int64_t i = 0; i < part_count; ++i) convolve_strip(parts[i], strip, low, packed[i], out, s.out_image);
    if (finish) {
      const Finish over = Finish::of(finish);
      const int64_t last = strip.last_line * s.finish_line;
      const int64_t before = (strip.first_image + strip.images - 1) * s.finish_image;
      run_chain(over.chain, over.out, strip.first_image * s.finish_image + strip.first_line * s.finish_line,
                before + (last < s.finish_image ? last : s.finish_image));
    }
    line += strip.images * count;
  }
  std::free(held);
  return true;
}

// What filters get of the gradient: the products of what windows read with the gradients of their outputs, summed over
// windows. `rows` numbers that windows read one after the other, by `vectors` vectors of outputs.
struct Lines {
  const float* const* inputs;     // where the first window of each line reads
  const float* const* gradients;  // of its output
  int64_t lines, windows;         // windows of a line
  int64_t input_step, gradient_step;
};

template <int rows, int vectors, bool is_whole>
TILE_TARGET static void gradient_tile(const Lines& l, int64_t offset, int64_t column, int part, float* out,
                                      int64_t out_step) {
  Vector::Type sums[rows][vectors];
  for (int m = 0; m < rows; ++m) {
    for (int v = 0; v < vectors; ++v) sums[m][v] = Vector::set(0.0f);
  }
  for (int64_t line = 0; line < l.lines; ++line) {
    const float* input = l.inputs[line] + offset;
    const float* gradient = l.gradients[line] + column;
    for (int64_t window = 0; window < l.windows; ++window, input += l.input_step, gradient += l.gradient_step) {
      Vector::Type columns[vectors];
      for (int v = 0; v < vectors; ++v) {
        const float* from = gradient + v * Vector::lanes;
        columns[v] = v < vectors - 1 || is_whole ? Vector::load(from) : Vector::load_part(from, part);
      }
      for (int m = 0; m < rows; ++m) {
        const Vector::Type value = Vector::set(input[m]);
        for (int v = 0; v < vectors; ++v) sums[m][v] = Vector::multiply_add(value, columns[v], sums[m][v]);
      }
    }
  }
  const Vector::Type one = Vector::set(1.0f);
  for (int m = 0; m < rows; ++m) {
    for (int v = 0; v < vectors; ++v) {
      float* to = out + m * out_step + column + v * Vector::lanes;
      if (v < vectors - 1 || is_whole) {
        Vector::store(to, Vector::multiply_add(one, Vector::load(to), sums[m][v]));
      } else {
        Vector::store_part(to, Vector::multiply_add(one, Vector::load_part(to, part), sums[m][v]), part);
      }
    }
  }
}

using GradientTile = void (*)(const Lines&, int64_t, int64_t, int, float*, int64_t);

template <int vectors, bool is_whole>
static GradientTile gradient_tile_of(int64_t rows) {
  switch (rows) {
    case 1: return gradient_tile<1, vectors, is_whole>;
    case 2: return gradient_tile<2, vectors, is_whole>;
    case 3: return gradient_tile<3, vectors, is_whole>;
    case 4: return gradient_tile<4, vectors, is_whole>;
    case 5: return gradient_tile<5, vectors, is_whole>;
#if TILE_ROWS > 6
    case 6: return gradient_tile<6, vectors, is_whole>;
    case 7: return gradient_tile<7, vectors, is_whole>;
    case 8: return gradient_tile<8, vectors, is_whole>;
    case 9: return gradient_tile<9, vectors, is_whole>;
    case 10: return gradient_tile<10, vectors, is_whole>;
    case 11: return gradient_tile<11, vectors, is_whole>;
    case 12: return gradient_tile<12, vectors, is_whole>;
    case 13: return gradient_tile<13, vectors, is_whole>;
    default: return gradient_tile<14, vectors, is_whole>;
#else
    default: return gradient_tile<6, vectors, is_whole>;
#endif
  }
}

// Adds to the gradient of filters, [runs times length, columns], what `images` images say: for rows of it `begin` to `end`
// of those that are computed together, of which each run has `tiles`. Sums of some hundred windows are made at a time, in
// an order that does not depend on `begin` and `end`.
static void add_filter_gradient(const Product& product, const Windows& w, const float* images, int64_t count,
                                const float* gradient, int64_t columns, float* out, int64_t tiles, int64_t begin,
                                int64_t end) {
  constexpr int64_t kWindows = 256, kMostLines = 256;
  const int64_t panel = 2 * Vector::lanes, all = count * w.output_rows;
  const int64_t fitting = kWindows / (w.output_columns > 0 ? w.output_columns : 1);
  const int64_t step = fitting < 1 ? 1 : fitting > kMostLines ? kMostLines : fitting;
  const float* inputs[kMostLines];
  const float* gradients[kMostLines];
  for (int64_t first = 0; first < all; first += step) {
    const int64_t some = all - first < step ? all - first : step;
    for (int64_t line = 0; line < some; ++line) {
      const int64_t image = (first + line) / w.output_rows, y = (first + line) % w.output_rows;
      inputs[line] = images + (image * w.height + y * w.row_stride) * w.width * w.depth;
      gradients[line] = gradient + (first + line) * w.output_columns * columns;
    }
    const Lines lines{inputs, gradients, some, w.output_columns, w.column_stride * w.depth, columns};
    for (int64_t at = begin; at < end; ++at) {
      const int64_t run = at / tiles, k = product.length * (at % tiles) / tiles;
      const int64_t rows = product.length * (at % tiles + 1) / tiles - k;
      if (!rows) continue;
      float* to = out + (run * product.length + k) * columns;
      for (int64_t column = 0; column < columns; column += panel) {
        const int64_t width = columns - column < panel ? columns - column : panel;
        const bool is_half = width <= Vector::lanes;
        const int part = static_cast<int>(is_half ? width : width - Vector::lanes);
        const GradientTile tile = part == Vector::lanes
                                      ? (is_half ? gradient_tile_of<1, true>(rows) : gradient_tile_of<2, true>(rows))
                                      : (is_half ? gradient_tile_of<1, false>(rows) : gradient_tile_of<2, false>(rows));
        tile(lines, product.offsets[run] + k, column, part, to, columns);
      }
    }
  }
}

static void convolve_lines(const Depthwise& d, const float* images, const float* filters, float* out,
                           const int64_t* finish, int64_t begin, int64_t end) {
  const int64_t line = d.output_width * d.depth;
  const int64_t step = finish ? (line < kCached ? kCached / (line > 0 ? line : 1) : 1) : end - begin;
  Finisher finisher(finish, d.depth, begin * d.output_width);
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
