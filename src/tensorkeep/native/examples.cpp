// Examples, as TensorFlow's programs write them, parsed in one pass over their bytes: where the list of each feature that
// is asked for lies, and how many values it has; then the values.
//
// Only the ordinary is read: an Example of one `features` field, entries of a key and then a value, lists that are packed,
// keys that occur once. Whatever else the bytes may be, nothing is read beyond their end, and the caller is told that they
// are not ordinary.

#include <cstdint>
#include <cstring>

#include "rules.h"

namespace {

constexpr uint8_t kFirst = 0x0A, kSecond = 0x12;
constexpr int64_t kLongestVarint = 10;

struct Span {
  const uint8_t* at;
  const uint8_t* end;

  bool is_over() const { return at >= end; }
  int64_t size() const { return end - at; }
};

// Takes a tag of one byte; false if another one stands there.
bool take_tag(Span& from, uint8_t tag) { return !from.is_over() && *from.at++ == tag; }

// Takes a length, of up to five bytes, and that many bytes after it; false if they are not there.
inline bool take_bytes(Span& from, Span& out) {
  if (from.is_over()) return false;
  uint64_t length = *from.at++;
  if (length >= 0x80) {
    length &= 0x7F;
    for (int shift = 7;; shift += 7) {
      if (shift > 28 || from.is_over()) return false;
      const uint8_t byte = *from.at++;
      length |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) break;
    }
  }
  if (length > static_cast<uint64_t>(from.size())) return false;
  out = {from.at, from.at + length};
  from.at += length;
  return true;
}

// Takes a field of bytes that is all there is.
bool take_only(Span from, uint8_t tag, Span& out) {
  return take_tag(from, tag) && take_bytes(from, out) && from.is_over();
}

// How many varints bytes are, none of them too long; -1 if they are none.
int64_t count_varints(Span from) {
  int64_t count = 0, length = 0;
  for (; !from.is_over(); ++from.at) {
    ++length;
    if (*from.at >= 0x80) continue;
    if (length > kLongestVarint) return -1;
    ++count;
    length = 0;
  }
  return length ? -1 : count;
}

int64_t count_strings(Span from) {
  int64_t count = 0;
  Span one;
  for (; !from.is_over(); ++count) {
    if (!take_tag(from, kFirst) || !take_bytes(from, one)) return -1;
  }
  return count;
}

// The features that are asked for. Kinds are the tags of their lists: of strings, of floats, of integers.
struct Wanted {
  const uint8_t* text;
  const int64_t* ends;  // of each key in the text
  const uint8_t* kinds;
  int64_t count;

  Span key(int64_t at) const { return {text + (at ? ends[at - 1] : 0), text + ends[at]}; }
  bool is_key(int64_t at, Span name) const {
    const Span wanted = key(at);
    return wanted.size() == name.size() && !std::memcmp(wanted.at, name.at, name.size());
  }
};

uint64_t hash_of(Span name) {
  uint64_t hash = 0xCBF29CE484222325ull;
  for (const uint8_t* at = name.at; at < name.end; ++at) hash = (hash ^ *at) * 0x100000001B3ull;
  return hash ^ hash >> 29;
}

// Finds keys by a table of their hashes, of a power of two places, which are at least twice as many as keys.
struct Keys {
  const Wanted& wanted;
  int64_t* places;
  int64_t mask;

  Keys(const Wanted& of, int64_t* room, int64_t size) : wanted(of), places(room), mask(size - 1) {
    for (int64_t i = 0; i < size; ++i) places[i] = -1;
    for (int64_t i = 0; i < wanted.count; ++i) {
      int64_t at = static_cast<int64_t>(hash_of(wanted.key(i))) & mask;
      while (places[at] >= 0) at = (at + 1) & mask;
      places[at] = i;
    }
  }

  int64_t find(Span name) const {
    int64_t at = static_cast<int64_t>(hash_of(name)) & mask;
    for (; places[at] >= 0; at = (at + 1) & mask) {
      if (wanted.is_key(places[at], name)) return places[at];
    }
    return -1;
  }
};

// The keys of the example before, in their order: programs write the same ones every time, and then none is searched for.
class Order {
 public:
  explicit Order(const Keys& keys) : keys_(keys) {
    for (int64_t i = 0; i < kRemembered; ++i) last_[i] = -1;
  }

  // Which of the wanted keys it is that stands at a place of an example; -1 if none.
  int64_t find(int64_t place, Span name) {
    if (place >= kRemembered) return keys_.find(name);
    int64_t& last = last_[place];
    if (last < 0 || !keys_.wanted.is_key(last, name)) last = keys_.find(name);
    return last;
  }

 private:
  static constexpr int64_t kRemembered = 256;
  const Keys& keys_;
  int64_t last_[kRemembered];
};

// Where the values of a feature lie, and how many these are. `start` is -1 for a feature that an example has not, and -2 for
// one that has no list.
struct Found {
  int64_t start, end, count;
};

