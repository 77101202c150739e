// The arithmetic of JPEG in whole numbers: blocks of coefficients become samples, samples those of the image, and these
// colors. It is that of ops/codecs/_jpeg_transforms.py, and where numbers that no encoder writes overflow 16 bits, that of
// libjpeg-turbo on x86_64: products of 16 bits wrap around, what is between two passes is bounded by 16 bits.

#ifndef TENSORKEEP_NATIVE_JPEG_SAMPLES_H_
#define TENSORKEEP_NATIVE_JPEG_SAMPLES_H_

#include <cstdint>
#include <cstring>

#include "rules.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace {

// ------------------------------------------------------------------------------------------------------- Eight numbers

#if defined(__SSE2__)
struct Lanes {
  __m128i v;
};
TENSORKEEP_INLINE Lanes load(const int16_t *from) { return {_mm_loadu_si128(reinterpret_cast<const __m128i *>(from))}; }
TENSORKEEP_INLINE Lanes operator+(Lanes a, Lanes b) { return {_mm_add_epi16(a.v, b.v)}; }
TENSORKEEP_INLINE Lanes operator-(Lanes a, Lanes b) { return {_mm_sub_epi16(a.v, b.v)}; }
TENSORKEEP_INLINE Lanes operator*(Lanes a, Lanes b) { return {_mm_mullo_epi16(a.v, b.v)}; }
TENSORKEEP_INLINE Lanes scaled(Lanes a, int16_t factor) {  // by a factor of eight fractional bits, rounded down
  return {_mm_mulhi_epi16(_mm_slli_epi16(a.v, 2), _mm_set1_epi16(static_cast<int16_t>(factor * 64)))};
}

TENSORKEEP_INLINE void transpose(Lanes (&rows)[8]) {
  __m128i a[8], b[8];
  for (int i = 0; i < 4; ++i) {
    a[2 * i] = _mm_unpacklo_epi16(rows[i].v, rows[i + 4].v);
    a[2 * i + 1] = _mm_unpackhi_epi16(rows[i].v, rows[i + 4].v);
  }
  for (int i = 0; i < 4; ++i) {
    b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]);
    b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
  }
  for (int i = 0; i < 4; ++i) {
    rows[2 * i].v = _mm_unpacklo_epi16(b[i], b[i + 4]);
    rows[2 * i + 1].v = _mm_unpackhi_epi16(b[i], b[i + 4]);
  }
}

// Rows without their five fractional bits, as samples.
TENSORKEEP_INLINE void store(const Lanes (&rows)[8], uint8_t *out, int64_t stride) {
  const __m128i middle = _mm_set1_epi8(-128);
  for (int i = 0; i < 8; i += 2) {
    const __m128i both = _mm_packs_epi16(_mm_srai_epi16(rows[i].v, 5), _mm_srai_epi16(rows[i + 1].v, 5));
    const __m128i samples = _mm_add_epi8(both, middle);
    _mm_storel_epi64(reinterpret_cast<__m128i *>(out + i * stride), samples);
    _mm_storel_epi64(reinterpret_cast<__m128i *>(out + (i + 1) * stride), _mm_unpackhi_epi64(samples, samples));
  }
}
#else
struct Lanes {
  int16_t v[8];
};
template <class F>
TENSORKEEP_INLINE Lanes each(Lanes a, Lanes b, F f) {
  Lanes result;
  for (int i = 0; i < 8; ++i) result.v[i] = static_cast<int16_t>(static_cast<uint32_t>(f(a.v[i], b.v[i])));
  return result;
}
TENSORKEEP_INLINE Lanes load(const int16_t *from) {
  Lanes result;
  std::memcpy(result.v, from, sizeof result.v);
  return result;
}
TENSORKEEP_INLINE Lanes operator+(Lanes a, Lanes b) { return each(a, b, [](int x, int y) { return x + y; }); }
TENSORKEEP_INLINE Lanes operator-(Lanes a, Lanes b) { return each(a, b, [](int x, int y) { return x - y; }); }
TENSORKEEP_INLINE Lanes operator*(Lanes a, Lanes b) { return each(a, b, [](int x, int y) { return x * y; }); }
TENSORKEEP_INLINE Lanes scaled(Lanes a, int16_t factor) {
  return each(a, a, [factor](int x, int) { return (static_cast<int16_t>(x * 4) * (factor * 64)) >> 16; });
}

