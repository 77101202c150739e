// Loops over small matrices, for one kind of processor. layers.cpp includes this once for each kind, inside a namespace,
// after tiles.h and elements.h. No include guard, for that reason.

// A loop: what each round does, to matrices of as many rows as sequences are computed together. All operands are seen
// row by row, and no row depends on another one.
//
//   operands       address, floats from one round to the next, floats from one row to the next
//   instructions   operation, result, three operands, columns of the result, columns of the left factor
struct Rounds {
  const int64_t* operands;
  const int64_t* code;
  int64_t instructions, rounds;
};

constexpr int64_t kProduct = 32, kCopy = 33, kChoose = 34;  // as rounds.py numbers them; below are those of `operate`

struct Rows {
  float* at;
  int64_t step;
};

static Rows rows_of(const Rounds& rounds, int64_t operand, int64_t round, int64_t begin) {
  const int64_t* numbers = rounds.operands + 3 * operand;
  return {reinterpret_cast<float*>(numbers[0]) + round * numbers[1] + begin * numbers[2], numbers[2]};
}

// Rows of a matrix times a packed one.
static void multiply_in_round(const Rows& left, const float* packed, const Rows& out, int64_t count, int64_t depth,
                              int64_t columns) {
  constexpr int64_t kMost = 8 * TILE_ROWS;
  const int64_t offset = 0;
  const Product product{&offset, 1, depth};
  const float* rows[kMost];
  float* outs[kMost];
  for (int64_t first = 0; first < count; first += kMost) {
    const int64_t some = count - first < kMost ? count - first : kMost;
    for (int64_t m = 0; m < some; ++m) {
      rows[m] = left.at + (first + m) * left.step;
      outs[m] = out.at + (first + m) * out.step;
    }
    multiply_rows(product, rows, some, packed, outs, columns);
  }
}

// All rounds, for rows `begin` to `end`.
static void run_rounds(const Rounds& rounds, int64_t begin, int64_t end) {
  const int64_t count = end - begin;
  for (int64_t round = 0; round < rounds.rounds; ++round) {
    const int64_t* code = rounds.code;
    for (int64_t n = 0; n < rounds.instructions; ++n, code += 7) {
      const int64_t columns = code[5];
      const Rows out = rows_of(rounds, code[1], round, begin);
      const Rows a = rows_of(rounds, code[2], round, begin), b = rows_of(rounds, code[3], round, begin);
      if (code[0] == kProduct) {
        multiply_in_round(a, reinterpret_cast<const float*>(rounds.operands[3 * code[3]]), out, count, code[6], columns);
      } else if (code[0] == kCopy) {
        for (int64_t m = 0; m < count; ++m) {
          std::memcpy(out.at + m * out.step, a.at + m * a.step, sizeof(float) * columns);
        }
      } else if (code[0] == kChoose) {
        const Rows c = rows_of(rounds, code[4], round, begin);
        for (int64_t m = 0; m < count; ++m) {
          const float* from = a.at[m * a.step] != 0.0f ? b.at + m * b.step : c.at + m * c.step;
          std::memcpy(out.at + m * out.step, from, sizeof(float) * columns);
        }
      } else if (a.step == columns && b.step == columns && out.step == columns) {
        operate(code[0], a.at, b.at, nullptr, out.at, count * columns);
      } else {
        for (int64_t m = 0; m < count; ++m) {
          operate(code[0], a.at + m * a.step, b.at + m * b.step, nullptr, out.at + m * out.step, columns);
        }
      }
    }
  }
}