// The list of a feature; false if it is not ordinary.
bool find_list(Span feature, uint8_t kind, const uint8_t* text, Found& found) {
  Span list;
  if (feature.is_over()) return true;
  if (!take_only(feature, kind, list)) return false;
  if (kind == kFirst) {
    found = {list.at - text, list.end - text, count_strings(list)};
    return found.count >= 0;
  }
  Span numbers = {list.end, list.end};
  if (!list.is_over() && !take_only(list, kFirst, numbers)) return false;
  if (kind == kSecond && numbers.size() % 4) return false;
  found = {numbers.at - text, numbers.end - text, kind == kSecond ? numbers.size() / 4 : count_varints(numbers)};
  return found.count >= 0;
}

}  // namespace

// Looks through `count` Examples, which lie one after the other in `text` up to `ends`. What is found goes to
// found[feature * count + example]. `places` is room for `place_count` numbers: see Keys. 0 if something is not ordinary.
TENSORKEEP_EXPORT int32_t examples_scan(const uint8_t* text, const int64_t* ends, int64_t count, const uint8_t* key_text,
                                        const int64_t* key_ends, const uint8_t* kinds, int64_t key_count,
                                        int64_t* places, int64_t place_count, int64_t* numbers) {
  const Wanted wanted{key_text, key_ends, kinds, key_count};
  const Keys keys(wanted, places, place_count);
  Order order(keys);
  static_assert(sizeof(Found) == 3 * sizeof(int64_t), "numbers only");
  const Found nothing{-1, -1, 0};
  for (int64_t i = 0; i < count * key_count; ++i) std::memcpy(numbers + 3 * i, &nothing, sizeof(nothing));
  for (int64_t i = 0; i < count; ++i) {
    const Span example{text + (i ? ends[i - 1] : 0), text + ends[i]};
    Span entries, entry, key, feature;
    if (example.is_over()) continue;
    if (!take_only(example, kFirst, entries)) return 0;
    for (int64_t place = 0; !entries.is_over(); ++place) {
      if (!take_tag(entries, kFirst) || !take_bytes(entries, entry)) return 0;
      if (!take_tag(entry, kFirst) || !take_bytes(entry, key)) return 0;
      if (!take_only(entry, kSecond, feature)) return 0;
      const int64_t which = order.find(place, key);
      if (which < 0) continue;
      int64_t* to = numbers + 3 * (which * count + i);
      if (to[0] != nothing.start) return 0;
      Found found{-2, -2, 0};
      if (!find_list(feature, kinds[which], text, found)) return 0;
      std::memcpy(to, &found, sizeof(found));
    }
  }
  return 1;
}

// Of each of `key_count` features: how many values there are in all, and how many each example has; -1 for the latter if
// one has no list or another number.
TENSORKEEP_EXPORT void examples_sizes(const int64_t* numbers, int64_t key_count, int64_t count, int64_t* sizes) {
  for (int64_t which = 0; which < key_count; ++which) {
    const int64_t* list = numbers + 3 * which * count;
    int64_t total = 0, each = list[2];
    for (int64_t i = 0; i < count; ++i, list += 3) {
      total += list[2];
      if (list[0] < 0 || list[2] != each) each = -1;
    }
    sizes[2 * which] = total;
    sizes[2 * which + 1] = each;
  }
}

namespace {

// Lists of the features `which` of `count` examples, one after the other.
template <class Function>
void each_list(const int64_t* numbers, int64_t count, const int64_t* which, int64_t which_count, Function function) {
  for (int64_t k = 0; k < which_count; ++k) {
    const int64_t* list = numbers + 3 * which[k] * count;
    for (int64_t i = 0; i < count; ++i, list += 3) {
      if (list[2]) function(list[0], list[1], list[2]);
    }
  }
}

}  // namespace

// The floats of lists that were found, one after the other.
TENSORKEEP_EXPORT void examples_floats(const uint8_t* text, const int64_t* numbers, int64_t count, const int64_t* which,
                                       int64_t which_count, float* out) {
  each_list(numbers, count, which, which_count, [&](int64_t start, int64_t, int64_t values) {
    std::memcpy(out, text + start, sizeof(float) * values);
    out += values;
  });
}

// The integers of lists that were found, one after the other. What is beyond 64 bits of one is dropped.
TENSORKEEP_EXPORT void examples_integers(const uint8_t* text, const int64_t* numbers, int64_t count,
                                         const int64_t* which, int64_t which_count, int64_t* out) {
  each_list(numbers, count, which, which_count, [&](int64_t start, int64_t, int64_t values) {
    const uint8_t* at = text + start;
    for (; values > 0; --values) {
      uint64_t value = 0;
      for (int shift = 0;; shift += 7) {
        const uint8_t byte = *at++;
        value |= static_cast<uint64_t>(byte & 0x7F) << shift;
        if (byte < 0x80) break;
      }
      *out++ = static_cast<int64_t>(value);
    }
  });
}

// Where each string of lists that were found begins and ends, one after the other.
TENSORKEEP_EXPORT void examples_strings(const uint8_t* text, const int64_t* numbers, int64_t count, const int64_t* which,
                                        int64_t which_count, int64_t* out) {
  each_list(numbers, count, which, which_count, [&](int64_t start, int64_t end, int64_t values) {
    Span list{text + start, text + end}, one;
    for (; values > 0; --values) {
      if (!take_tag(list, kFirst) || !take_bytes(list, one)) return;  // examples_scan has seen that they are there
      *out++ = one.at - text;
      *out++ = one.end - text;
    }
  });
}
