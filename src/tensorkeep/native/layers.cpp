// Matrix products, convolutions, softmax and chains of element-wise operations of float32, as layers of models have
// them.
//
// Products and sums of products are fused here, as the linear algebra library fuses them: results agree with NumPy's but
// for the last bits. Loops exist for processors with AVX-512 and with AVX2; where neither is, `layers_width` is 0, and
// nothing else is to be called.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "rules.h"

#if defined(TENSORKEEP_WIDE)
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"  // of what GCC's own header leaves undefined on purpose
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#define TARGET_512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")))
#define TARGET_256 __attribute__((target("avx2,fma")))

namespace {

constexpr int64_t kBlock = 1024;  // elements of a chain at a time
constexpr int64_t kMostInputs = 12, kMostRegisters = 6;

constexpr int64_t kMostRows = 504;  // of a product at a time: a multiple of both heights of tiles
constexpr int64_t kFewestRows = 84;
constexpr int64_t kBlockRows = 512;  // that are summed together, of channels
constexpr int64_t kStrip = 3 << 15;  // floats of images and outputs that are to stay in the cache while all parts pass
constexpr int64_t kCached = 1 << 16;  // floats of the left matrix and of the product, which are to stay in the cache

int64_t rows_at_a_time(int64_t depth, int64_t columns) {
  const int64_t fitting = kCached / (depth + columns > 0 ? depth + columns : 1) / 42 * 42;
  const int64_t fewest = depth * columns <= kCached ? kFewestRows / 2 : kFewestRows;  // what is read again is in the cache
  return fitting > kMostRows ? kMostRows : fitting < fewest ? fewest : fitting;
}

// Rows that lie a multiple of 4096 bytes apart fall into the same places of the cache, and there is not room for a tile
// of them: they are copied apart. Nothing is copied where there is no memory for it.
class Apart {
 public:
  explicit Apart(int64_t runs, int64_t length, int64_t step)
      : length_(length), is_needed_(runs == 1 && length >= 1024 && step % 1024 == 0) {
    if (is_needed_) copy_ = static_cast<float*>(std::malloc(sizeof(float) * kMostRows * (length + kGap)));
  }
  ~Apart() { std::free(copy_); }
  Apart(const Apart&) = delete;
  Apart& operator=(const Apart&) = delete;

  void move(const float** rows, int64_t count) const {
    if (!copy_) return;
    for (int64_t m = 0; m < count; ++m) {
      float* to = copy_ + m * (length_ + kGap);
      std::memcpy(to, rows[m], sizeof(float) * length_);
      rows[m] = to;
    }
  }

 private:
  static constexpr int64_t kGap = 32;
  int64_t length_;
  bool is_needed_;
  float* copy_ = nullptr;
};

// Where windows stand in images that have their padding.
struct Windows {
  int64_t height, width, depth;         // of the images
  int64_t row_stride, column_stride;    // of the windows
  int64_t output_rows, output_columns;  // of one image
};

// What is convolved: images as they lie, and how much is added to each of their rows. Outputs are counted in lines, each
// of which may be several rows.
struct Images {
  int64_t height, width, depth;       // of the images, in C order
  int64_t left, padded_width;         // zeros before each row; its elements with the zeros on both sides
  int64_t lines, out_image;           // of the output of one image; floats from there to the next one
  int64_t finish_line, finish_image;  // rows that chains see of a line, and of an image
};

// Where images lie whose channels come from several arrays, one behind the other.
struct Sources {
  const float* const* arrays;
  const int64_t* depths;
  int64_t count;
};

// A convolution by some of the taps, for some of the outputs of every line: all of it, or, of a transposed convolution,
// what lies at the same place between strides.
struct Part {
  int64_t row, column;                     // where the first window begins: before the image is less than 0; padded
  int64_t reach;                           // rows from the first that a window reads to behind the last
  int64_t row_stride, column_stride;       // of the windows
  int64_t output_rows, output_columns;     // of one image
  int64_t out_start, out_row, out_column;  // floats to the first output, and from one to the next
  int64_t columns;                         // of the product, which lie together in the output
  int64_t runs, length;                    // of a window: stretches of so many floats
  const int64_t* offsets;                  // from where a window begins to each stretch
};

namespace with_512 {

struct Vector {
  using Type = __m512;
  static constexpr int lanes = 16;

