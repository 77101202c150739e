// Windows of JPEG files: the pixels of some rows and columns, as libjpeg-turbo and so TensorFlow decode them.
//
// Codes are read from the top of the image to the last row that is needed; only blocks that the window needs are made
// samples, enlarged and colored. Known are files of one scan (SOF0, SOF1; Huffman codes, 8 bits) of one or three
// components, without any damage as far as they are read: all else is answered by a number that is not 0, and left to
// whoever called. Files are not trusted: every length is held against what is there before it is used, and what is
// allocated depends on the window, never on what a file says of itself.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "jpeg_codes.h"
#include "jpeg_samples.h"
#include "rules.h"

namespace {

enum Answer : int32_t { DONE = 0, UNKNOWN = 1, DAMAGED = 2, NO_MEMORY = 3 };

constexpr int MOST_COMPONENTS = 3, TABLES = 4, BLOCK = 8;

// What is asked for. native/jpeg.py writes it, in this order.
struct Enlargement {
  int32_t size;          // samples along one side of a decoded block: 8, 4, 2 or 1
  int32_t down, across;  // rows, and columns, of the image for one of samples
  int32_t enlarging;     // Enlarging
};
struct Plan {
  int32_t height, width, components;  // of the file, as its header says
  int32_t size;                       // samples along one side of a block where there is one for each pixel
  int32_t image_height;               // of the image as small as it is asked for
  int32_t top, rows;                  // of the window
  int32_t first, columns, skipped;    // columns that are decoded, and how many of them are then left out
  int32_t colors, is_accurate;        // Colors
  Enlargement enlargements[MOST_COMPONENTS];
};

struct Component {
  uint8_t number, table;
  int32_t across, down;  // blocks in a unit
  const Codes *dc, *ac;
  int32_t before;  // the last coefficient of its kind
  int16_t factors[BLOCK * BLOCK];
  Enlargement enlargement;
  bool is_needed;
  int32_t lines;                        // of samples, in the whole image
  int32_t first_line, end_line;         // that the window needs
  int32_t first_sample, end_sample;     // in a line, that it needs
  int32_t first_block, end_block;       // that have them
  int32_t ring_lines, stride;
  std::vector<uint8_t> ring;            // samples of three rows of units, the last that were decoded
  std::vector<uint8_t> row;             // a row, enlarged

  uint8_t *line(int32_t number) { return ring.data() + static_cast<int64_t>(number % ring_lines) * stride; }
};

int32_t parts(int32_t whole, int32_t part) { return (whole + part - 1) / part; }

// ------------------------------------------------------------------------------------------------------------- Headers

struct File {
  const uint8_t *at, *end;
  const Plan &plan;
  uint16_t quantization[TABLES][BLOCK * BLOCK];  // in natural order
  bool is_quantized[TABLES] = {};
  Codes dc[TABLES], ac[TABLES];
  Component components[MOST_COMPONENTS];
  int32_t interval = 0;
  bool has_frame = false;

  explicit File(const uint8_t *file, int64_t size, const Plan &asked) : at(file), end(file + size), plan(asked) {}

  // Reads all before the coded part, and leaves `at` there.
  bool read_headers() {
    if (end - at < 2 || at[0] != 0xFF || at[1] != 0xD8) return false;
    at += 2;
    for (;;) {
      if (end - at < 4 || at[0] != 0xFF) return false;
      const uint8_t marker = at[1];
      const int32_t length = at[2] << 8 | at[3];
      if (length < 2 || end - at < length + 2) return false;
      const uint8_t *data = at + 4;
      at += length + 2;
      if (marker == 0xDA) return has_frame && read_scan(data, length - 2);
      if (!read_segment(marker, data, length - 2)) return false;
    }
  }

  bool read_segment(uint8_t marker, const uint8_t *data, int32_t size) {
    if (marker == 0xDB) return read_quantization(data, size);
    if (marker == 0xC4) return read_codes(data, size);
    if (marker == 0xC0 || marker == 0xC1) return !has_frame && read_frame(data, size);
    if (marker == 0xDD) {
      if (size != 2) return false;
      interval = data[0] << 8 | data[1];
      return true;
    }
    return (marker >= 0xE0 && marker <= 0xEF) || marker == 0xFE;  // what programs note, and comments
  }

