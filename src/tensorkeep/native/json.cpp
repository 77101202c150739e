// Reads JSON into a tape: nodes in the order of the text, and all its arrays of numbers as flat buffers, so that nothing
// of Python's is made for a number. What a tape is stands in json_tape.py; the same reader in Python is _json_reader.py.
//
// Nothing here recurses, and memory grows with what has been read: a text of n bytes takes at most 16 n bytes or so.

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rules.h"

namespace {

enum Kind : int64_t { kNull, kFalse, kTrue, kInt, kUint, kFloat, kString, kUnescaped, kNumbers, kSize, kList, kObject, kKey };

// As json_tape.py numbers them.
enum Problem : int64_t {
  kFine,
  kEmpty,
  kInvalidValue,
  kNoName,
  kNoColon,
  kNoCommaInObject,
  kNoCommaInArray,
  kBadHex,
  kBadSurrogate,
  kBadEscape,
  kNoQuote,
  kBadEncoding,
  kTooBig,
  kNoFraction,
  kNoExponent,
  kTooDeep,
  kTooMany,
  kNoMemory,
};

constexpr int64_t kFloats = 1 << 8, kMixed = 1 << 9;  // flags of kNumbers
constexpr int kRankShift = 16, kFirstShift = 24, kAuxShift = 16;
constexpr int64_t kMostRank = 255;

struct Node {
  int64_t head, value;
};

union Number {
  int64_t whole;
  uint64_t big;
  double real;
};

struct Frame {
  int64_t node;        // of the list or object
  int64_t count;       // of what is in it so far
  int64_t undo;        // keys of an object: where its notes in `undo` begin
  int64_t dropped;     // the node of a key that is there a second time, or -1
  int64_t kept;        // how many numbers there were before it
  bool is_object;
};

struct Reader {
  const char *start, *at, *end;
  int64_t most_depth, most_numbers, most_nodes;
  int64_t problem = kFine;
  const char* where = nullptr;

  std::vector<Node> tape;
  std::vector<Number> numbers;
  std::string strings;
  std::vector<int64_t> keys;  // offset in strings, length
  std::unordered_map<std::string, int64_t> key_numbers;
  std::vector<int64_t> object_of_key;                  // the innermost open object that has the key, by its number
  std::vector<std::pair<int64_t, int64_t>> undo;       // keys, and what was noted of them before
  std::vector<Frame> frames;
  std::string scratch;

  bool fail(Problem which, const char* place) {
    problem = which;
    where = place;
    return false;
  }

  void skip() {
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) ++at;
  }

  bool add(int64_t head, int64_t value) {
    if (static_cast<int64_t>(tape.size()) >= most_nodes) return fail(kTooMany, at);
    tape.push_back({head, value});
    return true;
  }

  // ------------------------------------------------------------------------------------------------------- Numbers

  static bool digit(char c) { return c >= '0' && c <= '9'; }

  bool begins_number() const { return at < end && (digit(*at) || *at == '-' || *at == 'N' || *at == 'I'); }

  bool word(const char* text, size_t size) {
    if (static_cast<size_t>(end - at) < size || std::memcmp(at, text, size) != 0) return false;
    at += size;
    return true;
  }

  bool special(const char* first, bool minus, Kind* kind, Number* out) {
    *kind = kFloat;
    if (word("NaN", 3)) {
      out->real = std::numeric_limits<double>::quiet_NaN();
      return true;
    }
    if (!word("Inf", 3)) return fail(kInvalidValue, first);
    if (at < end && *at == 'i' && !word("inity", 5)) return fail(kInvalidValue, first);
    out->real = minus ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    return true;
  }

