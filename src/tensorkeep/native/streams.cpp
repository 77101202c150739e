// Streams of random words, draws from a ring by them, and products of sparse matrices with dense ones.
//
// philox_words writes blocks of Philox 4x32-10 as ops/random/philox.py defines them: block i of a stream has the counter
// (high, low) + first + i. Where the processor can, eight or sixteen blocks go through the rounds together: a word takes
// 0.6 or 0.3 nanoseconds in place of 4.
//
// philox_mask writes, for each of `count` words, whether the number of [0, 1) that RandomUniform makes of it compares so
// with another: as a byte, 1 or 0. The words themselves are stored nowhere.
//
// ring_draw draws `count` numbers from those that lie from `start` to `first_end` in a ring of `size` places, counted
// without end; the first of them takes over the place drawn. After each draw a number that comes in, for as long as there
// are any, is put at `end`, which is `first_end` or behind it.
//
// sparse_product_T adds value[i] * right[column[i]] to out[row[i]], in the order of i, as TensorFlow's kernel does. Places
// are pairs (row, column); with `flipped` they are (column, row). A place outside of either matrix ends it with -1.

#include <cstdint>
#include <cstring>

#include "rules.h"

#if defined(TENSORKEEP_WIDE)
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"  // of what GCC's own header leaves undefined on purpose
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#endif

namespace {

constexpr int LANES = 8;
constexpr uint64_t MULTIPLIER_0 = 0xD2511F53u, MULTIPLIER_1 = 0xCD9E8D57u;
constexpr uint32_t KEY_STEP_0 = 0x9E3779B9u, KEY_STEP_1 = 0xBB67AE85u;

TENSORKEEP_INLINE void scramble(uint64_t key, uint64_t low, uint64_t high, uint64_t first, int64_t count, uint32_t *out) {
  uint32_t words[4][LANES];
  for (int64_t start = 0; start < count; start += LANES) {
    for (int lane = 0; lane < LANES; ++lane) {
      const uint64_t offset = first + static_cast<uint64_t>(start + lane);
      const uint64_t sum = low + offset;
      const uint64_t upper = high + (sum < offset ? 1u : 0u);
      words[0][lane] = static_cast<uint32_t>(sum);
      words[1][lane] = static_cast<uint32_t>(sum >> 32);
      words[2][lane] = static_cast<uint32_t>(upper);
      words[3][lane] = static_cast<uint32_t>(upper >> 32);
    }
    uint32_t key_0 = static_cast<uint32_t>(key), key_1 = static_cast<uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
      for (int lane = 0; lane < LANES; ++lane) {
        const uint64_t product_0 = MULTIPLIER_0 * words[0][lane], product_1 = MULTIPLIER_1 * words[2][lane];
        words[0][lane] = static_cast<uint32_t>(product_1 >> 32) ^ words[1][lane] ^ key_0;
        words[2][lane] = static_cast<uint32_t>(product_0 >> 32) ^ words[3][lane] ^ key_1;
        words[1][lane] = static_cast<uint32_t>(product_1);
        words[3][lane] = static_cast<uint32_t>(product_0);
      }
      key_0 += KEY_STEP_0;
      key_1 += KEY_STEP_1;
    }
    const int left = count - start < LANES ? static_cast<int>(count - start) : LANES;
    for (int lane = 0; lane < left; ++lane)
      for (int word = 0; word < 4; ++word) out[(start + lane) * 4 + word] = words[word][lane];
  }
}

#if defined(TENSORKEEP_WIDE)
struct Blocks {  // the words of four blocks: each in the lower half of a lane, with anything in the upper half
  __m256i words[4];
};

TENSORKEEP_WIDE inline __attribute__((always_inline)) void begin(Blocks &blocks, uint64_t low, uint64_t high) {
  const __m256i sum = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<int64_t>(low)), _mm256_set_epi64x(3, 2, 1, 0));
  blocks.words[0] = sum;
  blocks.words[1] = _mm256_srli_epi64(sum, 32);
  blocks.words[2] = _mm256_set1_epi64x(static_cast<int64_t>(high));
  blocks.words[3] = _mm256_srli_epi64(blocks.words[2], 32);
}

TENSORKEEP_WIDE inline __attribute__((always_inline)) void advance(Blocks &blocks, __m256i key_0, __m256i key_1) {
  const __m256i product_0 = _mm256_mul_epu32(blocks.words[0], _mm256_set1_epi64x(static_cast<int64_t>(MULTIPLIER_0)));
  const __m256i product_1 = _mm256_mul_epu32(blocks.words[2], _mm256_set1_epi64x(static_cast<int64_t>(MULTIPLIER_1)));
  blocks.words[0] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(product_1, 32), blocks.words[1]), key_0);
  blocks.words[2] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(product_0, 32), blocks.words[3]), key_1);
  blocks.words[1] = product_1;
  blocks.words[3] = product_0;
}

