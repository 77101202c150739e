// Chains of element-wise operations, softmax and moments of rows, for one kind of processor. layers.cpp includes this once for each
// kind, inside a namespace, with TILE_TARGET, the attribute of functions that use its instructions. No include guard.
//
// Sums, products and quotients are rounded one by one, as NumPy rounds them. Exponentials and what is made of them agree
// with NumPy's but for the last bits.

#define ELEMENT TILE_TARGET TENSORKEEP_INLINE static float

ELEMENT from_bits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

TILE_TARGET TENSORKEEP_INLINE static int32_t bits_of(float x) {
  int32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}

// e**x: x is n ln 2 + r, and e**r a polynomial. The factor 2**n is applied in two halves, for results that are
// subnormal or infinite.
ELEMENT exponential(float x) {
  x = x < -104.0f ? -104.0f : x;
  x = x > 89.0f ? 89.0f : x;
  const float shifted = x * 1.44269504f + 12582912.0f;
  const float n = shifted - 12582912.0f;
  const int32_t whole = static_cast<int32_t>(static_cast<uint32_t>(bits_of(shifted)) - 0x4B400000u), half = whole >> 1;
  float r = __builtin_fmaf(-n, 0.693145752f, x);
  r = __builtin_fmaf(-n, 1.42860677e-6f, r);
  float p = 0.0013951697619631886f;
  p = __builtin_fmaf(p, r, 0.00836959108710289f);
  p = __builtin_fmaf(p, r, 0.0416661873459816f);
  p = __builtin_fmaf(p, r, 0.16666513681411743f);
  p = __builtin_fmaf(p, r, 0.5f);
  const float y = __builtin_fmaf(p, r * r, r) + 1.0f;
  // Of NaN, `whole` is any number, and the factors are too: their bits are shifted without a sign.
  const uint32_t first = static_cast<uint32_t>(half + 127), second = static_cast<uint32_t>(whole - half + 127);
  return y * from_bits(first << 23) * from_bits(second << 23);
}

ELEMENT sigmoid(float x) { return 1.0f / (exponential(-x) + 1.0f); }

ELEMENT hyperbolic_tangent(float x) {
  const float size = __builtin_fabsf(x), square = x * x;
  float p = -0.005660749040544033f;
  p = __builtin_fmaf(p, square, 0.020601969212293625f);
  p = __builtin_fmaf(p, square, -0.05372921749949455f);
  p = __builtin_fmaf(p, square, 0.13331328332424164f);
  p = __builtin_fmaf(p, square, -0.33333277702331543f);
  const float small = __builtin_fmaf(p * square, x, x);
  const float large = 1.0f - 2.0f / (exponential(2.0f * size) + 1.0f);
  return size < 0.625f ? small : __builtin_copysignf(large, x);
}

// One less the error function, of what is not negative: t Q(t) e**(-x²), where t is 1 / (1 + x / 2).
ELEMENT tail(float x) {
  x = x > 11.0f ? 11.0f : x;
  const float t = 1.0f / (1.0f + 0.5f * x);
  float q = 0.03659231588244438f;
  q = __builtin_fmaf(q, t, -0.19592078030109406f);
  q = __builtin_fmaf(q, t, 0.39410340785980225f);
  q = __builtin_fmaf(q, t, -0.3085428774356842f);
  q = __builtin_fmaf(q, t, -0.003952139988541603f);
  q = __builtin_fmaf(q, t, 0.02406352013349533f);
  q = __builtin_fmaf(q, t, 0.05966046452522278f);
  q = __builtin_fmaf(q, t, 0.18426553905010223f);
  q = __builtin_fmaf(q, t, 0.2454117089509964f);
  q = __builtin_fmaf(q, t, 0.28222933411598206f);
  q = __builtin_fmaf(q, t, 0.282089501619339f);
  const float square = x * x, lost = __builtin_fmaf(x, x, -square);
  return t * q * exponential(-square) * (1.0f - lost);
}

ELEMENT complementary_error(float x) {
  const float y = tail(__builtin_fabsf(x));
  return x < 0.0f ? 2.0f - y : y;
}

ELEMENT error_function(float x) {
  const float size = __builtin_fabsf(x), square = x * x;
  float p = 7.853847637306899e-05f;
  p = __builtin_fmaf(p, square, -0.0008010189631022513f);
  p = __builtin_fmaf(p, square, 0.00518832728266716f);
  p = __builtin_fmaf(p, square, -0.026853810995817184f);
  p = __builtin_fmaf(p, square, 0.1128358542919159f);
  p = __builtin_fmaf(p, square, -0.3761262595653534f);
  p = __builtin_fmaf(p, square, 1.1283791065216064f);
  return size < 1.0f ? x * p : __builtin_copysignf(1.0f - tail(size), x);
}