  bool read_quantization(const uint8_t *data, int32_t size) {
    while (size > 0) {
      const int32_t width = data[0] >> 4 ? 2 : 1, number = data[0] & 15, needed = 1 + BLOCK * BLOCK * width;
      if (data[0] >> 4 > 1 || number >= TABLES || size < needed) return false;
      for (int i = 0; i < BLOCK * BLOCK; ++i)
        quantization[number][ORDER[i]] =
            static_cast<uint16_t>(width == 2 ? data[1 + 2 * i] << 8 | data[2 + 2 * i] : data[1 + i]);
      is_quantized[number] = true;
      data += needed, size -= needed;
    }
    return true;
  }

  bool read_codes(const uint8_t *data, int32_t size) {
    while (size > 0) {
      if (size < 1 + LONGEST) return false;
      const int32_t kind = data[0] >> 4, number = data[0] & 15;
      int32_t total = 0;
      for (int i = 1; i <= LONGEST; ++i) total += data[i];
      if (kind > 1 || number >= TABLES || total > 256 || size < 1 + LONGEST + total) return false;
      if (!(kind ? ac : dc)[number].build(data + 1, data + 1 + LONGEST, total, !kind)) return false;
      data += 1 + LONGEST + total, size -= 1 + LONGEST + total;
    }
    return true;
  }

  bool read_frame(const uint8_t *data, int32_t size) {
    if (size != 6 + 3 * plan.components || data[0] != 8 || data[5] != plan.components) return false;
    if ((data[1] << 8 | data[2]) != plan.height || (data[3] << 8 | data[4]) != plan.width) return false;
    for (int i = 0; i < plan.components; ++i) {
      const uint8_t *said = data + 6 + 3 * i;
      Component &component = components[i];
      component.number = said[0], component.table = said[2];
      component.across = said[1] >> 4, component.down = said[1] & 15;
      if (component.across < 1 || component.across > 4 || component.down < 1 || component.down > 4) return false;
      for (int other = 0; other < i; ++other)
        if (components[other].number == component.number) return false;
    }
    if (plan.components == 1) components[0].across = components[0].down = 1;  // a unit is one block
    return has_frame = true;
  }