  // Reads the number at `at`. Whole numbers that fit are exact; all others are the nearest doubles.
  bool number(Kind* kind, Number* out) {
    const char* first = at;
    const bool minus = *at == '-';
    if (minus) ++at;
    if (at >= end) return fail(kInvalidValue, at);
    if (!digit(*at)) return (*at == 'N' || *at == 'I') ? special(first, minus, kind, out) : fail(kInvalidValue, at);
    uint64_t mantissa = 0;
    const char* digits = at;
    bool fits = true;
    if (*at == '0') {
      ++at;
    } else {
      for (; at < end && digit(*at); ++at) {
        const uint64_t next = static_cast<uint64_t>(*at - '0');
        if (mantissa >= 1844674407370955161u && (mantissa > 1844674407370955161u || next > 5)) fits = false;
        mantissa = mantissa * 10 + next;
      }
    }
    const bool whole = at >= end || (*at != '.' && *at != 'e' && *at != 'E');
    if (whole && fits) {
      if (!minus) {
        *kind = mantissa >> 63 ? kUint : kInt;
        out->big = mantissa;
        return true;
      }
      if (mantissa <= uint64_t(1) << 63) {
        *kind = kInt;
        out->big = ~mantissa + 1;
        return true;
      }
    }
    *kind = kFloat;
    int64_t length = at - digits, scale = 0;
    if (at < end && *at == '.') {
      ++at;
      const char* fraction = at;
      for (; at < end && digit(*at); ++at) mantissa = mantissa * 10 + static_cast<uint64_t>(*at - '0');
      if (at == fraction) return fail(kNoFraction, at);
      length += at - fraction;
      scale = fraction - at;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
      ++at;
      bool below = false;
      if (at < end && (*at == '+' || *at == '-')) below = *at++ == '-';
      const char* exponent = at;
      int64_t power = 0;
      for (; at < end && digit(*at); ++at) power = power < 100000000 ? power * 10 + (*at - '0') : power;
      if (at == exponent) return fail(kNoExponent, at);
      scale += below ? -power : power;
    }
    // Up to 19 digits the mantissa is exact, and if it and the power of ten are exact doubles, one operation rounds once.
    if (length <= 19 && mantissa <= uint64_t(1) << 53 && scale >= -22 && scale <= 22) {
      static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
      const double exact = static_cast<double>(mantissa);
      const double value = scale < 0 ? exact / powers[-scale] : exact * powers[scale];
      out->real = minus ? -value : value;
      return true;
    }
    return nearest(first, out);
  }

  bool nearest(const char* first, Number* out) {
#if defined(__cpp_lib_to_chars) && __cpp_lib_to_chars >= 201611L
    double value = 0;
    if (std::from_chars(first, at, value).ec == std::errc()) {
      out->real = value;
      return true;
    }
#endif
    // Beyond the range of doubles, or no such function in this compiler's library: Python never sets another locale.
    scratch.assign(first, at);
    out->real = std::strtod(scratch.c_str(), nullptr);
    return std::isinf(out->real) ? fail(kTooBig, first) : true;
  }

  // ------------------------------------------------------------------------------------------------------- Strings

  bool hex(uint32_t* out) {
    *out = 0;
    for (int i = 0; i < 4; ++i, ++at) {
      const char c = at < end ? *at : '\0';
      uint32_t value;
      if (digit(c)) value = static_cast<uint32_t>(c - '0');
      else if (c >= 'a' && c <= 'f') value = static_cast<uint32_t>(c - 'a') + 10;
      else if (c >= 'A' && c <= 'F') value = static_cast<uint32_t>(c - 'A') + 10;
      else return fail(kBadHex, at);
      *out = *out * 16 + value;
    }
    return true;
  }

  void put_utf8(uint32_t c) {
    if (c < 0x80) {
      scratch.push_back(static_cast<char>(c));
    } else if (c < 0x800) {
      scratch.push_back(static_cast<char>(0xC0 | (c >> 6)));
      scratch.push_back(static_cast<char>(0x80 | (c & 0x3F)));
    } else if (c < 0x10000) {
      scratch.push_back(static_cast<char>(0xE0 | (c >> 12)));
      scratch.push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
      scratch.push_back(static_cast<char>(0x80 | (c & 0x3F)));
    } else {
      scratch.push_back(static_cast<char>(0xF0 | (c >> 18)));
      scratch.push_back(static_cast<char>(0x80 | ((c >> 12) & 0x3F)));
      scratch.push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
      scratch.push_back(static_cast<char>(0x80 | (c & 0x3F)));
    }
  }