TENSORKEEP_WIDE inline __attribute__((always_inline)) void store(const Blocks &blocks, uint32_t *out) {
  const __m256i first = _mm256_blend_epi32(blocks.words[0], _mm256_slli_epi64(blocks.words[1], 32), 0xAA);
  const __m256i second = _mm256_blend_epi32(blocks.words[2], _mm256_slli_epi64(blocks.words[3], 32), 0xAA);
  const __m256i even = _mm256_unpacklo_epi64(first, second), odd = _mm256_unpackhi_epi64(first, second);
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(out), _mm256_permute2x128_si256(even, odd, 0x20));
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(out) + 1, _mm256_permute2x128_si256(even, odd, 0x31));
}

// As `scramble`, for a counter whose lower half does not overflow on the way; whole groups of eight blocks.
TENSORKEEP_WIDE int64_t scramble_wide(uint64_t key, uint64_t low, uint64_t high, int64_t count, uint32_t *out) {
  int64_t start = 0;
  for (; start + LANES <= count; start += LANES) {
    Blocks left, right;
    begin(left, low + static_cast<uint64_t>(start), high);
    begin(right, low + static_cast<uint64_t>(start) + 4, high);
    uint32_t key_0 = static_cast<uint32_t>(key), key_1 = static_cast<uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
      const __m256i keys_0 = _mm256_set1_epi64x(key_0), keys_1 = _mm256_set1_epi64x(key_1);
      advance(left, keys_0, keys_1);
      advance(right, keys_0, keys_1);
      key_0 += KEY_STEP_0;
      key_1 += KEY_STEP_1;
    }
    store(left, out + 4 * start);
    store(right, out + 4 * start + 16);
  }
  return start;
}

#define TENSORKEEP_WIDER __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2")))

struct WiderBlocks {  // the words of eight blocks, as those of Blocks
  __m512i words[4];
};

TENSORKEEP_WIDER inline __attribute__((always_inline)) void begin(WiderBlocks &blocks, uint64_t low, uint64_t high) {
  const __m512i places = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  blocks.words[0] = _mm512_add_epi64(_mm512_set1_epi64(static_cast<int64_t>(low)), places);
  blocks.words[1] = _mm512_srli_epi64(blocks.words[0], 32);
  blocks.words[2] = _mm512_set1_epi64(static_cast<int64_t>(high));
  blocks.words[3] = _mm512_srli_epi64(blocks.words[2], 32);
}

TENSORKEEP_WIDER inline __attribute__((always_inline)) void advance(WiderBlocks &blocks, __m512i key_0, __m512i key_1) {
  const __m512i product_0 = _mm512_mul_epu32(blocks.words[0], _mm512_set1_epi64(static_cast<int64_t>(MULTIPLIER_0)));
  const __m512i product_1 = _mm512_mul_epu32(blocks.words[2], _mm512_set1_epi64(static_cast<int64_t>(MULTIPLIER_1)));
  constexpr int all = 0x96;  // the exclusive or of three
  blocks.words[0] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(product_1, 32), blocks.words[1], key_0, all);
  blocks.words[2] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(product_0, 32), blocks.words[3], key_1, all);
  blocks.words[1] = product_1;
  blocks.words[3] = product_0;
}

TENSORKEEP_WIDER inline __attribute__((always_inline)) void store(const WiderBlocks &blocks, uint32_t *out) {
  const __m512i first = _mm512_mask_blend_epi32(0xAAAA, blocks.words[0], _mm512_slli_epi64(blocks.words[1], 32));
  const __m512i second = _mm512_mask_blend_epi32(0xAAAA, blocks.words[2], _mm512_slli_epi64(blocks.words[3], 32));
  const __m512i even = _mm512_unpacklo_epi64(first, second), odd = _mm512_unpackhi_epi64(first, second);
  const __m512i lower = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0), upper = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
  _mm512_storeu_si512(out, _mm512_permutex2var_epi64(even, lower, odd));
  _mm512_storeu_si512(out + 16, _mm512_permutex2var_epi64(even, upper, odd));
}

// As `scramble_wide`; whole groups of sixteen blocks.
TENSORKEEP_WIDER int64_t scramble_wider(uint64_t key, uint64_t low, uint64_t high, int64_t count, uint32_t *out) {
  int64_t start = 0;
  for (; start + 2 * LANES <= count; start += 2 * LANES) {
    WiderBlocks left, right;
    begin(left, low + static_cast<uint64_t>(start), high);
    begin(right, low + static_cast<uint64_t>(start) + 8, high);
    uint32_t key_0 = static_cast<uint32_t>(key), key_1 = static_cast<uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
      const __m512i keys_0 = _mm512_set1_epi64(key_0), keys_1 = _mm512_set1_epi64(key_1);
      advance(left, keys_0, keys_1);
      advance(right, keys_0, keys_1);
      key_0 += KEY_STEP_0;
      key_1 += KEY_STEP_1;
    }
    store(left, out + 4 * start);
    store(right, out + 4 * start + 32);
  }
  return start;
}
#endif