  bool read_scan(const uint8_t *data, int32_t size) {
    const int32_t count = plan.components;
    if (size != 4 + 2 * count || data[0] != count) return false;
    if (data[1 + 2 * count] != 0 || data[2 + 2 * count] != 63 || data[3 + 2 * count] != 0) return false;
    int32_t blocks = 0;
    for (int i = 0; i < count; ++i) {
      Component &component = components[i];
      const int32_t first = data[2 + 2 * i] >> 4, second = data[2 + 2 * i] & 15;
      if (data[1 + 2 * i] != component.number || first >= TABLES || second >= TABLES) return false;
      component.dc = dc + first, component.ac = ac + second;
      if (!component.dc->is_there || !component.ac->is_there) return false;
      if (component.table >= TABLES || !is_quantized[component.table]) return false;
      blocks += component.across * component.down;
    }
    return blocks <= 10;
  }
};

// ------------------------------------------------------------------------------------------------------------- Windows

// Of Arai, Agui and Nakajima: 1, then sqrt(2) cos(k pi / 16).
constexpr double SCALES[BLOCK] = {1.0,                1.3870398453221475, 1.3065629648763766, 1.1758756024193588,
                                  1.0,                0.7856949583871022, 0.5411961001461971, 0.2758993792829431};

struct Rows {  // what is done to rows of samples, compiled for what the processor can do
  void (*widen)(const uint8_t *, int64_t, uint8_t *);
  void (*heighten)(const uint8_t *, const uint8_t *, int64_t, int, uint8_t *);
  void (*double_both)(const uint8_t *, const uint8_t *, int64_t, uint16_t *, uint8_t *);
  void (*color)(const uint8_t *const (&)[3], Colors, int64_t, uint8_t *);
  void (*transform)(const int16_t *, const int16_t *, uint8_t *, int64_t);
};

#define TENSORKEEP_ROWS(TARGET, NAME)                                                                                  \
  TARGET void NAME##_widen(const uint8_t *from, int64_t n, uint8_t *out) { widen(from, n, out); }                      \
  TARGET void NAME##_heighten(const uint8_t *a, const uint8_t *b, int64_t n, int bias, uint8_t *out) {                 \
    heighten(a, b, n, bias, out);                                                                                      \
  }                                                                                                                    \
  TARGET void NAME##_double(const uint8_t *a, const uint8_t *b, int64_t n, uint16_t *sums, uint8_t *out) {             \
    double_both(a, b, n, sums, out);                                                                                   \
  }                                                                                                                    \
  TARGET void NAME##_color(const uint8_t *const (&rows)[3], Colors colors, int64_t n, uint8_t *out) {                  \
    color(rows, colors, n, out);                                                                                       \
  }                                                                                                                    \
  TARGET void NAME##_transform(const int16_t *from, const int16_t *factors, uint8_t *out, int64_t stride) {            \
    transform_accurate(from, factors, out, stride);                                                                    \
  }                                                                                                                    \
  constexpr Rows NAME = {NAME##_widen, NAME##_heighten, NAME##_double, NAME##_color, NAME##_transform};

TENSORKEEP_ROWS(, plain_rows)
#if defined(TENSORKEEP_WIDE)
TENSORKEEP_ROWS(TENSORKEEP_WIDE, wide_rows)
#endif

const Rows &rows_of_processor() {
#if defined(TENSORKEEP_WIDE)
  if (__builtin_cpu_supports("avx2")) return wide_rows;
#endif
  return plain_rows;
}

class Window {
 public:
  Window(File &read, uint8_t *pixels) : file(read), plan(read.plan), out(pixels), rows(rows_of_processor()) {}

  // Works out what is needed of each component; false for samplings that are not known, or do not fit the file.
  bool prepare() {
    for (int i = 0; i < plan.components; ++i) {
      across = std::max(across, file.components[i].across);
      down = std::max(down, file.components[i].down);
    }
    units_across = parts(plan.width, BLOCK * across), units_down = parts(plan.height, BLOCK * down);
    channels = plan.colors == GRAY || plan.colors == RGB_TO_GRAY ? 1 : 3;
    for (int i = 0; i < plan.components; ++i)
      if (!prepare_component(file.components[i], i)) return false;
    sums.resize(static_cast<size_t>(plan.columns) + 1);
    return true;
  }

  Answer decode() {
    Bits bits{file.at, file.end};
    next_row = plan.top;
    for (int32_t unit_row = 0; next_row < plan.top + plan.rows; ++unit_row) {
      if (unit_row >= units_down) return DAMAGED;
      if (!decode_units(bits, unit_row)) return DAMAGED;
      emit_rows(unit_row + 1);
      if (unit_row + 1 == units_down && !is_end(bits)) return DAMAGED;
    }
    return DONE;
  }

 private:
  File &file;
  const Plan &plan;
  uint8_t *out;
  const Rows &rows;
  int32_t across = 1, down = 1, units_across = 0, units_down = 0, channels = 1;
  int32_t next_row = 0;
  int32_t until_restart = 0, restarts = 0;
  std::vector<uint16_t> sums;

  bool prepare_component(Component &component, int index) {
    const Enlargement &given = component.enlargement = plan.enlargements[index];
    const bool is_size = given.size == 8 || given.size == 4 || given.size == 2 || given.size == 1;
    if (!is_size || given.down < 1 || given.across < 1 || !fits(given)) return false;
    if (component.down * given.size * given.down != down * plan.size) return false;
    if (component.across * given.size * given.across != across * plan.size) return false;
    component.is_needed = index == 0 || plan.colors >= YCC_TO_RGB;
    component.lines = parts(plan.image_height, given.down);
    component.before = 0;
    const bool is_tall = given.enlarging == HEIGHTENED || given.enlarging == DOUBLED;
    const int32_t end = (plan.top + plan.rows - 1) / given.down + 1;
    component.first_line = std::max(0, plan.top / given.down - (is_tall ? 1 : 0));
    component.end_line = std::min(component.lines, end + (is_tall ? 1 : 0));
    component.first_sample = plan.first / given.across;
    component.end_sample = parts(plan.first + plan.columns, given.across);
    component.first_block = component.first_sample / given.size;
    component.end_block = parts(component.end_sample, given.size);
    if (component.end_block > units_across * component.across) return false;
    component.ring_lines = 3 * component.down * given.size;
    component.stride = (component.end_block - component.first_block) * given.size;
    if (component.is_needed) {
      component.ring.resize(static_cast<size_t>(component.ring_lines) * static_cast<size_t>(component.stride));
      component.row.resize(static_cast<size_t>(component.stride) * static_cast<size_t>(given.across));
    }
    prepare_factors(component);
    return true;
  }

  static bool fits(const Enlargement &given) {
    const bool is_tall = given.enlarging == HEIGHTENED || given.enlarging == DOUBLED;
    const bool is_wide = given.enlarging == WIDENED || given.enlarging == DOUBLED;
    return given.enlarging == REPEATED || (given.down == 1 + is_tall && given.across == 1 + is_wide);
  }

  void prepare_factors(Component &component) {
    const uint16_t *table = file.quantization[component.table];
    const bool is_fast = component.enlargement.size == BLOCK && !plan.is_accurate;
    for (int i = 0; i < BLOCK * BLOCK; ++i) {
      const int64_t scale = static_cast<int64_t>(16384 * SCALES[i / BLOCK] * SCALES[i % BLOCK] + 0.5);
      component.factors[i] = static_cast<int16_t>(is_fast ? (table[i] * scale + 2048) >> 12 : table[i]);
    }
  }

  // A row of units: the codes of all of them, the samples of those that the window needs.
  bool decode_units(Bits &given, int32_t unit_row) {
    Bits bits = given;
    for (int32_t unit = 0; unit < units_across; ++unit) {
      if (file.interval && until_restart == 0) {
        if ((unit_row || unit) && !restart(bits)) return false;
        until_restart = file.interval;
      }
      --until_restart;
      for (int i = 0; i < plan.components; ++i)
        if (!decode_component(bits, file.components[i], unit_row, unit)) return false;
    }
    given = bits;
    return true;
  }

  TENSORKEEP_INLINE bool decode_component(Bits &bits, Component &component, int32_t unit_row, int32_t unit) {
    const int32_t size = component.enlargement.size;
    for (int32_t y = 0; y < component.down; ++y) {
      const int32_t line = (unit_row * component.down + y) * size;
      const bool is_row = component.is_needed && line < component.end_line && line + size > component.first_line;
      for (int32_t x = 0; x < component.across; ++x) {
        const int32_t column = unit * component.across + x;
        if (!is_row || column < component.first_block || column >= component.end_block) {
          if (take_block<false>(bits, *component.dc, *component.ac, component.before, nullptr) < 0) return false;
          continue;
        }
        alignas(16) int16_t coefficients[BLOCK * BLOCK] = {};
        const int32_t last = take_block<true>(bits, *component.dc, *component.ac, component.before, coefficients);
        if (last < 0) return false;
        uint8_t *samples = component.line(line) + static_cast<int64_t>(column - component.first_block) * size;
        transform(component, coefficients, last, samples);
      }
    }
    return true;
  }

  TENSORKEEP_INLINE void transform(const Component &component, const int16_t *coefficients, int32_t last, uint8_t *samples) {
    if (component.enlargement.size < BLOCK) {
      transform_reduced(coefficients, component.factors, component.enlargement.size, samples, component.stride);
    } else if (plan.is_accurate) {
      rows.transform(coefficients, component.factors, samples, component.stride);
    } else if (last == 0) {
      const uint8_t value = sample(wrapped(coefficients[0] * component.factors[0]) >> 5);
      for (int i = 0; i < BLOCK; ++i) std::memset(samples + static_cast<int64_t>(i) * component.stride, value, BLOCK);
    } else {
      transform_fast(coefficients, component.factors, samples, component.stride);
    }
  }

  // Goes past a restart marker, which must follow at once and have its number.
  bool restart(Bits &bits) {
    if (!is_marker(bits, static_cast<uint8_t>(0xD0 + (restarts++ & 7)))) return false;
    bits = Bits{bits.at + 2, bits.end};
    for (Component &component : file.components) component.before = 0;
    return true;
  }

  bool is_end(Bits &bits) { return is_marker(bits, 0xD9); }

  // Whether a marker follows the bits that were taken, but for those that fill up the last byte.
  static bool is_marker(Bits &bits, uint8_t marker) {
    bits.fill();
    return bits.is_sound() && bits.count < 8 && bits.end - bits.at >= 2 && bits.at[0] == 0xFF && bits.at[1] == marker;
  }

  // Writes the rows of pixels whose samples are there, once so many rows of units have been decoded.
  void emit_rows(int32_t unit_rows) {
    for (; next_row < plan.top + plan.rows; ++next_row) {
      const uint8_t *lines[MOST_COMPONENTS] = {};
      for (int i = 0; i < plan.components; ++i) {
        Component &component = file.components[i];
        if (!component.is_needed) continue;
        const Enlargement &how = component.enlargement;
        const bool is_tall = how.enlarging == HEIGHTENED || how.enlarging == DOUBLED;
        const int32_t last = std::min(component.lines - 1, next_row / how.down + (is_tall ? 1 : 0));
        if (last >= unit_rows * component.down * how.size) return;
        lines[i] = enlarged(component, next_row) + plan.skipped;
      }
      const int64_t count = plan.columns - plan.skipped;
      rows.color(lines, static_cast<Colors>(plan.colors), count, out + (next_row - plan.top) * count * channels);
    }
  }

  // A row of the image from the samples of a component, from the first column that is decoded on.
  const uint8_t *enlarged(Component &component, int32_t row) {
    const Enlargement &how = component.enlargement;
    const int32_t line = row / how.down, skipped = component.first_sample - component.first_block * how.size;
    const int32_t count = component.end_sample - component.first_sample;
    const int32_t beside = row % 2 ? std::min(line + 1, component.lines - 1) : std::max(line - 1, 0);
    const uint8_t *near = component.line(line) + skipped, *other = component.line(beside) + skipped;
    uint8_t *found = component.row.data();
    if (how.enlarging == WIDENED) {
      rows.widen(near, count, found);
    } else if (how.enlarging == HEIGHTENED) {
      rows.heighten(near, other, count, row % 2 ? 2 : 1, found);
    } else if (how.enlarging == DOUBLED) {
      rows.double_both(near, other, count, sums.data(), found);
    } else if (how.across == 1) {
      return near;
    } else {
      for (int32_t i = 0; i < count; ++i) std::memset(found + i * how.across, near[i], static_cast<size_t>(how.across));
    }
    return found;
  }
};

}  // namespace