  bool escape() {
    const char* backslash = at++;
    const char c = at < end ? *at : '\0';
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (const char* found = c ? std::strchr(from, c) : nullptr) {
      scratch.push_back(to[found - from]);
      ++at;
      return true;
    }
    if (c != 'u') return fail(kBadEscape, backslash);
    ++at;
    uint32_t code, low;
    if (!hex(&code)) return false;
    if (code >= 0xD800 && code <= 0xDFFF) {
      if (code > 0xDBFF || end - at < 2 || at[0] != '\\' || at[1] != 'u') return fail(kBadSurrogate, backslash);
      at += 2;
      if (!hex(&low)) return false;
      if (low < 0xDC00 || low > 0xDFFF) return fail(kBadSurrogate, backslash);
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    put_utf8(code);
    return true;
  }

  // Reads the string whose quote is at `at`. It lies in the text, or, if it has escapes, in `scratch`.
  bool string(bool* unescaped, const char** text, int64_t* size) {
    const char* first = ++at;
    *unescaped = false;
    while (true) {
      const char* run = at;
      while (at < end && *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= 0x20) ++at;
      if (*unescaped) scratch.append(run, at);
      if (at >= end || *at == '\0') return fail(kNoQuote, at);
      if (*at == '"') break;
      if (*at != '\\') return fail(kBadEncoding, at);
      if (!*unescaped) scratch.assign(first, at);
      *unescaped = true;
      if (!escape()) return false;
    }
    *text = *unescaped ? scratch.data() : first;
    *size = *unescaped ? static_cast<int64_t>(scratch.size()) : at - first;
    ++at;
    return true;
  }

  bool string_node() {
    bool unescaped;
    const char* text;
    int64_t size;
    if (!string(&unescaped, &text, &size)) return false;
    if (!unescaped) return add(kString | size << kAuxShift, text - start);
    const int64_t offset = static_cast<int64_t>(strings.size());
    strings.append(text, static_cast<size_t>(size));
    return add(kUnescaped | size << kAuxShift, offset);
  }

  // ----------------------------------------------------------------------------------------------- Lists of numbers

  // Reads the list of numbers that begins at `at`, behind its bracket. If it is none, nothing has been read and *is_one
  // is false.
  bool run_of_numbers(bool* is_one) {
    const char* first = at;
    const size_t before = numbers.size();
    int64_t first_real = -1, mixed = 0;
    *is_one = true;
    while (true) {
      Kind kind;
      Number value;
      if (!begins_number()) break;
      if (!number(&kind, &value)) return false;
      if (kind == kUint) break;
      const int64_t index = static_cast<int64_t>(numbers.size() - before);
      if (kind == kFloat && first_real < 0) {
        for (size_t i = before; i < numbers.size(); ++i) numbers[i].real = static_cast<double>(numbers[i].whole);
        first_real = index;
        mixed = index ? kMixed : 0;
      } else if (kind == kInt && first_real >= 0) {
        value.real = static_cast<double>(value.whole);
        mixed = kMixed;
      }
      if (static_cast<int64_t>(numbers.size()) >= most_numbers) return fail(kTooMany, at);
      numbers.push_back(value);
      skip();
      if (at < end && *at == ',') {
        ++at;
        skip();
        continue;
      }
      if (at >= end || *at != ']') return fail(kNoCommaInArray, at);
      ++at;
      const int64_t count = static_cast<int64_t>(numbers.size() - before);
      const int64_t flags = first_real < 0 ? 0 : kFloats | mixed | first_real << kFirstShift;
      return add(kNumbers | flags | int64_t(1) << kRankShift, static_cast<int64_t>(before)) && add(kSize, count);
    }
    *is_one = false;
    numbers.resize(before);
    at = first;
    return true;
  }

  static int64_t rank_of(const Node& node) { return node.head >> kRankShift & 0xFF; }

  // Makes one array of a list of arrays that have the same shape; anything else stays what it is.
  void join(const Frame& frame) {
    const size_t first = static_cast<size_t>(frame.node) + 1;
    const size_t within = tape.size() - first;
    if (frame.count == 0 || (tape[first].head & 0xFF) != kNumbers || rank_of(tape[first]) >= kMostRank) return;
    const size_t rank = static_cast<size_t>(rank_of(tape[first])), step = 1 + rank;
    if (within != step * static_cast<size_t>(frame.count)) return;
    int64_t each = 1, real = 0, whole = 0;
    for (size_t i = 1; i <= rank; ++i) each *= tape[first + i].value;
    for (size_t at_node = first; at_node < tape.size(); at_node += step) {
      if ((tape[at_node].head & 0xFF) != kNumbers || rank_of(tape[at_node]) != static_cast<int64_t>(rank)) return;
      for (size_t i = 1; i <= rank; ++i) {
        if (tape[at_node + i].value != tape[first + i].value) return;
      }
      (tape[at_node].head & kFloats ? real : whole) += 1;
    }
    int64_t flags = real ? kFloats : 0, first_real = -1, done = 0;
    for (size_t at_node = first; real && at_node < tape.size(); at_node += step, done += each) {
      const Node& node = tape[at_node];
      if (node.head & kFloats) {
        if (first_real < 0) first_real = done + (node.head >> kFirstShift);
        flags |= node.head & kMixed;
      } else {
        for (int64_t i = node.value; i < node.value + each; ++i) {
          numbers[static_cast<size_t>(i)].real = static_cast<double>(numbers[static_cast<size_t>(i)].whole);
        }
      }
    }
    if (real && whole) flags |= kMixed;
    const int64_t value = tape[first].value;
    std::vector<Node> sizes(tape.begin() + static_cast<int64_t>(first) + 1,
                            tape.begin() + static_cast<int64_t>(first + step));
    tape.resize(first);
    tape[first - 1] = {
        kNumbers | flags | static_cast<int64_t>(rank + 1) << kRankShift | (real ? first_real << kFirstShift : 0), value};
    tape.push_back({kSize, frame.count});
    tape.insert(tape.end(), sizes.begin(), sizes.end());
  }

  // ---------------------------------------------------------------------------------------------- Lists and objects

  bool open(bool is_object) {
    if (static_cast<int64_t>(frames.size()) >= most_depth) return fail(kTooDeep, at);
    const int64_t node = static_cast<int64_t>(tape.size());
    frames.push_back({node, 0, static_cast<int64_t>(undo.size()), -1, 0, is_object});
    return add(is_object ? kObject : kList, 0);
  }

  void close() {
    const Frame frame = frames.back();
    frames.pop_back();
    Node& node = tape[static_cast<size_t>(frame.node)];
    node.head |= frame.count << kAuxShift;
    node.value = static_cast<int64_t>(tape.size()) - frame.node - 1;
    if (!frame.is_object) return join(frame);
    while (static_cast<int64_t>(undo.size()) > frame.undo) {
      object_of_key[static_cast<size_t>(undo.back().first)] = undo.back().second;
      undo.pop_back();
    }
  }

  bool key() {
    if (at >= end || *at != '"') return fail(kNoName, at);
    bool unescaped;
    const char* text;
    int64_t size;
    if (!string(&unescaped, &text, &size)) return false;
    const auto found = key_numbers.try_emplace(std::string(text, static_cast<size_t>(size)), keys.size() / 2);
    if (found.second) {
      keys.push_back(static_cast<int64_t>(strings.size()));
      keys.push_back(size);
      strings.append(text, static_cast<size_t>(size));
      object_of_key.push_back(-1);
    }
    const int64_t which = found.first->second;
    Frame& frame = frames.back();
    if (object_of_key[static_cast<size_t>(which)] == frame.node) {
      frame.dropped = static_cast<int64_t>(tape.size());
      frame.kept = static_cast<int64_t>(numbers.size());
    } else {
      undo.emplace_back(which, object_of_key[static_cast<size_t>(which)]);
      object_of_key[static_cast<size_t>(which)] = frame.node;
    }
    if (!add(kKey, which)) return false;
    skip();
    if (at >= end || *at != ':') return fail(kNoColon, at);
    ++at;
    skip();
    return true;
  }

  bool scalar() {
    const char* first = at;
    if (word("null", 4)) return add(kNull, 0);
    if (word("true", 4)) return add(kTrue, 1);
    if (word("false", 5)) return add(kFalse, 0);
    if (!begins_number()) return fail(kInvalidValue, first);
    Kind kind;
    Number value;
    if (!number(&kind, &value)) return false;
    int64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return add(kind, bits);
  }

  // Reads a list's beginning. *whole says whether that was all of it.
  bool list(bool* whole) {
    if (static_cast<int64_t>(frames.size()) >= most_depth) return fail(kTooDeep, at);
    ++at;
    skip();
    *whole = false;
    if (at < end && *at == ']') {
      *whole = true;
      ++at;
      return add(kNumbers | int64_t(1) << kRankShift, static_cast<int64_t>(numbers.size())) && add(kSize, 0);
    }
    if (begins_number()) {
      if (!run_of_numbers(whole)) return false;
      if (*whole) return true;
    }
    return open(false);
  }

  bool object(bool* whole) {
    if (!open(true)) return false;
    ++at;
    skip();
    *whole = at < end && *at == '}';
    if (!*whole) return key();
    ++at;
    close();
    return true;
  }

  // Goes on behind a value. *done says that no list or object is open any more.
  bool behind(bool* done) {
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (frame.dropped >= 0) {
        tape.resize(static_cast<size_t>(frame.dropped));
        numbers.resize(static_cast<size_t>(frame.kept));
        frame.dropped = -1;
      } else {
        ++frame.count;
      }
      skip();
      const char c = at < end ? *at : '\0';
      if (c == ',') {
        ++at;
        skip();
        *done = false;
        return frame.is_object ? key() : true;
      }
      if (c != (frame.is_object ? '}' : ']')) return fail(frame.is_object ? kNoCommaInObject : kNoCommaInArray, at);
      ++at;
      close();
    }
    *done = true;
    return true;
  }