// NaN wins, as in NumPy. Of zeros, the second.
ELEMENT larger(float a, float b) { return a > b || a != a ? a : b; }
ELEMENT smaller(float a, float b) { return a < b || a != a ? a : b; }

// ------------------------------------------------------------------------------------------------------------- Chains

#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#define EACH(result)                                        \
  INDEPENDENT                                               \
  for (int64_t i = 0; i < count; ++i) {                     \
    const float x = a[i];                                   \
    out[i] = result;                                        \
  }                                                         \
  return

#define EACH_PAIR(result)                                   \
  INDEPENDENT                                               \
  for (int64_t i = 0; i < count; ++i) {                     \
    const float x = a[i], y = b[i];                         \
    out[i] = result;                                        \
  }                                                         \
  return

#define EACH_THREE(result)                                  \
  INDEPENDENT                                               \
  for (int64_t i = 0; i < count; ++i) {                     \
    const float x = a[i], y = b[i], z = c[i];               \
    out[i] = result;                                        \
  }                                                         \
  return

// One operation on a block. The numbers of operations are those of `Operation` in chains.py. What is written may be
// where an operand is. Truths are 1 and 0.
TILE_TARGET static void operate(int64_t operation, const float* a, const float* b, const float* c, float* out,
                                int64_t count) {
  switch (operation) {
    case 0: EACH_PAIR(x + y);
    case 1: EACH_PAIR(x - y);
    case 2: EACH_PAIR(x * y);
    case 3: EACH_PAIR(x / y);
    case 4: EACH_PAIR(larger(x, y));
    case 5: EACH_PAIR(smaller(x, y));
    case 6: EACH_PAIR((x - y) * (x - y));
    case 7: EACH(-x);
    case 8: EACH(larger(x, 0.0f));
    case 9: EACH(smaller(larger(x, 0.0f), 6.0f));
    case 10: EACH(sigmoid(x));
    case 11: EACH(hyperbolic_tangent(x));
    case 12: EACH(exponential(x));
    case 13: EACH(error_function(x));
    case 14: EACH(complementary_error(x));
    case 15: EACH(1.0f / root(x));
    case 16: EACH(root(x));
    case 17: EACH(x * x);
    case 18: EACH(__builtin_fabsf(x));
    case 19: EACH(x * x * x);
    case 20: EACH_PAIR(y * x * (1.0f - x));
    case 21: EACH_PAIR(y * (1.0f - x * x));
    case 22: EACH_PAIR(x * (y > 0.0f ? 1.0f : 0.0f));
    case 23: EACH_PAIR(x > 0.0f ? x : x * y);
    case 24: EACH_THREE(y > 0.0f ? x : x * z);
    case 25: EACH_THREE(x != 0.0f ? y : z);
    case 26: EACH_PAIR(x > y ? 1.0f : 0.0f);
    case 27: EACH_PAIR(x >= y ? 1.0f : 0.0f);
    case 28: EACH_PAIR(x < y ? 1.0f : 0.0f);
    case 29: EACH_PAIR(x <= y ? 1.0f : 0.0f);
    default: return;
  }
}

// Inputs, each with its steps in elements along the three axes that all of them are seen to have (0 where it is the same
// all along), and 1 if its elements are truths, of a byte each; and instructions: operation, result, three operands.
// Operands are numbers of inputs, or of registers after those; the result of the last instruction goes to the output.
struct Chain {
  const void* const* inputs;
  const int64_t* steps;
  int64_t input_count;
  const int64_t* code;
  int64_t instructions;
  int64_t sizes[3];
};

// Elements as floats, one behind the other: so many rows of an input, which has `step` elements from one to the next.
// Where `across` is 0, an element is the same all along its row.
template <class T>
TILE_TARGET static void spread_rows(const T* from, int64_t step, int64_t across, int64_t rows, int64_t width, float* to) {
  for (int64_t r = 0; r < rows; ++r, from += step, to += width) {
    if (across) {
      for (int64_t k = 0; k < width; ++k) to[k] = static_cast<float>(from[k]);
    } else {
      const float value = static_cast<float>(*from);
      for (int64_t k = 0; k < width; ++k) to[k] = value;
    }
  }
}

// Where the inputs of a chain are seen as floats, a block at a time: in their own memory, or spread here.
class Operands {
 public:
  explicit Operands(const Chain& chain) : chain_(chain) {
    for (int64_t i = 0; i < chain.input_count; ++i) spread_for_[i] = -1;
    for (int64_t r = 0; r < kMostRegisters; ++r) places_[chain.input_count + r] = registers_[r];
  }

