// Strings, many in one call: looked up among words, and hashed as TensorFlow assigns them to buckets.
//
// Strings lie one behind the other. Where each ends is told, or else there is a zero byte between two of them, which
// takes Python less time to make; a string that has a zero byte itself is found out, and nothing is done then.

#include <cstdint>
#include <cstring>

#include "rules.h"

#if defined(__GNUC__)
#define TENSORKEEP_PREFETCH(place) __builtin_prefetch(place)
#else
#define TENSORKEEP_PREFETCH(place) ((void)0)
#endif

namespace {

struct Text {
  const char* at;
  int64_t size;
};

// Goes through strings in their order.
class Texts {
 public:
  Texts(const char* bytes, int64_t size, const int64_t* ends, int64_t count)
      : begin_(bytes), at_(bytes), end_(bytes + size), ends_(ends), left_(count), number_(0) {}

  // The next string; false if there is none, which `are_over` then tells from a wrong number of them.
  bool next(Text* text) {
    if (left_ == 0) return false;
    const char* end = end_;
    if (ends_) {
      end = begin_ + ends_[number_++];
    } else {
      const void* found = std::memchr(at_, 0, end_ - at_);
      if ((found != nullptr) != (left_ > 1)) return false;
      if (found) end = static_cast<const char*>(found);
    }
    *text = {at_, end - at_};
    at_ = ends_ ? end : end + 1;
    --left_;
    return true;
  }

  bool are_over() const { return left_ == 0; }

 private:
  const char* begin_;
  const char* at_;
  const char* end_;
  const int64_t* ends_;
  int64_t left_, number_;
};

template <class T>
T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

uint64_t word(const char* from) { return load<uint64_t>(from); }

uint64_t half(const char* from) { return load<uint32_t>(from); }

// ------------------------------------------------------------------------------------------------ Words and their places

// A place of a table that has twice as many as words, about: open addressing, step by step.
struct Slot {
  uint32_t tag;     // high bits of the hash
  uint32_t size;    // of the word
  int64_t start;    // of the word, in the bytes of all
  int64_t number;   // of the word, counted from 1; 0 where there is none
};

uint64_t scatter(uint64_t bits) {
  bits *= 0xD6E8FEB86659FD93u;
  bits ^= bits >> 32;
  bits *= 0xCA9B0C7EBA1DA115u;
  return bits ^ bits >> 29;
}

// Not to be kept: it depends on the seed, and on the order of bytes of the processor.
uint64_t table_hash(const Text& text, uint64_t seed) {
  uint64_t state = seed ^ static_cast<uint64_t>(text.size) * 0x9E3779B97F4A7C15u;
  const char* at = text.at;
  int64_t left = text.size;
  for (; left >= 8; left -= 8, at += 8) state = scatter(state ^ word(at));
  uint64_t rest = 0;
  if (left >= 4) {
    rest = half(at) | half(at + left - 4) << 32;
  } else if (left > 0) {
    rest = uint64_t(uint8_t(at[0])) | uint64_t(uint8_t(at[left >> 1])) << 8 | uint64_t(uint8_t(at[left - 1])) << 16;
  }
  return scatter(state ^ rest);
}

bool is_same(const Slot& slot, uint32_t tag, const Text& text, const char* words) {
  return slot.tag == tag && slot.size == text.size && std::memcmp(words + slot.start, text.at, text.size) == 0;
}

// ------------------------------------------------------------------------------------------------ Fingerprint64

constexpr uint64_t kFirst = 0xC3A5C85C97CB3127u, kSecond = 0xB492B66FBE98F273u, kThird = 0x9AE16A3B2F90404Fu;

uint64_t rotate(uint64_t bits, int right) { return bits >> right | bits << (64 - right); }

uint64_t mix(uint64_t bits) { return bits ^ bits >> 47; }

uint64_t join(uint64_t u, uint64_t v, uint64_t factor) {
  return mix((v ^ mix((u ^ v) * factor)) * factor) * factor;
}

uint64_t factor_of(int64_t size) { return kThird + 2 * static_cast<uint64_t>(size); }

uint64_t fingerprint_to_16(const char* at, int64_t size) {
  if (size >= 8) {
    const uint64_t factor = factor_of(size), a = word(at) + kThird, b = word(at + size - 8);
    return join(rotate(b, 37) * factor + a, (rotate(a, 25) + b) * factor, factor);
  }
  if (size >= 4) {
    return join(static_cast<uint64_t>(size) + (half(at) << 3), half(at + size - 4), factor_of(size));
  }
  if (size == 0) return kThird;
  const uint64_t a = uint8_t(at[0]), b = uint8_t(at[size >> 1]), c = uint8_t(at[size - 1]);
  return mix((a + (b << 8)) * kThird ^ (static_cast<uint64_t>(size) + (c << 2)) * kFirst) * kThird;
}

uint64_t fingerprint_to_64(const char* at, int64_t size) {
  const uint64_t factor = factor_of(size);
  const uint64_t a = word(at) * (size <= 32 ? kSecond : kThird), b = word(at + 8);
  const uint64_t c = word(at + size - 8) * factor, d = word(at + size - 16) * kThird;
  const uint64_t y = rotate(a + b, 43) + rotate(c, 30) + d, second = a + rotate(b + kThird, 18) + c;
  if (size <= 32) return join(y, second, factor);
  const uint64_t z = join(y, second, factor);
  const uint64_t e = word(at + 16) * factor, f = word(at + 24);
  const uint64_t g = (y + word(at + size - 32)) * factor, h = (z + word(at + size - 24)) * factor;
  return join(rotate(e + f, 43) + rotate(g, 30) + h, e + rotate(f + a, 18) + g, factor);
}

struct Pair {
  uint64_t first, second;
};

Pair weakly(const char* at, uint64_t a, uint64_t b) {
  a += word(at);
  b = rotate(b + a + word(at + 24), 21);
  const uint64_t total = a + word(at + 8) + word(at + 16);
  return {total + word(at + 24), b + rotate(total, 44) + a};
}

uint64_t fingerprint_of_long(const char* at, int64_t size) {
  constexpr uint64_t kSeed = 81;
  uint64_t y = kSeed * kSecond + 113, z = mix(y * kThird + 113) * kThird, x = kSeed * kThird + word(at);
  Pair v{0, 0}, w{0, 0};
  const auto step = [&](const char* from, uint64_t factor, uint64_t weight) {
    x = rotate(x + y + v.first + word(from + 8), 37) * factor;
    y = rotate(y + v.second + word(from + 48), 42) * factor;
    x ^= w.second * weight;
    y += v.first * weight + word(from + 40);
    z = rotate(z + w.first, 33) * factor;
    v = weakly(from, v.second * factor, x + w.first);
    w = weakly(from + 32, z + w.second, y + word(from + 16));
    const uint64_t kept = z;
    z = x;
    x = kept;
  };
  const int64_t end = (size - 1) / 64 * 64, rest = (size - 1) & 63;
  for (int64_t from = 0; from < end; from += 64) step(at + from, kSecond, 1);
  const uint64_t factor = kSecond + ((z & 0xFF) << 1);
  w.first += static_cast<uint64_t>(rest);
  v.first += w.first;
  w.first += v.first;
  step(at + size - 64, factor, 9);
  return join(join(v.first, w.first, factor) + mix(y) * kFirst + z, join(v.second, w.second, factor) + x, factor);
}

uint64_t fingerprint(const Text& text) {
  if (text.size <= 16) return fingerprint_to_16(text.at, text.size);
  return text.size <= 64 ? fingerprint_to_64(text.at, text.size) : fingerprint_of_long(text.at, text.size);
}

}  // namespace

