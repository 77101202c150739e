// The Huffman-coded part of a JPEG file, as _jpeg_entropy.py describes it: bits, codes and blocks of coefficients.
//
// Nothing is read beyond the end of the file. After the last byte before a marker, bits are zeros; `Bits::is_sound` tells
// whether any of these were taken, whether the file ended without a marker, or bytes stood there that do not belong.

#ifndef TENSORKEEP_NATIVE_JPEG_CODES_H_
#define TENSORKEEP_NATIVE_JPEG_CODES_H_

#include <cstdint>
#include <cstring>

#include "rules.h"

#if defined(__GNUC__)
#define TENSORKEEP_APART __attribute__((noinline))
#else
#define TENSORKEEP_APART __declspec(noinline)
#endif

namespace {

constexpr int LOOK = 11;       // bits that find a code, and the number after it if there is room, in one step
constexpr int LONGEST = 16;    // bits of a code
constexpr int LARGEST_SIZE = 15;  // bits of a number

// Where the coefficients of a file stand in their block; a damaged run may reach sixteen beyond.
constexpr uint8_t ORDER[64 + 16] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13,
    6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31,
    39, 46, 53, 60, 61, 54, 47, 55, 62, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63};

// ---------------------------------------------------------------------------------------------------------------- Bits

struct Bits {
  const uint8_t *at, *end;
  uint64_t held = 0;  // the next bits, from the highest on
  int32_t count = 0;  // how many of them are there
  bool is_odd = false;  // the file ended, or had bytes that do not belong

  TENSORKEEP_INLINE bool is_sound() const { return count >= 0 && !is_odd; }

  // At least 56 bits, if there are as many before the next marker.
  TENSORKEEP_INLINE void fill() {
    if (end - at >= 8) {
      uint64_t next = 0;
      for (int i = 0; i < 8; ++i) next = next << 8 | at[i];
      if (!((~next - 0x0101010101010101u) & next & 0x8080808080808080u)) {  // no byte is 0xFF
        held |= next >> count;
        at += (63 - count) >> 3;
        count |= 56;
        return;
      }
    }
    *this = filled_slowly(*this);
  }

  // By value, so that the bits of whoever takes them stay in registers.
  static TENSORKEEP_APART Bits filled_slowly(Bits bits) {
    while (bits.count < 56) {
      bits.is_odd |= bits.count < 0 || bits.at >= bits.end;
      if (bits.is_odd) break;
      const uint8_t byte = *bits.at;
      if (byte == 0xFF) {
        bits.is_odd = bits.end - bits.at < 2 || bits.at[1] == 0xFF;
        if (bits.is_odd || bits.at[1]) break;
        ++bits.at;
      }
      ++bits.at;
      bits.held |= static_cast<uint64_t>(byte) << (56 - bits.count);
      bits.count += 8;
    }
    return bits;
  }

  TENSORKEEP_INLINE void drop(int bits) {
    held <<= bits;
    count -= bits;
  }
};

// --------------------------------------------------------------------------------------------------------------- Codes

// What LOOK bits begin with: a length in bits 0 to 5, a kind in 6 and 7, zeros before a number in 8 to 11, the number in
// 16 to 31; of a bare code, its symbol in 8 to 15.
enum Kind : uint32_t { NUMBER = 0 << 6, BARE = 1 << 6, ZEROS = 2 << 6, LONG = 3 << 6 };

TENSORKEEP_INLINE int32_t signed_number(uint64_t held, int size) {
  const int32_t value = static_cast<int32_t>(held >> (64 - size));
  return value >> (size - 1) ? value : value - (1 << size) + 1;
}

struct Codes {
  uint32_t entries[1 << LOOK];
  uint32_t limits[LONGEST + 1];  // the first 16 bits that are too large for a code of this length
  int32_t offsets[LONGEST + 1];  // added to a code of this length: the place of its symbol
  uint8_t symbols[256];
  bool is_there = false;

  // From how many codes there are of each length, and their symbols; false for what no decoder accepts.
  bool build(const uint8_t *counts, const uint8_t *given, int total, bool is_dc) {
    std::memset(symbols, 0, sizeof symbols);
    std::memcpy(symbols, given, static_cast<size_t>(total));
    for (uint32_t &entry : entries) entry = LONG;
    uint32_t code = 0;
    int at = 0;
    for (int length = 1; length <= LONGEST; ++length, code <<= 1) {
      offsets[length] = at - static_cast<int32_t>(code);
      for (int i = 0; i < counts[length - 1]; ++i, ++code, ++at) {
        if (is_dc && symbols[at] > LARGEST_SIZE) return false;
        if (code + 1 >= 1u << length) return false;  // none is all ones
        if (length <= LOOK) enter(code, length, symbols[at], is_dc);
      }
      limits[length] = code << (LONGEST - length);
    }
    return is_there = true;
  }