  const float* operator[](int64_t operand) const { return places_[operand]; }
  float* result(int64_t number) { return registers_[number]; }

  // Has all inputs be there, for `rows` rows from `place` of an image on, and `width` elements of each from `at` on.
  TILE_TARGET void reach(int64_t image, int64_t place, int64_t at, int64_t rows, int64_t width, int64_t most_rows) {
    const int64_t inner = chain_.sizes[2];
    for (int64_t i = 0; i < chain_.input_count; ++i) {
      const int64_t* step = chain_.steps + 4 * i;
      const int64_t first = image * step[0] + place * step[1] + at * step[2];
      if (!step[3] && step[2] && (rows == 1 || step[1] == inner)) {
        places_[i] = static_cast<const float*>(chain_.inputs[i]) + first;
        continue;
      }
      places_[i] = spread_[i];
      const bool is_same = !step[1] && (!step[2] || inner <= kBlock);
      const int64_t key = step[0] ? image : 0;
      if (is_same && spread_for_[i] == key) continue;
      // What serves for all rows is spread for as many as there ever are.
      const int64_t spread_rows_ = is_same ? most_rows : rows;
      const int64_t spread_width = is_same && !step[2] ? (inner < kBlock ? inner : kBlock) : width;
      if (step[3]) {
        const uint8_t* from = static_cast<const uint8_t*>(chain_.inputs[i]) + first;
        spread_rows(from, step[1], step[2], spread_rows_, spread_width, spread_[i]);
      } else {
        const float* from = static_cast<const float*>(chain_.inputs[i]) + first;
        spread_rows(from, step[1], step[2], spread_rows_, spread_width, spread_[i]);
      }
      spread_for_[i] = is_same ? key : -1;
    }
  }

 private:
  const Chain& chain_;
  alignas(64) float registers_[kMostRegisters][kBlock];
  alignas(64) float spread_[kMostInputs][kBlock];
  int64_t spread_for_[kMostInputs];
  const float* places_[kMostInputs + kMostRegisters];
};

// The sum of some numbers, in single precision over short stretches, and in double precision over these.
TILE_TARGET static double sum_of(const float* x, int64_t count) {
  constexpr int64_t kLanes = 64, kStretch = 16 * kLanes;
  double total = 0.0;
  for (int64_t begin = 0; begin < count; begin += kStretch) {
    const int64_t end = begin + kStretch < count ? begin + kStretch : count;
    float sums[kLanes];
    for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane] = 0.0f;
    int64_t i = begin;
    for (; i + kLanes <= end; i += kLanes) {
      for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += x[i + lane];
    }
    for (; i < end; ++i) sums[i % kLanes] += x[i];
    for (int64_t width = kLanes / 2; width > 0; width /= 2) {
      for (int64_t lane = 0; lane < width; ++lane) sums[lane] += sums[lane + width];
    }
    total += static_cast<double>(sums[0]);
  }
  return total;
}

// What becomes of the results of a chain: they are stored as they are, as truths of a byte each, or the sum of each row.
enum Gives : int64_t { kAsNumbers, kAsTruths, kAsSums };

// Rows `begin` to `end`, of the first two axes together; or, if there is but one row, these of its elements. Of sums there
// is one for each row.
TILE_TARGET static void run_chain(const Chain& chain, void* out, int64_t begin, int64_t end, int64_t gives = kAsNumbers) {
  Operands operands(chain);
  const int64_t middle = chain.sizes[1], inner = chain.sizes[2], last_code = chain.instructions - 1;
  const bool is_one_row = chain.sizes[0] * middle == 1 && gives != kAsSums;
  const int64_t most_rows = inner < kBlock ? kBlock / inner : 1;
  const int64_t first_row = is_one_row ? 0 : begin, last_row = is_one_row ? 1 : end;
  for (int64_t row = first_row; row < last_row;) {
    const int64_t image = row / middle, place = row % middle;
    int64_t rows = most_rows < middle - place ? most_rows : middle - place;
    if (rows > last_row - row) rows = last_row - row;
    const int64_t first = is_one_row ? begin : 0, last = is_one_row ? end : inner;
    double sum = 0.0;
    for (int64_t at = first; at < last; at += kBlock) {
      const int64_t width = last - at < kBlock ? last - at : kBlock, count = rows * width;
      operands.reach(image, place, at, rows, width, most_rows);
      const int64_t* code = chain.code;
      for (int64_t n = 0; n <= last_code; ++n, code += 5) {
        const bool is_stored = n == last_code && gives == kAsNumbers;
        float* to = is_stored ? static_cast<float*>(out) + row * inner + at : operands.result(code[1]);
        operate(code[0], operands[code[2]], operands[code[3]], operands[code[4]], to, count);
      }
      const float* results = operands.result(chain.code[5 * last_code + 1]);
      if (gives == kAsTruths) {
        uint8_t* to = static_cast<uint8_t*>(out) + row * inner + at;
        for (int64_t i = 0; i < count; ++i) to[i] = results[i] != 0.0f;
      } else if (gives == kAsSums && rows == 1) {
        sum += sum_of(results, width);
        static_cast<float*>(out)[row] = static_cast<float>(sum);
      } else if (gives == kAsSums) {
        for (int64_t r = 0; r < rows; ++r) {
          static_cast<float*>(out)[row + r] = static_cast<float>(sum_of(results + r * width, width));
        }
      }
    }
    row += rows;
  }
}