TENSORKEEP_INLINE void transpose(Lanes (&rows)[8]) {
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < i; ++j) {
      const int16_t kept = rows[i].v[j];
      rows[i].v[j] = rows[j].v[i];
      rows[j].v[i] = kept;
    }
}

TENSORKEEP_INLINE void store(const Lanes (&rows)[8], uint8_t *out, int64_t stride) {
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      const int value = rows[i].v[j] >> 5;
      out[i * stride + j] = static_cast<uint8_t>((value < -128 ? -128 : value > 127 ? 127 : value) + 128);
    }
}
#endif

// ---------------------------------------------------------------------------------------------------------- Transforms

TENSORKEEP_INLINE int16_t bounded(int32_t value) {
  return static_cast<int16_t>(value < -32768 ? -32768 : value > 32767 ? 32767 : value);
}
TENSORKEEP_INLINE uint8_t sample(int32_t value) {
  return static_cast<uint8_t>((value < -128 ? -128 : value > 127 ? 127 : value) + 128);
}
TENSORKEEP_INLINE int32_t plus(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
TENSORKEEP_INLINE int32_t descaled(int32_t value, int bits) { return plus(value, 1 << (bits - 1)) >> bits; }
TENSORKEEP_INLINE int16_t wrapped(int32_t value) { return static_cast<int16_t>(static_cast<uint32_t>(value)); }

// Arai, Agui and Nakajima: their factors are in the table already.
TENSORKEEP_INLINE void fast_pass(Lanes (&l)[8]) {
  const Lanes sum = l[0] + l[4], difference = l[0] - l[4], outer = l[2] + l[6];
  const Lanes inner = scaled(l[2] - l[6], 362) - outer;
  const Lanes even0 = sum + outer, even3 = sum - outer, even1 = difference + inner, even2 = difference - inner;
  const Lanes z13 = l[5] + l[3], z10 = l[5] - l[3], z11 = l[1] + l[7], z12 = l[1] - l[7];
  const Lanes odd7 = z11 + z13, turned = scaled(z10 + z12, 473);
  const Lanes odd6 = scaled(z10, 256 - 669) - z10 + turned - odd7;
  const Lanes odd5 = scaled(z11 - z13, 362) - odd6;
  const Lanes odd4 = scaled(z12, 277) - turned + odd5;
  l[0] = even0 + odd7, l[7] = even0 - odd7, l[1] = even1 + odd6, l[6] = even1 - odd6;
  l[2] = even2 + odd5, l[5] = even2 - odd5, l[4] = even3 + odd4, l[3] = even3 - odd4;
}

inline void transform_fast(const int16_t *coefficients, const int16_t *factors, uint8_t *out, int64_t stride) {
  Lanes rows[8];
  for (int i = 0; i < 8; ++i) rows[i] = load(coefficients + 8 * i) * load(factors + 8 * i);
  fast_pass(rows);
  transpose(rows);
  fast_pass(rows);
  transpose(rows);
  store(rows, out, stride);
}

// One pass of the accurate transform over eight columns, sums in 32 bits, `shift` of them dropped.
TENSORKEEP_INLINE void accurate_pass(const int16_t (&in)[8][8], int16_t (&out)[8][8], int shift) {
  for (int c = 0; c < 8; ++c) {
    const int32_t i1 = in[1][c], i2 = in[2][c], i3 = in[3][c], i5 = in[5][c], i6 = in[6][c], i7 = in[7][c];
    const int32_t sum = wrapped(in[0][c] + in[4][c]) * 8192, difference = wrapped(in[0][c] - in[4][c]) * 8192;
    const int32_t high = i2 * 10703 + i6 * 4433, low = i2 * 4433 - i6 * 10704;
    const int32_t even[4] = {sum + high, difference + low, difference - low, sum - high};
    const int32_t z3 = wrapped(i7 + i3), z4 = wrapped(i5 + i1);
    const int32_t w3 = z3 * -6436 + z4 * 9633, w4 = z3 * 9633 + z4 * 6437;
    const int32_t odd[4] = {i1 * 4926 - i7 * 7373 + w4, i3 * 4177 - i5 * 20995 + w3, i5 * -4176 - i3 * 20995 + w4,
                            i7 * -4927 - i1 * 7373 + w3};
    for (int k = 0; k < 4; ++k) {
      out[k][c] = bounded(descaled(even[k] + odd[k], shift));
      out[7 - k][c] = bounded(descaled(even[k] - odd[k], shift));
    }
  }
}

TENSORKEEP_INLINE void transposed(const int16_t (&in)[8][8], int16_t (&out)[8][8]) {
  Lanes rows[8];
  for (int i = 0; i < 8; ++i) rows[i] = load(in[i]);
  transpose(rows);
  std::memcpy(out, rows, sizeof out);
}

TENSORKEEP_INLINE void transform_accurate(const int16_t *coefficients, const int16_t *factors, uint8_t *out,
                                          int64_t stride) {
  int16_t values[8][8], passed[8][8];
  uint16_t others = 0;
  for (int i = 0; i < 64; ++i) values[i / 8][i % 8] = wrapped(coefficients[i] * factors[i]);
  for (int i = 8; i < 64; ++i) others = static_cast<uint16_t>(others | coefficients[i]);
  if (others) {
    accurate_pass(values, passed, 11);
  } else {
    for (int i = 0; i < 64; ++i) passed[i / 8][i % 8] = wrapped(values[0][i % 8] * 4);
  }
  transposed(passed, values);
  accurate_pass(values, passed, 18);
  transposed(passed, values);
  for (int i = 0; i < 64; ++i) out[i / 8 * stride + i % 8] = sample(values[i / 8][i % 8]);
}

// What a line of coefficients gives, as few samples as are asked for: 4, with 14 fractional bits, or 2, with 15.
TENSORKEEP_INLINE void reduced_line(const int32_t (&l)[8], int size, int shift, int32_t *out) {
  if (size == 4) {
    const int32_t first = l[0] * 16384, second = l[2] * 15137 - l[6] * 6270;
    const int32_t inner = l[7] * -1730 + l[5] * 11893 - l[3] * 17799 + l[1] * 8697;
    const int32_t outer = l[7] * -4176 - l[5] * 4926 + l[3] * 7373 + l[1] * 20995;
    out[0] = descaled(plus(first + second, outer), shift + 1);
    out[1] = descaled(plus(first - second, inner), shift + 1);
    out[2] = descaled(plus(first - second, -inner), shift + 1);
    out[3] = descaled(plus(first + second, -outer), shift + 1);
  } else {
    const int32_t even = static_cast<int32_t>(static_cast<uint32_t>(l[0]) << 15);
    const int32_t odd = l[7] * -5906 + l[5] * 6967 - l[3] * 10426 + l[1] * 29692;
    out[0] = descaled(plus(even, odd), shift + 2);
    out[1] = descaled(plus(even, -odd), shift + 2);
  }
}

inline void transform_reduced(const int16_t *coefficients, const int16_t *factors, int size, uint8_t *out,
                              int64_t stride) {
  if (size == 1) {  // by a table of 1024 entries in libjpeg, which wraps around
    const int32_t value = descaled(coefficients[0] * factors[0], 3);
    *out = sample(((value + 512) & 1023) - 512);
    return;
  }
  int32_t passed[4][8] = {}, line[8], found[4];
  for (int c = 0; c < 8; ++c) {
    for (int r = 0; r < 8; ++r) line[r] = wrapped(coefficients[8 * r + c] * factors[8 * r + c]);
    reduced_line(line, size, 11, found);
    const bool is_bounded = size == 4 || c;  // the first of two samples keeps 32 bits in libjpeg-turbo
    for (int r = 0; r < size; ++r) passed[r][c] = is_bounded ? bounded(found[r]) : found[r];
  }
  for (int r = 0; r < size; ++r) {
    reduced_line(passed[r], size, 18, found);
    for (int c = 0; c < size; ++c) out[r * stride + c] = sample(found[c]);
  }
}

// ----------------------------------------------------------------------------------------------------- Chroma sampling

// How the samples of a component become a row of the image: as they are (each several times), or smoothly.
enum Enlarging : int32_t { REPEATED = 0, WIDENED = 1, HEIGHTENED = 2, DOUBLED = 3 };

TENSORKEEP_INLINE void widen(const uint8_t *from, int64_t count, uint8_t *out) {
  out[0] = from[0];
  for (int64_t i = 1; i < count; ++i) {
    out[2 * i - 1] = static_cast<uint8_t>((from[i - 1] * 3 + from[i] + 2) >> 2);
    out[2 * i] = static_cast<uint8_t>((from[i] * 3 + from[i - 1] + 1) >> 2);
  }
  out[2 * count - 1] = from[count - 1];
}

TENSORKEEP_INLINE void heighten(const uint8_t *near, const uint8_t *other, int64_t count, int bias, uint8_t *out) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<uint8_t>((near[i] * 3 + other[i] + bias) >> 2);
}