  bool read() {
    skip();
    if (at >= end) return fail(kEmpty, at);
    for (bool done = false; !done;) {
      bool whole = true;
      const char c = at < end ? *at : '\0';
      const bool fine = c == '[' ? list(&whole) : c == '{' ? object(&whole) : c == '"' ? string_node() : scalar();
      if (!fine || (whole && !behind(&done))) return false;
    }
    return true;
  }
};

}  // namespace

// ------------------------------------------------------------------------------------------------ What Python can call

// Reads the value at the beginning of a text. `report` gets: what is wrong, or 0; where that is, or where the value ends;
// how many nodes, numbers, bytes of strings, and keys there are. Returns what `json_take` takes; null if something is
// wrong.
TENSORKEEP_EXPORT void* json_read(const char* text, int64_t size, int64_t most_depth, int64_t most_numbers,
                                  int64_t most_nodes, int64_t* report) {
  std::unique_ptr<Reader> reader;
  try {
    reader.reset(new Reader{text, text, text + size, most_depth, most_numbers, most_nodes});
    const bool fine = reader->read();
    report[0] = reader->problem;
    report[1] = (fine ? reader->at : reader->where) - text;
    report[2] = static_cast<int64_t>(reader->tape.size());
    report[3] = static_cast<int64_t>(reader->numbers.size());
    report[4] = static_cast<int64_t>(reader->strings.size());
    report[5] = static_cast<int64_t>(reader->keys.size() / 2);
    return fine ? reader.release() : nullptr;
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  report[0] = kNoMemory;
  report[1] = 0;
  return nullptr;
}

// Copies what has been read, and gives its memory back.
TENSORKEEP_EXPORT void json_take(void* handle, void* tape, void* numbers, char* strings, int64_t* keys) {
  std::unique_ptr<Reader> reader(static_cast<Reader*>(handle));
  if (!reader->tape.empty()) std::memcpy(tape, reader->tape.data(), reader->tape.size() * sizeof(Node));
  if (!reader->numbers.empty()) std::memcpy(numbers, reader->numbers.data(), reader->numbers.size() * sizeof(Number));
  if (!reader->strings.empty()) std::memcpy(strings, reader->strings.data(), reader->strings.size());
  if (!reader->keys.empty()) std::memcpy(keys, reader->keys.data(), reader->keys.size() * sizeof(int64_t));
}