  TARGET_512 TENSORKEEP_INLINE static Type set(float x) { return _mm512_set1_ps(x); }
  TARGET_512 TENSORKEEP_INLINE static Type load(const float* from) { return _mm512_loadu_ps(from); }
  TARGET_512 TENSORKEEP_INLINE static void store(float* to, Type x) { _mm512_storeu_ps(to, x); }
  TARGET_512 TENSORKEEP_INLINE static Type load_part(const float* from, int count) {
    return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), from);
  }
  TARGET_512 TENSORKEEP_INLINE static void store_part(float* to, Type x, int count) {
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1), x);
  }
  TARGET_512 TENSORKEEP_INLINE static Type multiply_add(Type a, Type b, Type c) { return _mm512_fmadd_ps(a, b, c); }
  TARGET_512 TENSORKEEP_INLINE static Type larger(Type a, Type b) { return _mm512_max_ps(a, b); }  // b if a is NaN
  TARGET_512 TENSORKEEP_INLINE static float sum(Type x) { return _mm512_reduce_add_ps(x); }
};

#define TILE_TARGET TARGET_512
#define TILE_ROWS 14
#include "tiles.h"
#include "elements.h"
#include "products.h"
#include "rounds.h"
#include "channels.h"
#undef TILE_TARGET
#undef TILE_ROWS

}  // namespace with_512

namespace with_256 {

struct Vector {
  using Type = __m256;
  static constexpr int lanes = 8;

  TARGET_256 TENSORKEEP_INLINE static __m256i first(int count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  TARGET_256 TENSORKEEP_INLINE static Type set(float x) { return _mm256_set1_ps(x); }
  TARGET_256 TENSORKEEP_INLINE static Type load(const float* from) { return _mm256_loadu_ps(from); }
  TARGET_256 TENSORKEEP_INLINE static void store(float* to, Type x) { _mm256_storeu_ps(to, x); }
  TARGET_256 TENSORKEEP_INLINE static Type load_part(const float* from, int count) {
    return _mm256_maskload_ps(from, first(count));
  }
  TARGET_256 TENSORKEEP_INLINE static void store_part(float* to, Type x, int count) {
    _mm256_maskstore_ps(to, first(count), x);
  }
  TARGET_256 TENSORKEEP_INLINE static Type multiply_add(Type a, Type b, Type c) { return _mm256_fmadd_ps(a, b, c); }
  TARGET_256 TENSORKEEP_INLINE static Type larger(Type a, Type b) { return _mm256_max_ps(a, b); }  // b if a is NaN
  TARGET_256 TENSORKEEP_INLINE static float sum(Type x) {
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_shuffle_ps(half, half, 1)));
  }
};

#define TILE_TARGET TARGET_256
#define TILE_ROWS 6
#include "tiles.h"
#include "elements.h"
#include "products.h"
#include "rounds.h"
#include "channels.h"
#undef TILE_TARGET
#undef TILE_ROWS

}  // namespace with_256

// ------------------------------------------------------------------------------------------------- By the processor

int find_width() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")) {
    return 16;
  }
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 8 : 0;
}

const int kWidth = find_width();
// Stretches of bytes that lie apart, along four axes.
struct Stretched {
  int64_t sizes[4], from_steps[4], to_steps[4];  // steps in bytes
  int64_t length;  // of a stretch, in bytes
};

template <int64_t unit>
void move_line(const char* from, char* to, int64_t count, int64_t from_step, int64_t to_step, int64_t length) {
  for (int64_t i = 0; i < count; ++i, from += from_step, to += to_step) {
    for (int64_t at = 0; at < length; at += unit) std::memcpy(to + at, from + at, unit);
  }
}

// Lines `begin` to `end`, of the first three axes together.
void move_lines(const Stretched& s, const char* from, char* to, int64_t begin, int64_t end) {
  for (int64_t line = begin; line < end; ++line) {
    const int64_t k = line % s.sizes[2], rest = line / s.sizes[2], j = rest % s.sizes[1], i = rest / s.sizes[1];
    const char* source = from + i * s.from_steps[0] + j * s.from_steps[1] + k * s.from_steps[2];
    char* target = to + i * s.to_steps[0] + j * s.to_steps[1] + k * s.to_steps[2];
    const int64_t count = s.sizes[3], from_step = s.from_steps[3], to_step = s.to_steps[3];
    if (s.length <= 1024 && s.length % 64 == 0) {
      move_line<64>(source, target, count, from_step, to_step, s.length);
    } else if (s.length <= 256 && s.length % 16 == 0) {
      move_line<16>(source, target, count, from_step, to_step, s.length);
    } else if (s.length <= 32 && s.length % 4 == 0) {
      move_line<4>(source, target, count, from_step, to_step, s.length);
    } else {
      for (int64_t at = 0; at < count; ++at) std::memcpy(target + at * to_step, source + at * from_step, s.length);
    }
  }
}

}  // namespace