TENSORKEEP_INLINE void double_both(const uint8_t *near, const uint8_t *other, int64_t count, uint16_t *sums,
                                   uint8_t *out) {
  for (int64_t i = 0; i < count; ++i) sums[i] = static_cast<uint16_t>(near[i] * 3 + other[i]);
  out[0] = static_cast<uint8_t>((sums[0] * 4 + 8) >> 4);
  for (int64_t i = 1; i < count; ++i) {
    const uint16_t left = sums[i - 1], right = sums[i];
    out[2 * i - 1] = static_cast<uint8_t>(static_cast<uint16_t>(left * 3 + right + 7) >> 4);
    out[2 * i] = static_cast<uint8_t>(static_cast<uint16_t>(right * 3 + left + 8) >> 4);
  }
  out[2 * count - 1] = static_cast<uint8_t>((sums[count - 1] * 4 + 7) >> 4);
}

// -------------------------------------------------------------------------------------------------------------- Colors

// What the three rows of samples are, and what is made of them.
enum Colors : int32_t { GRAY = 0, GRAY_THRICE = 1, YCC_TO_RGB = 2, RGB = 3, RGB_TO_GRAY = 4 };

TENSORKEEP_INLINE uint8_t byte_of(int32_t value) {
  return static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

TENSORKEEP_INLINE void rgb_of_ycc(const uint8_t *luma, const uint8_t *blue, const uint8_t *red, int64_t count,
                                  uint8_t *out) {
  for (int64_t i = 0; i < count; ++i) {
    const int32_t y = luma[i], cb = blue[i] - 128, cr = red[i] - 128;
    out[3 * i] = byte_of(y + ((91881 * cr + 32768) >> 16));
    out[3 * i + 1] = byte_of(y + ((-22554 * cb - 46802 * cr + 32768) >> 16));
    out[3 * i + 2] = byte_of(y + ((116130 * cb + 32768) >> 16));
  }
}

TENSORKEEP_INLINE void color(const uint8_t *const (&rows)[3], Colors colors, int64_t count, uint8_t *out) {
  switch (colors) {
    case GRAY:
      std::memcpy(out, rows[0], static_cast<size_t>(count));
      break;
    case GRAY_THRICE:
      for (int64_t i = 0; i < count; ++i) out[3 * i] = out[3 * i + 1] = out[3 * i + 2] = rows[0][i];
      break;
    case YCC_TO_RGB:
      rgb_of_ycc(rows[0], rows[1], rows[2], count, out);
      break;
    case RGB:
      for (int64_t i = 0; i < count; ++i)
        for (int k = 0; k < 3; ++k) out[3 * i + k] = rows[k][i];
      break;
    case RGB_TO_GRAY:
      for (int64_t i = 0; i < count; ++i)
        out[i] = static_cast<uint8_t>((19595 * rows[0][i] + 38470 * rows[1][i] + 7471 * rows[2][i] + 32768) >> 16);
      break;
  }
}

}  // namespace

#endif  // TENSORKEEP_NATIVE_JPEG_SAMPLES_H_