void write_words(uint64_t key, uint64_t low, uint64_t high, uint64_t first, int64_t count, uint32_t *out) {
  int64_t done = 0;
#if defined(TENSORKEEP_WIDE)
  const uint64_t begin = low + first, end = begin + static_cast<uint64_t>(count);
  if (begin >= low && end >= begin) {
    static const bool is_wider = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (is_wider) done = scramble_wider(key, begin, high, count, out);
    if (__builtin_cpu_supports("avx2")) {
      done += scramble_wide(key, begin + static_cast<uint64_t>(done), high, count - done, out + 4 * done);
    }
  }
#endif
  scramble(key, low, high, first + static_cast<uint64_t>(done), count - done, out + 4 * done);
}

enum Comparison : int32_t { GREATER, GREATER_EQUAL, LESS, LESS_EQUAL };

// What of [0, 1) a word gives, as RandomUniform has it: 23 bits of it are those behind the point.
TENSORKEEP_INLINE float unit(uint32_t word) {
  const uint32_t bits = (word & 0x7FFFFFu) | 0x3F800000u;
  float number;
  std::memcpy(&number, &bits, sizeof(number));
  return number - 1.0f;
}

TENSORKEEP_INLINE void compare_each(const uint32_t *__restrict words, int64_t count, int32_t comparison, float with,
                                     uint8_t *__restrict out) {
  switch (comparison) {
    case GREATER:
      for (int64_t i = 0; i < count; ++i) out[i] = unit(words[i]) > with ? 1 : 0;
      return;
    case GREATER_EQUAL:
      for (int64_t i = 0; i < count; ++i) out[i] = unit(words[i]) >= with ? 1 : 0;
      return;
    case LESS:
      for (int64_t i = 0; i < count; ++i) out[i] = unit(words[i]) < with ? 1 : 0;
      return;
    default:
      for (int64_t i = 0; i < count; ++i) out[i] = unit(words[i]) <= with ? 1 : 0;
  }
}

#if defined(TENSORKEEP_WIDE)
TENSORKEEP_WIDE void compare_wide(const uint32_t *words, int64_t count, int32_t comparison, float with, uint8_t *out) {
  compare_each(words, count, comparison, with, out);
}
#endif

void compare_words(const uint32_t *words, int64_t count, int32_t comparison, float with, uint8_t *out) {
#if defined(TENSORKEEP_WIDE)
  if (__builtin_cpu_supports("avx2")) return compare_wide(words, count, comparison, with, out);
#endif
  compare_each(words, count, comparison, with, out);
}

template <typename T>
int32_t sparse_product(const int64_t *places, const T *values, int64_t count, int32_t flipped, const T *right,
                       int64_t inner, int64_t width, T *out, int64_t height) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = places[2 * i + (flipped ? 1 : 0)], column = places[2 * i + (flipped ? 0 : 1)];
    if (row < 0 || row >= height || column < 0 || column >= inner) return -1;
    const T value = values[i];
    const T *from = right + column * width;
    T *to = out + row * width;
    for (int64_t k = 0; k < width; ++k) to[k] += value * from[k];
  }
  return 0;
}

}  // namespace

TENSORKEEP_EXPORT void philox_words(uint64_t key, uint64_t low, uint64_t high, uint64_t first, int64_t count, uint32_t *out) {
  write_words(key, low, high, first, count, out);
}

// Of the words of the blocks from `first` on, `count` words.
TENSORKEEP_EXPORT void philox_mask(uint64_t key, uint64_t low, uint64_t high, uint64_t first, int64_t count,
                                   int32_t comparison, double with, uint8_t *out) {
  constexpr int64_t BLOCKS = 256;
  uint32_t words[4 * BLOCKS];
  for (int64_t done = 0; done < count; done += 4 * BLOCKS) {
    const int64_t some = count - done < 4 * BLOCKS ? count - done : 4 * BLOCKS;
    write_words(key, low, high, first + static_cast<uint64_t>(done / 4), (some + 3) / 4, words);
    compare_words(words, some, comparison, static_cast<float>(with), out + done);
  }
}

TENSORKEEP_EXPORT void ring_draw(int64_t *ring, int64_t size, int64_t start, int64_t first_end, int64_t end,
                                 const int64_t *incoming, int64_t incoming_count, const uint32_t *words, int64_t count,
                                 int64_t *drawn) {
  const bool grows = first_end == end;
  int64_t first = start % size, last = end % size, held = first_end - start;
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = first + words[i] % held;
    if (at >= size) at -= size;
    drawn[i] = ring[at];
    ring[at] = ring[first];
    first = first + 1 < size ? first + 1 : 0;
    --held;
    if (i >= incoming_count) continue;
    ring[last] = incoming[i];
    last = last + 1 < size ? last + 1 : 0;
    if (grows) ++held;
  }
}

#define EXPORT(T)                                                                                                      \
  TENSORKEEP_EXPORT int32_t sparse_product_##T(const int64_t *places, const T *values, int64_t count, int32_t flipped, \
                                               const T *right, int64_t inner, int64_t width, T *out, int64_t height) { \
    return sparse_product<T>(places, values, count, flipped, right, inner, width, out, height);                        \
  }
EXPORT(float)
EXPORT(double)