// ------------------------------------------------------------------------------------------------ What Python can call

// How many floats a vector has; 0 if this processor has none that these functions use.
TENSORKEEP_EXPORT int64_t layers_width(void) { return kWidth; }

// Puts a matrix [depth, columns] into the order in which products read it. `out` has room for `depth` times `columns`,
// rounded up to vectors.
TENSORKEEP_EXPORT void layers_pack(const float* matrix, int64_t depth, int64_t columns, int64_t row_step,
                                   int64_t column_step, float* out) {
  kWidth == 16 ? with_512::pack(matrix, depth, columns, row_step, column_step, out)
               : with_256::pack(matrix, depth, columns, row_step, column_step, out);
}

// Rows `begin` to `end` of a product with a packed matrix. The left one lies row by row, or column by column: one of its
// steps is 1. `finish` is null, or the numbers of a Finish. 0 if there is no memory.
TENSORKEEP_EXPORT int32_t layers_multiply(const float* left, int64_t row_step, int64_t column_step, const float* packed,
                                          float* out, int64_t out_step, int64_t depth, int64_t columns,
                                          const int64_t* finish, int64_t begin, int64_t end) {
  return kWidth == 16 ? with_512::multiply_all(left, row_step, column_step, packed, out, out_step, depth, columns,
                                               finish, begin, end)
                      : with_256::multiply_all(left, row_step, column_step, packed, out, out_step, depth, columns,
                                               finish, begin, end);
}

// A product of few rows with a matrix that is not packed, for the columns of panels `begin` to `end`, each of two
// vectors. 0 if there is no memory.
TENSORKEEP_EXPORT int32_t layers_multiply_narrow(const float* left, int64_t row_step, int64_t rows, const float* right,
                                                 int64_t right_row, int64_t right_column, float* out, int64_t depth,
                                                 int64_t columns, int64_t begin, int64_t end) {
  return kWidth == 16 ? with_512::multiply_narrow(left, row_step, rows, right, right_row, right_column, out, depth,
                                                  columns, begin, end)
                      : with_256::multiply_narrow(left, row_step, rows, right, right_row, right_column, out, depth,
                                                  columns, begin, end);
}

// Rows `begin` to `end` of a product whose left factor is the matrix [depth, rows], turned; the right one has
// kTurnedColumns at most, in C order.
TENSORKEEP_EXPORT void layers_multiply_turned(const float* matrix, int64_t step, const float* right, float* out,
                                              int64_t depth, int64_t columns, int64_t begin, int64_t end) {
  kWidth == 16 ? with_512::multiply_turned(matrix, step, right, out, depth, columns, begin, end)
               : with_256::multiply_turned(matrix, step, right, out, depth, columns, begin, end);
}

// Lines `begin` to `end` of a convolution, numbered through all images. `numbers` are those of Images, `parts` those of
// Part for each of `count`, in their order, and `packed` has filters for each. Channels are those of all sources. `finish` is null, or the numbers of a
// Finish. 0 if there is no memory.
TENSORKEEP_EXPORT int32_t layers_convolve(const float* const* sources, const int64_t* depths, int64_t source_count,
                                          const int64_t* numbers, const int64_t* parts, int64_t count,
                                          const float* const* packed, float* out, const int64_t* finish, int64_t begin,
                                          int64_t end) {
  Images images;
  static_assert(sizeof(images) == 9 * sizeof(int64_t) && sizeof(Part) == 14 * sizeof(int64_t), "numbers only");
  std::memcpy(&images, numbers, sizeof(images));
  const Sources from{sources, depths, source_count};
  const Part* listed = reinterpret_cast<const Part*>(parts);
  return kWidth == 16 ? with_512::convolve(images, from, listed, count, packed, out, finish, begin, end)
                      : with_256::convolve(images, from, listed, count, packed, out, finish, begin, end);
}

// Into how many parts the rows of each run are divided, by which layers_filter_gradient counts.
TENSORKEEP_EXPORT int64_t layers_filter_tiles(int64_t length) {
  const int64_t rows = kWidth == 16 ? 14 : 6;
  return (length + rows - 1) / rows;
}