// Whether the window is within the image, and its colors can be made of the components.
static bool is_possible(const Plan &plan) {
  const bool is_known = plan.components == MOST_COMPONENTS || (plan.components == 1 && plan.colors <= GRAY_THRICE);
  if (!is_known || plan.height < 1 || plan.width < 1 || plan.colors < GRAY || plan.colors > RGB_TO_GRAY) return false;
  if (plan.size < 1 || plan.size > BLOCK || plan.top < 0 || plan.rows < 1 || plan.first < 0 || plan.skipped < 0) return false;
  const int32_t height = parts(plan.height * plan.size, BLOCK), width = parts(plan.width * plan.size, BLOCK);
  return plan.image_height == height && plan.rows <= height - plan.top && plan.columns <= width - plan.first &&
         plan.skipped < plan.columns;
}

// Writes the pixels of a window, [rows, columns - skipped, channels]. 0, or why it is left to others: then pixels may have been written already.
TENSORKEEP_EXPORT int32_t jpeg_window(const uint8_t *contents, int64_t size, const int32_t *asked, uint8_t *pixels) {
  try {
    Plan plan;
    std::memcpy(&plan, asked, sizeof plan);
    const auto file = std::make_unique<File>(contents, size, plan);
    if (!is_possible(plan) || !file->read_headers()) return UNKNOWN;
    Window window(*file, pixels);
    return window.prepare() ? window.decode() : UNKNOWN;
  } catch (const std::bad_alloc &) {
    return NO_MEMORY;
  }
}