// Puts words into a table of slots, as many as a power of two and more than words, all zero before. 0 if there are not so
// many words, if one is there twice, or has 4 GiB.
TENSORKEEP_EXPORT int32_t words_gather(const char* bytes, int64_t size, const int64_t* ends, int64_t count,
                                       uint64_t seed, void* slots, int64_t slot_count) {
  Slot* table = static_cast<Slot*>(slots);
  static_assert(sizeof(Slot) == 24, "as texts.py makes them");
  Texts words(bytes, size, ends, count);
  Text text;
  for (int64_t number = 1; words.next(&text); ++number) {
    const uint64_t hash = table_hash(text, seed);
    const uint32_t tag = static_cast<uint32_t>(hash >> 32);
    uint64_t at = hash & (slot_count - 1);
    for (; table[at].number; at = (at + 1) & (slot_count - 1)) {
      if (is_same(table[at], tag, text, bytes)) return 0;
    }
    if (text.size >= int64_t(1) << 32) return 0;
    table[at] = {tag, static_cast<uint32_t>(text.size), text.at - bytes, number};
  }
  return words.are_over();
}

// The numbers of words, counted from 0, that strings are; -1 of one that is none. 0 if there are not so many strings.
TENSORKEEP_EXPORT int32_t words_find(const char* bytes, int64_t size, const int64_t* ends, int64_t count,
                                     const char* words, uint64_t seed, const void* slots, int64_t slot_count,
                                     int64_t* numbers) {
  // Some at a time, so that the memory of their slots and words is waited for once for all of them.
  constexpr int64_t kSome = 32;
  const Slot* table = static_cast<const Slot*>(slots);
  Texts texts(bytes, size, ends, count);
  Text some[kSome];
  uint64_t hashes[kSome];
  for (int64_t first = 0; first < count; first += kSome) {
    const int64_t end = count - first < kSome ? count - first : kSome;
    for (int64_t n = 0; n < end; ++n) {
      if (!texts.next(&some[n])) return 0;
      hashes[n] = table_hash(some[n], seed);
      TENSORKEEP_PREFETCH(table + (hashes[n] & (slot_count - 1)));
    }
    for (int64_t n = 0; n < end; ++n) {
      TENSORKEEP_PREFETCH(words + table[hashes[n] & (slot_count - 1)].start);
    }
    for (int64_t n = 0; n < end; ++n) {
      const uint32_t tag = static_cast<uint32_t>(hashes[n] >> 32);
      uint64_t at = hashes[n] & (slot_count - 1);
      while (table[at].number && !is_same(table[at], tag, some[n], words)) at = (at + 1) & (slot_count - 1);
      numbers[first + n] = table[at].number - 1;
    }
  }
  return texts.are_over();
}

// FarmHash's Fingerprint64 of every string, on processors whose words begin with the low byte. 0 if there are not so
// many strings.
TENSORKEEP_EXPORT int32_t texts_fingerprint(const char* bytes, int64_t size, const int64_t* ends, int64_t count,
                                            uint64_t* out) {
  Texts texts(bytes, size, ends, count);
  Text text;
  while (texts.next(&text)) *out++ = fingerprint(text);
  return texts.are_over();
}