// Adds what some images say of the gradient of filters to `out`, [runs times length, columns]: parts `begin` to `end` of
// runs times tiles. `gradient` is that of the outputs, in C order. Windows are those of layers_convolve.
TENSORKEEP_EXPORT void layers_filter_gradient(const float* images, const int64_t* numbers, const int64_t* offsets,
                                              int64_t length, int64_t count, const float* gradient, int64_t columns,
                                              float* out, int64_t begin, int64_t end) {
  Windows windows;
  std::memcpy(&windows, numbers, sizeof(windows));
  const int64_t tiles = layers_filter_tiles(length);
  if (kWidth == 16) {
    const with_512::Product product{offsets, 0, length};
    with_512::add_filter_gradient(product, windows, images, count, gradient, columns, out, tiles, begin, end);
  } else {
    const with_256::Product product{offsets, 0, length};
    with_256::add_filter_gradient(product, windows, images, count, gradient, columns, out, tiles, begin, end);
  }
}

// How many rows of channels are summed together; each block of them has a row of sums.
TENSORKEEP_EXPORT int64_t layers_block_rows(void) { return kBlockRows; }

// Sums of rows of channels, of blocks `begin` to `end`: of x, or, where `mean` is not null, of the squares of x - mean.
TENSORKEEP_EXPORT void layers_sum_channels(const float* x, int64_t rows, int64_t channels, const float* mean, float* out,
                                           int64_t begin, int64_t end) {
  kWidth == 16 ? with_512::sum_channels(x, rows, channels, mean, out, begin, end)
               : with_256::sum_channels(x, rows, channels, mean, out, begin, end);
}

// Sums of gradients, and of gradients times x - mean, of blocks `begin` to `end`.
TENSORKEEP_EXPORT void layers_sum_gradients(const float* gradient, const float* x, int64_t rows, int64_t channels,
                                            const float* mean, float* out, int64_t begin, int64_t end) {
  kWidth == 16 ? with_512::sum_gradients(gradient, x, rows, channels, mean, out, begin, end)
               : with_256::sum_gradients(gradient, x, rows, channels, mean, out, begin, end);
}

// (x - mean) * factor + offset of rows `begin` to `end`, with a number of each for every channel.
TENSORKEEP_EXPORT void layers_scale_channels(const float* x, int64_t channels, const float* mean, const float* factor,
                                             const float* offset, float* out, int64_t begin, int64_t end) {
  kWidth == 16 ? with_512::scale_channels(x, channels, mean, factor, offset, out, begin, end)
               : with_256::scale_channels(x, channels, mean, factor, offset, out, begin, end);
}

// (gradient - offset - (x - mean) * slope) * factor of rows `begin` to `end`, with a number of each for every channel.
TENSORKEEP_EXPORT void layers_gradient_of_channels(const float* gradient, const float* x, int64_t channels,
                                                   const float* mean, const float* offset, const float* slope,
                                                   const float* factor, float* out, int64_t begin, int64_t end) {
  kWidth == 16
      ? with_512::gradient_of_channels(gradient, x, channels, mean, offset, slope, factor, out, begin, end)
      : with_256::gradient_of_channels(gradient, x, channels, mean, offset, slope, factor, out, begin, end);
}

// Rows `begin` to `end` of the output of a depthwise convolution, numbered through all images. `numbers` are those of
// Depthwise, in their order. `finish` is null, or the numbers of a Finish.
TENSORKEEP_EXPORT void layers_convolve_depthwise(const float* images, const float* filters, float* out,
                                                 const int64_t* numbers, const int64_t* finish, int64_t begin,
                                                 int64_t end) {
  if (kWidth == 16) {
    with_512::Depthwise depthwise;
    std::memcpy(&depthwise, numbers, sizeof(depthwise));
    with_512::convolve_lines(depthwise, images, filters, out, finish, begin, end);
  } else {
    with_256::Depthwise depthwise;
    std::memcpy(&depthwise, numbers, sizeof(depthwise));
    with_256::convolve_lines(depthwise, images, filters, out, finish, begin, end);
  }
}

// Rows `begin` to `end` of the maxima under windows, numbered through all images. `numbers` are those of Depthwise, in
// their order. NaN is below everything, and nothing is below `floor`.
TENSORKEEP_EXPORT void layers_pool_maxima(const float* images, const int64_t* numbers, float floor, float* out,
                                          int64_t begin, int64_t end) {
  if (kWidth == 16) {
    with_512::Depthwise windows;
    std::memcpy(&windows, numbers, sizeof(windows));
    with_512::pool_maxima(windows, images, floor, out, begin, end);
  } else {
    with_256::Depthwise windows;
    std::memcpy(&windows, numbers, sizeof(windows));
    with_256::pool_maxima(windows, images, floor, out, begin, end);
  }
}