  void enter(uint32_t code, int length, uint8_t symbol, bool is_dc) {
    const int size = symbol & 15, rest = LOOK - length;
    for (uint32_t i = 0; i < 1u << rest; ++i) {
      const uint32_t place = code << rest | i;
      if (!size && !is_dc) {
        entries[place] = ZEROS | static_cast<uint32_t>(length) | static_cast<uint32_t>(symbol) << 8;
      } else if (size > rest) {
        entries[place] = BARE | static_cast<uint32_t>(length) | static_cast<uint32_t>(symbol) << 8;
      } else {
        const uint64_t held = static_cast<uint64_t>(place) << (64 - LOOK) << length;
        const int32_t value = size ? signed_number(held, size) : 0;
        const uint32_t run = symbol >> 4;
        entries[place] = NUMBER | static_cast<uint32_t>(length + size) | run << 8 | static_cast<uint32_t>(value) << 16;
      }
    }
  }

  // The length of the code that the bits begin with, and its symbol; 0 if there is none.
  int find(uint64_t held, uint8_t &symbol) const {
    const uint32_t next = static_cast<uint32_t>(held >> (64 - LONGEST));
    for (int length = 1; length <= LONGEST; ++length)
      if (next < limits[length]) {
        symbol = symbols[(offsets[length] + static_cast<int32_t>(next >> (LONGEST - length))) & 255];
        return length;
      }
    return 0;
  }
};

// -------------------------------------------------------------------------------------------------------------- Blocks

// Takes a code that has no number with it in its entry: its symbol, or -1 if there is no such code.
TENSORKEEP_INLINE int32_t take_code(Bits &bits, const Codes &codes, uint32_t entry) {
  uint8_t symbol = static_cast<uint8_t>(entry >> 8);
  int length = static_cast<int>(entry & 63);
  if ((entry & LONG) == LONG) {
    length = codes.find(bits.held, symbol);
    if (!length) return -1;
  }
  bits.drop(length);
  return symbol;
}

TENSORKEEP_INLINE bool take_dc(Bits &bits, const Codes &codes, int32_t &before) {
  bits.fill();
  const uint32_t entry = codes.entries[bits.held >> (64 - LOOK)];
  if ((entry & LONG) == NUMBER) {
    bits.drop(static_cast<int>(entry & 63));
    before += static_cast<int32_t>(entry) >> 16;
    return true;
  }
  const int32_t size = take_code(bits, codes, entry);
  if (size < 0) return false;
  if (size) before += signed_number(bits.held, size);
  bits.drop(size);
  return true;
}

// Takes a block, and puts its coefficients, all zeros before, in natural order; if not `is_kept`, it is passed over. How
// far it reaches in the order of the file, 0 to 63; -1 for damage.
template <bool is_kept>
TENSORKEEP_INLINE int32_t take_block(Bits &bits, const Codes &dc, const Codes &ac, int32_t &before,
                                     int16_t *coefficients) {
  if (!take_dc(bits, dc, before)) return -1;
  before = static_cast<int16_t>(static_cast<uint32_t>(before));
  if (is_kept) coefficients[0] = static_cast<int16_t>(before);
  int32_t last = 0;
  for (int32_t k = 1; k < 64; ++k) {
    if (bits.count < 32) bits.fill();
    const uint32_t entry = ac.entries[bits.held >> (64 - LOOK)];
    int32_t value;
    if ((entry & LONG) == NUMBER) {
      bits.drop(static_cast<int>(entry & 63));
      k += static_cast<int32_t>(entry >> 8 & 15);
      value = static_cast<int32_t>(entry) >> 16;
    } else {
      const int32_t symbol = take_code(bits, ac, entry);
      if (symbol < 0) return -1;
      const int size = symbol & 15;
      if (!size) {
        if (symbol != 0xF0) break;
        k += 15;
        continue;
      }
      k += symbol >> 4;
      value = signed_number(bits.held, size);
      bits.drop(size);
    }
    if (is_kept) coefficients[ORDER[k]] = static_cast<int16_t>(value);
    last = k;
  }
  return bits.is_sound() ? (last < 64 ? last : 63) : -1;
}

}  // namespace

#endif  // TENSORKEEP_NATIVE_JPEG_CODES_H_