// The sums of rows `begin` to `end` of a matrix.
TILE_TARGET static void sum_rows(const float* matrix, int64_t columns, float* out, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) out[row] = static_cast<float>(sum_of(matrix + row * columns, columns));
}

// ------------------------------------------------------------------------------------------------------------ Softmax

// e**x of each number of a row less the largest of them; `sum` is that of all, `most` the largest.
TILE_TARGET TENSORKEEP_INLINE static void powers_of_row(const float* x, float* y, int64_t columns, float& most,
                                                        float& sum) {
  constexpr int kLanes = 16;
  float largest[kLanes], sums[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    largest[lane] = -__builtin_inff();
    sums[lane] = 0.0f;
  }
  int64_t i = 0;
  for (; i + kLanes <= columns; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      largest[lane] = x[i + lane] > largest[lane] ? x[i + lane] : largest[lane];
    }
  }
  for (; i < columns; ++i) largest[0] = x[i] > largest[0] ? x[i] : largest[0];
  most = largest[0];
  for (int lane = 1; lane < kLanes; ++lane) most = largest[lane] > most ? largest[lane] : most;
  const float most_of_all = most;
  INDEPENDENT
  for (int64_t k = 0; k < columns; ++k) y[k] = exponential(x[k] - most_of_all);
  for (i = 0; i + kLanes <= columns; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) sums[lane] += y[i + lane];
  }
  for (; i < columns; ++i) sums[0] += y[i];
  sum = 0.0f;
  for (int lane = 0; lane < kLanes; ++lane) sum += sums[lane];
}

TILE_TARGET static void softmax_rows(const float* logits, float* out, int64_t columns, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    float* y = out + row * columns;
    float most, sum;
    powers_of_row(logits + row * columns, y, columns, most, sum);
    INDEPENDENT
    for (int64_t k = 0; k < columns; ++k) y[k] = y[k] / sum;
  }
}

// The cross entropy of each row's softmax with the class that is its label, and its gradient.
TILE_TARGET static void cross_entropy_rows(const float* logits, const int64_t* labels, float* losses, float* gradient,
                                           int64_t columns, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    float* y = gradient + row * columns;
    float most, sum;
    powers_of_row(logits + row * columns, y, columns, most, sum);
    INDEPENDENT
    for (int64_t k = 0; k < columns; ++k) y[k] = y[k] / sum;
    y[labels[row]] -= 1.0f;
    losses[row] = std::log(sum) - (logits[row * columns + labels[row]] - most);
  }
}

// ------------------------------------------------------------------------------------------------------------ Moments

// The means of rows `begin` to `end` of a matrix, and the means of the squares of what lies between these and elements.
TILE_TARGET static void moments_of_rows(const float* matrix, float* means, float* variances, int64_t columns,
                                        int64_t begin, int64_t end) {
  constexpr int kLanes = 64;
  const float count = static_cast<float>(columns);
  for (int64_t row = begin; row < end; ++row) {
    const float* x = matrix + row * columns;
    float mean = 0.0f, variance = 0.0f;
    for (int pass = 0; pass < 2; ++pass) {
      float sums[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) sums[lane] = 0.0f;
      int64_t i = 0;
      for (; i + kLanes <= columns; i += kLanes) {
        for (int lane = 0; lane < kLanes; ++lane) {
          const float off = x[i + lane] - mean;
          sums[lane] += pass ? off * off : off;
        }
      }
      for (; i < columns; ++i) {
        const float off = x[i] - mean;
        sums[i % kLanes] += pass ? off * off : off;
      }
      for (int width = kLanes / 2; width > 0; width /= 2) {
        for (int lane = 0; lane < width; ++lane) sums[lane] += sums[lane + width];
      }
      (pass ? variance : mean) = sums[0] / count;
    }
    means[row] = mean;
    variances[row] = variance;
  }
}

#undef ELEMENT
#undef EACH
#undef EACH_PAIR
#undef EACH_THREE
#undef INDEPENDENT