// Attention, for those of `begin` to `end` of batch times heads. `numbers` are those of Attention, in their order; `bias`
// may be null. 0 if there is no memory.
TENSORKEEP_EXPORT int32_t layers_attend(const float* queries, const float* keys, const float* values, const float* bias,
                                        float* out, const int64_t* numbers, float scale, int64_t begin, int64_t end) {
  if (kWidth == 16) {
    with_512::Attention attention;
    std::memcpy(&attention, numbers, sizeof(attention));
    return with_512::attend(attention, queries, keys, values, bias, scale, out, begin, end);
  }
  with_256::Attention attention;
  std::memcpy(&attention, numbers, sizeof(attention));
  return with_256::attend(attention, queries, keys, values, bias, scale, out, begin, end);
}

// A chain of element-wise operations: see Chain, and Gives for what becomes of the results. Rows `begin` to `end`, or
// elements if there is but one row.
TENSORKEEP_EXPORT void layers_chain(const void* const* inputs, const int64_t* steps, int64_t input_count,
                                    const int64_t* code, int64_t instructions, const int64_t* sizes, void* out,
                                    int64_t gives, int64_t begin, int64_t end) {
  if (kWidth == 16) {
    const with_512::Chain chain{inputs, steps, input_count, code, instructions, {sizes[0], sizes[1], sizes[2]}};
    with_512::run_chain(chain, out, begin, end, gives);
  } else {
    const with_256::Chain chain{inputs, steps, input_count, code, instructions, {sizes[0], sizes[1], sizes[2]}};
    with_256::run_chain(chain, out, begin, end, gives);
  }
}

// The sums of rows `begin` to `end` of a matrix.
TENSORKEEP_EXPORT void layers_sum_rows(const float* matrix, int64_t columns, float* out, int64_t begin, int64_t end) {
  kWidth == 16 ? with_512::sum_rows(matrix, columns, out, begin, end)
               : with_256::sum_rows(matrix, columns, out, begin, end);
}

// The softmax of rows `begin` to `end` of a matrix; `out` may be where the logits are.
TENSORKEEP_EXPORT void layers_softmax(const float* logits, float* out, int64_t columns, int64_t begin, int64_t end) {
  kWidth == 16 ? with_512::softmax_rows(logits, out, columns, begin, end)
               : with_256::softmax_rows(logits, out, columns, begin, end);
}

// The losses of rows `begin` to `end` of logits, and their gradient. All labels are of the classes.
TENSORKEEP_EXPORT void layers_cross_entropy(const float* logits, const int64_t* labels, float* losses, float* gradient,
                                            int64_t columns, int64_t begin, int64_t end) {
  kWidth == 16 ? with_512::cross_entropy_rows(logits, labels, losses, gradient, columns, begin, end)
               : with_256::cross_entropy_rows(logits, labels, losses, gradient, columns, begin, end);
}

// The means and variances of rows `begin` to `end` of a matrix.
TENSORKEEP_EXPORT void layers_moments(const float* matrix, float* means, float* variances, int64_t columns,
                                      int64_t begin, int64_t end) {
  kWidth == 16 ? with_512::moments_of_rows(matrix, means, variances, columns, begin, end)
               : with_256::moments_of_rows(matrix, means, variances, columns, begin, end);
}

// Copies stretches: see Stretched, whose numbers are given in their order. Lines `begin` to `end`.
TENSORKEEP_EXPORT void layers_move(const char* from, char* to, const int64_t* numbers, int64_t begin, int64_t end) {
  Stretched stretched;
  static_assert(sizeof(stretched) == 13 * sizeof(int64_t), "numbers only");
  std::memcpy(&stretched, numbers, sizeof(stretched));
  move_lines(stretched, from, to, begin, end);
}

// The rounds of a loop: see Rounds. All of them, for rows `begin` to `end` of its matrices.
TENSORKEEP_EXPORT void layers_rounds(const int64_t* operands, const int64_t* code, int64_t instructions, int64_t rounds,
                                     int64_t begin, int64_t end) {
  if (kWidth == 16) {
    with_512::run_rounds(with_512::Rounds{operands, code, instructions, rounds}, begin, end);
  } else {
    with_256::run_rounds(with_256::Rounds{operands, code, instructions, rounds}, begin, end);
  }
}

#else

TENSORKEEP_EXPORT int64_t layers_width(void) { return 0; }

#endif
