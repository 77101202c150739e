// Work on arrays that NumPy would pass over many times, and on bytes that Python would look at one by one.
//
// Every function takes plain pointers and numbers, keeps nothing, calls nothing of Python, and may run while other
// threads run Python. Arrays are what they are said to be: who calls has compared shapes and dtypes.
//
// Arithmetic is that of IEEE 754, one rounding per operation. Rules of optimizers (rules.h) have it in the order of their
// implementations in NumPy: both give the same bits. So no -ffast-math, and no fused multiplication and addition. Where
// exponentials are involved, results agree but for the last bits.
//
// One binary serves all processors of an architecture: loops are compiled twice, and which one runs is found out where
// they run.

#include <cmath>
#include <cstdint>
#include <cstring>

#include "rules.h"

namespace {

// ------------------------------------------------------------------------------------------------ Passing over arrays

template <class Rule, class T, class... Slots>
TENSORKEEP_INLINE void pass(Rule rule, int64_t count, const T* __restrict gradient, T* __restrict variable,
                            Slots* __restrict... slots) {
  for (int64_t i = 0; i < count; ++i) rule(gradient[i], variable[i], slots[i]...);
}

template <class Rule, class T, class... Slots>
void pass_narrow(Rule rule, int64_t count, const T* gradient, T* variable, Slots*... slots) {
  pass(rule, count, gradient, variable, slots...);
}

#if defined(TENSORKEEP_WIDE)
template <class Rule, class T, class... Slots>
TENSORKEEP_WIDE void pass_wide(Rule rule, int64_t count, const T* gradient, T* variable, Slots*... slots) {
  pass(rule, count, gradient, variable, slots...);
}
#endif

template <class T>
bool is_aligned(const T* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) % alignof(T) == 0;
}

// Applies a rule to all elements. Returns whether it did: arrays that do not lie at multiples of their element's size
// are left as they are.
template <class Rule, class T, class... Slots>
int32_t apply(Rule rule, int64_t count, const T* gradient, T* variable, Slots*... slots) {
  const bool aligned[] = {is_aligned(gradient), is_aligned(variable), is_aligned(slots)...};
  for (bool each : aligned) {
    if (!each) return 0;
  }
#if defined(TENSORKEEP_WIDE)
  if (__builtin_cpu_supports("avx2")) {
    pass_wide(rule, count, gradient, variable, slots...);
    return 1;
  }
#endif
  pass_narrow(rule, count, gradient, variable, slots...);
  return 1;
}

// --------------------------------------------------------------------------------- Rules from the arguments of the ops

template <class T>
int32_t gradient_descent(T* variable, const T* gradient, int64_t count, T alpha) {
  return apply(GradientDescent<T>{alpha}, count, gradient, variable);
}

template <class T>
int32_t momentum(T* variable, T* accumulated, const T* gradient, int64_t count, T rate, T momentum, bool nesterov) {
  const T product = momentum * rate;
  return nesterov ? apply(Momentum<T, true>{rate, momentum, product}, count, gradient, variable, accumulated)
                  : apply(Momentum<T, false>{rate, momentum, product}, count, gradient, variable, accumulated);
}

template <class T>
int32_t keras_momentum(T* variable, T* accumulated, const T* gradient, int64_t count, T rate, T momentum,
                       bool nesterov) {
  return nesterov ? apply(KerasMomentum<T, true>{rate, momentum}, count, gradient, variable, accumulated)
                  : apply(KerasMomentum<T, false>{rate, momentum}, count, gradient, variable, accumulated);
}

template <class T>
int32_t adagrad(T* variable, T* squares, const T* gradient, int64_t count, T rate, bool update_slots) {
  return update_slots ? apply(Adagrad<T, true>{rate}, count, gradient, variable, squares)
                      : apply(Adagrad<T, false>{rate}, count, gradient, variable, squares);
}

template <class T>
int32_t adagrad_v2(T* variable, T* squares, const T* gradient, int64_t count, T rate, T epsilon, bool update_slots) {
  return update_slots ? apply(AdagradV2<T, true>{rate, epsilon}, count, gradient, variable, squares)
                      : apply(AdagradV2<T, false>{rate, epsilon}, count, gradient, variable, squares);
}

template <class T>
int32_t adadelta(T* variable, T* squares, T* updates, const T* gradient, int64_t count, T rate, T rho, T epsilon) {
  return apply(Adadelta<T>{rate, rho, T(1) - rho, epsilon}, count, gradient, variable, squares, updates);
}

template <class T>
int32_t adam(T* variable, T* first, T* second, const T* gradient, int64_t count, T beta1_power, T beta2_power, T lr,
             T beta1, T beta2, T epsilon, bool nesterov) {
  const T rate = lr * root(T(1) - beta2_power) / (T(1) - beta1_power);
  const T rest1 = T(1) - beta1, rest2 = T(1) - beta2;
  return nesterov
             ? apply(Adam<T, true>{rate, beta1, rest1, beta2, rest2, epsilon}, count, gradient, variable, first, second)
             : apply(Adam<T, false>{rate, beta1, rest1, beta2, rest2, epsilon}, count, gradient, variable, first,
                     second);
}

template <class T>
int32_t rms_prop(T* variable, T* squares, T* moment, const T* gradient, int64_t count, T rate, T rho, T momentum,
                 T epsilon) {
  return apply(RmsProp<T>{rate, T(1) - rho, momentum, epsilon}, count, gradient, variable, squares, moment);
}

template <class T>
int32_t centered_rms_prop(T* variable, T* mean, T* squares, T* moment, const T* gradient, int64_t count, T rate, T rho,
                          T momentum, T epsilon) {
  return apply(CenteredRmsProp<T>{rate, T(1) - rho, momentum, epsilon}, count, gradient, variable, mean, squares,
               moment);
}

template <class T, bool is_whole>
int32_t ftrl_v2(T* variable, T* squares, T* linear, const T* gradient, int64_t count, T rate, T l1, T l2, T shrinkage,
                T power, bool multiplies) {
  const T limit = multiplies ? l1 * rate : l1;
  const T penalty = multiplies ? T(2) * l2 * rate : T(2) * l2;
  const T doubled = T(2) * shrinkage;
  if (power != T(-0.5) || limit != limit) return 0;
  const auto take = [&](auto rule) { return apply(rule, count, gradient, variable, squares, linear); };
  if (shrinkage != T(0)) {
    return multiplies ? take(Ftrl<T, true, true, is_whole>{rate, limit, penalty, doubled})
                      : take(Ftrl<T, true, false, is_whole>{rate, limit, penalty, doubled});
  }
  return multiplies ? take(Ftrl<T, false, true, is_whole>{rate, limit, penalty, doubled})
                    : take(Ftrl<T, false, false, is_whole>{rate, limit, penalty, doubled});
}

template <class T, bool is_whole>
int32_t ftrl(T* variable, T* squares, T* linear, const T* gradient, int64_t count, T rate, T l1, T l2, T power,
             bool multiplies) {
  return ftrl_v2<T, is_whole>(variable, squares, linear, gradient, count, rate, l1, l2, T(0), power, multiplies);
}

// ------------------------------------------------------------------------------------------------------------- Losses

// The cross entropy of each row's softmax with the class that is its label, and its gradient: the softmax, less one at
// the label. Does nothing, and returns 0, if a label is not of the classes.
template <class T, class Label>
int32_t sparse_cross_entropy(const T* logits, const Label* labels, int64_t rows, int64_t classes, T* losses,
                             T* gradient) {
  if (!is_aligned(logits) || !is_aligned(labels)) return 0;
  for (int64_t row = 0; row < rows; ++row) {
    if (labels[row] < 0 || labels[row] >= classes) return 0;
  }
  for (int64_t row = 0; row < rows; ++row, logits += classes, gradient += classes) {
    T largest = logits[0];
    for (int64_t i = 1; i < classes; ++i) largest = logits[i] > largest ? logits[i] : largest;
    T sum = 0;
    for (int64_t i = 0; i < classes; ++i) sum += gradient[i] = std::exp(logits[i] - largest);
    for (int64_t i = 0; i < classes; ++i) gradient[i] /= sum;
    gradient[labels[row]] -= T(1);
    losses[row] = std::log(sum) - (logits[labels[row]] - largest);
  }
  return 1;
}

// ------------------------------------------------------------------------------------------------------------- Means

constexpr int64_t kSummed = 512;  // elements whose sums stay in the nearest cache

template <bool weighed, class T>
TENSORKEEP_INLINE double term(T value, double share) {
  return weighed ? static_cast<double>(value) * share : static_cast<double>(value);
}

// The mean of `number` arrays, added up in double precision, in their order: two at a time, so that sums are not loaded
// and stored for each of them. Each counts as its share says. Where there are no shares, all count the same: what is not
// of double precision itself is then multiplied by a part, the rest divided.
template <bool weighed, class T>
TENSORKEEP_INLINE void mean(const T* const* arrays, int64_t number, const double* shares, int64_t count,
                            T* __restrict out) {
  double sums[kSummed];
  const double divisor = static_cast<double>(number), part = 1.0 / divisor;
  for (int64_t at = 0; at < count; at += kSummed) {
    const int64_t length = count - at < kSummed ? count - at : kSummed;
    const T* __restrict first = arrays[0] + at;
    const double first_share = weighed ? shares[0] : 1.0;
    for (int64_t i = 0; i < length; ++i) sums[i] = term<weighed>(first[i], first_share);
    int64_t each = 1;
    for (; each + 1 < number; each += 2) {
      const T* __restrict one = arrays[each] + at;
      const T* __restrict two = arrays[each + 1] + at;
      const double share_one = weighed ? shares[each] : 1.0, share_two = weighed ? shares[each + 1] : 1.0;
      for (int64_t i = 0; i < length; ++i) {
        sums[i] = (sums[i] + term<weighed>(one[i], share_one)) + term<weighed>(two[i], share_two);
      }
    }
    if (each < number) {
      const T* __restrict last = arrays[each] + at;
      const double last_share = weighed ? shares[each] : 1.0;
      for (int64_t i = 0; i < length; ++i) sums[i] += term<weighed>(last[i], last_share);
    }
    for (int64_t i = 0; i < length; ++i) {
      const double sum = sums[i];
      out[at + i] = static_cast<T>(weighed ? sum : sizeof(T) < sizeof(double) ? sum * part : sum / divisor);
    }
  }
}

template <class T>
void mean_narrow(const T* const* arrays, int64_t number, const double* shares, int64_t count, T* out) {
  shares ? mean<true>(arrays, number, shares, count, out) : mean<false>(arrays, number, shares, count, out);
}

#if defined(TENSORKEEP_WIDE)
template <class T>
TENSORKEEP_WIDE void mean_wide(const T* const* arrays, int64_t number, const double* shares, int64_t count, T* out) {
  shares ? mean<true>(arrays, number, shares, count, out) : mean<false>(arrays, number, shares, count, out);
}
#endif

template <class T>
int32_t mean_of(const T* const* arrays, int64_t number, const double* shares, int64_t count, T* out) {
  if (number < 1 || !is_aligned(out)) return 0;
  for (int64_t each = 0; each < number; ++each) {
    if (!is_aligned(arrays[each])) return 0;
  }
#if defined(TENSORKEEP_WIDE)
  if (__builtin_cpu_supports("avx2")) {
    mean_wide(arrays, number, shares, count, out);
    return 1;
  }
#endif
  mean_narrow(arrays, number, shares, count, out);
  return 1;
}

}  // namespace

// ------------------------------------------------------------------------------------------------ What Python can call

// Raise this with every change of what is exported below; library.py asks for it before it calls anything else.
TENSORKEEP_EXPORT int32_t tensorkeep_interface(void) { return 14; }

// One function per rule and type: arrays, how many elements each has, and the numbers in the order of TensorFlow's op,
// as doubles, flags among them. Each returns 1 if it has done the work, or 0 if it has touched nothing.

#define ARRAYS_1(T) T *a, const T *gradient
#define ARRAYS_2(T) T *a, T *b, const T *gradient
#define ARRAYS_3(T) T *a, T *b, T *c, const T *gradient
#define ARRAYS_4(T) T *a, T *b, T *c, T *d, const T *gradient

#define EXPORT(T)                                                                                                      \
  TENSORKEEP_EXPORT int32_t gradient_descent_##T(ARRAYS_1(T), int64_t count, double alpha) {                           \
    return gradient_descent<T>(a, gradient, count, T(alpha));                                                          \
  }                                                                                                                    \
  TENSORKEEP_EXPORT int32_t momentum_##T(ARRAYS_2(T), int64_t count, double lr, double mu, double nesterov) {          \
    return momentum<T>(a, b, gradient, count, T(lr), T(mu), nesterov != 0);                                            \
  }                                                                                                                    \
  TENSORKEEP_EXPORT int32_t keras_momentum_##T(ARRAYS_2(T), int64_t count, double lr, double mu, double nesterov) {    \
    return keras_momentum<T>(a, b, gradient, count, T(lr), T(mu), nesterov != 0);                                      \
  }                                                                                                                    \
  TENSORKEEP_EXPORT int32_t adagrad_##T(ARRAYS_2(T), int64_t count, double lr, double update_slots) {                  \
    return adagrad<T>(a, b, gradient, count, T(lr), update_slots != 0);                                                \
  }                                                                                                                    \
  TENSORKEEP_EXPORT int32_t adagrad_v2_##T(ARRAYS_2(T), int64_t count, double lr, double epsilon,                      \
                                           double update_slots) {                                                      \
    return adagrad_v2<T>(a, b, gradient, count, T(lr), T(epsilon), update_slots != 0);                                 \
  }                                                                                                                    \
  TENSORKEEP_EXPORT int32_t adadelta_##T(ARRAYS_3(T), int64_t count, double lr, double rho, double epsilon) {          \
    return adadelta<T>(a, b, c, gradient, count, T(lr), T(rho), T(epsilon));                                           \
  }                                                                                                                    \
  TENSORKEEP_EXPORT int32_t adam_##T(ARRAYS_3(T), int64_t count, double beta1_power, double beta2_power, double lr,    \
                                     double beta1, double beta2, double epsilon, double nesterov) {                    \
    return adam<T>(a, b, c, gradient, count, T(beta1_power), T(beta2_power), T(lr), T(beta1), T(beta2), T(epsilon),    \
                   nesterov != 0);                                                                                     \
  }                                                                                                                    \
  TENSORKEEP_EXPORT int32_t rms_prop_##T(ARRAYS_3(T), int64_t count, double lr, double rho, double mu,                 \
                                         double epsilon) {                                                             \
    return rms_prop<T>(a, b, c, gradient, count, T(lr), T(rho), T(mu), T(epsilon));                                    \
  }                                                                                                                    \
  TENSORKEEP_EXPORT int32_t centered_rms_prop_##T(ARRAYS_4(T), int64_t count, double lr, double rho, double mu,        \
                                                  double epsilon) {                                                    \
    return centered_rms_prop<T>(a, b, c, d, gradient, count, T(lr), T(rho), T(mu), T(epsilon));                        \
  }                                                                                                                    \
  TENSORKEEP_EXPORT int32_t ftrl_##T(ARRAYS_3(T), int64_t count, double lr, double l1, double l2,                      \
                                     double lr_power, double multiplies) {                                             \
    return ftrl<T, false>(a, b, c, gradient, count, T(lr), T(l1), T(l2), T(lr_power), multiplies != 0);                \
  }                                                                                                                    \
  TENSORKEEP_EXPORT int32_t ftrl_v2_##T(ARRAYS_3(T), int64_t count, double lr, double l1, double l2,                   \
                                        double l2_shrinkage, double lr_power, double multiplies) {                     \
    return ftrl_v2<T, false>(a, b, c, gradient, count, T(lr), T(l1), T(l2), T(l2_shrinkage), T(lr_power),              \
                            multiplies != 0);                                                                          \
  }                                                                                                                    \
  TENSORKEEP_EXPORT int32_t whole_ftrl_##T(ARRAYS_3(T), int64_t count, double lr, double l1, double l2,                \
                                     double lr_power, double multiplies) {                                             \
    return ftrl<T, true>(a, b, c, gradient, count, T(lr), T(l1), T(l2), T(lr_power), multiplies != 0);                 \
  }                                                                                                                    \
  TENSORKEEP_EXPORT int32_t whole_ftrl_v2_##T(ARRAYS_3(T), int64_t count, double lr, double l1, double l2,             \
                                        double l2_shrinkage, double lr_power, double multiplies) {                     \
    return ftrl_v2<T, true>(a, b, c, gradient, count, T(lr), T(l1), T(l2), T(l2_shrinkage), T(lr_power),               \
                            multiplies != 0);                                                                          \
  }

EXPORT(float)
EXPORT(double)

#define EXPORT_LOSS(T, Label)                                                                                          \
  TENSORKEEP_EXPORT int32_t sparse_cross_entropy_##T##_##Label(const T* logits, const Label* labels, int64_t rows,     \
                                                               int64_t classes, T* losses, T* gradient) {              \
    return sparse_cross_entropy<T, Label>(logits, labels, rows, classes, losses, gradient);                            \
  }

EXPORT_LOSS(float, int32_t)
EXPORT_LOSS(float, int64_t)
EXPORT_LOSS(double, int32_t)
EXPORT_LOSS(double, int64_t)

// Arrays, how many there are, their shares or nothing, how many elements each has, and where the mean goes.
#define EXPORT_MEAN(T)                                                                                                 \
  TENSORKEEP_EXPORT int32_t mean_##T(const T* const* arrays, int64_t number, const double* shares, int64_t count,      \
                                     T* out) {                                                                         \
    return mean_of<T>(arrays, number, shares, count, out);                                                             \
  }

EXPORT_MEAN(float)
EXPORT_MEAN(double)

// ---------------------------------------------------------------------------------------------------------- Checksums

namespace {

// CRC-32C, eight bytes at a time: `bytes[k][b]` is what the byte b becomes when k more bytes follow it.
struct Crc32cTables {
  uint32_t bytes[8][256];

  constexpr Crc32cTables() : bytes() {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      uint32_t crc = byte;
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? 0x82F63B78u : 0u);
      bytes[0][byte] = crc;
    }
    for (int k = 1; k < 8; ++k) {
      for (uint32_t byte = 0; byte < 256; ++byte) {
        const uint32_t before = bytes[k - 1][byte];
        bytes[k][byte] = (before >> 8) ^ bytes[0][before & 0xFF];
      }
    }
  }
};

constexpr Crc32cTables crc32c_tables;

uint32_t crc32c_by_tables(const uint8_t* data, int64_t size) {
  const auto& of = crc32c_tables.bytes;
  uint32_t crc = 0xFFFFFFFFu;
  for (; size >= 8; size -= 8, data += 8) {
    crc = of[7][(crc ^ data[0]) & 0xFF] ^ of[6][((crc >> 8) ^ data[1]) & 0xFF] ^ of[5][((crc >> 16) ^ data[2]) & 0xFF] ^
          of[4][(crc >> 24) ^ data[3]] ^ of[3][data[4]] ^ of[2][data[5]] ^ of[1][data[6]] ^ of[0][data[7]];
  }
  for (; size > 0; --size, ++data) crc = (crc >> 8) ^ of[0][(crc ^ *data) & 0xFF];
  return ~crc;
}

#if defined(__GNUC__) && defined(__x86_64__)
#define TENSORKEEP_CRC32C_INSTRUCTION
__attribute__((target("sse4.2"))) uint32_t crc32c_by_instruction(const uint8_t* data, int64_t size) {
  uint64_t crc = 0xFFFFFFFFu;
  for (; size >= 8; size -= 8, data += 8) {
    uint64_t word;
    __builtin_memcpy(&word, data, 8);
    crc = __builtin_ia32_crc32di(crc, word);
  }
  for (; size > 0; --size, ++data) crc = __builtin_ia32_crc32qi(static_cast<uint32_t>(crc), *data);
  return ~static_cast<uint32_t>(crc);
}
#endif

}  // namespace

// The checksum of each of `count` stretches of `data`. Returns 0, and gives none, if one of them is not within it.
// `by_tables` does without the processor's instruction, as is done where there is none.
TENSORKEEP_EXPORT int32_t crc32c_of_stretches(const uint8_t* data, int64_t size, const int64_t* starts,
                                              const int64_t* lengths, int64_t count, int32_t by_tables,
                                              uint32_t* crcs) {
  for (int64_t i = 0; i < count; ++i) {
    if (starts[i] < 0 || lengths[i] < 0 || starts[i] > size || lengths[i] > size - starts[i]) return 0;
  }
  auto crc32c = crc32c_by_tables;
#if defined(TENSORKEEP_CRC32C_INSTRUCTION)
  if (!by_tables && __builtin_cpu_supports("sse4.2")) crc32c = crc32c_by_instruction;
#endif
  for (int64_t i = 0; i < count; ++i) crcs[i] = crc32c(data + starts[i], lengths[i]);
  return 1;
}

namespace {

// The number of type T at a place, which need not be a multiple of its size; all machines of ours store the low byte first.
template <class T>
T number_at(const uint8_t* at) {
  T number;
  std::memcpy(&number, at, sizeof(number));
  return number;
}

constexpr int64_t kRecordHead = 12, kRecordTail = 4;

}  // namespace

// Records that lie one after the other in `data` from `at` on:
//
//     record = length (8 bytes) checksum of these (4) bytes checksum of them (4)
//
// where the bytes of each begin and end, of `most` at most, up to the first that is not there whole or whose checksums do
// not fit. Returns how many.
TENSORKEEP_EXPORT int64_t records_sound(const uint8_t* data, int64_t size, int64_t at, int64_t most, int64_t* starts,
                                        int64_t* ends) {
  auto crc32c = crc32c_by_tables;
#if defined(TENSORKEEP_CRC32C_INSTRUCTION)
  if (__builtin_cpu_supports("sse4.2")) crc32c = crc32c_by_instruction;
#endif
  const auto fits = [&](const uint8_t* bytes, int64_t length) {
    const uint32_t crc = crc32c(bytes, length);
    return ((crc >> 15) | (crc << 17)) + 0xA282EAD8u == number_at<uint32_t>(bytes + length);
  };
  int64_t count = 0;
  for (; count < most && size - at >= kRecordHead + kRecordTail; ++count) {
    const uint64_t length = number_at<uint64_t>(data + at);
    if (length > static_cast<uint64_t>(size - at - kRecordHead - kRecordTail) || !fits(data + at, 8)) break;
    const int64_t start = at + kRecordHead, end = start + static_cast<int64_t>(length);
    if (!fits(data + start, end - start)) break;
    starts[count] = start;
    ends[count] = end;
    at = end + kRecordTail;
  }
  return count;
}

// --------------------------------------------------------------------------------------------------- Blocks of tables

// What a block is: table/block.py. Keys (and values) lie one behind the other; `ends` has where each ends, behind a 0.

namespace {

// Reads a length of at most five bytes at `at`, and moves behind it. False if there is none before `end`.
TENSORKEEP_INLINE bool read_length(const uint8_t* data, int64_t end, int64_t& at, int64_t& value) {
  value = 0;
  for (int shift = 0; shift < 35 && at < end; shift += 7) {
    const uint8_t byte = data[at++];
    value |= static_cast<int64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

TENSORKEEP_INLINE uint8_t* write_length(uint8_t* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *out++ = static_cast<uint8_t>(value | 0x80);
  *out++ = static_cast<uint8_t>(value);
  return out;
}

TENSORKEEP_INLINE uint8_t* write_fixed(uint8_t* out, uint32_t value) {
  for (int byte = 0; byte < 4; ++byte) *out++ = static_cast<uint8_t>(value >> (8 * byte));
  return out;
}

TENSORKEEP_INLINE uint8_t* write_bytes(uint8_t* out, const uint8_t* from, int64_t size) {
  for (int64_t i = 0; i < size; ++i) out[i] = from[i];
  return out + size;
}

struct BlockEntry {
  int64_t shared, unshared, size;
};

// Reads the head of the entry at `at`, and moves behind it. False if it, its key or its value are not before `end`.
TENSORKEEP_INLINE bool read_entry(const uint8_t* data, int64_t end, int64_t& at, BlockEntry& entry) {
  return read_length(data, end, at, entry.shared) && read_length(data, end, at, entry.unshared) &&
         read_length(data, end, at, entry.size) && entry.unshared + entry.size <= end - at;
}

}  // namespace

// How many leading bytes each key shares with the one before it; nothing for the first.
TENSORKEEP_EXPORT void table_shared_lengths(const uint8_t* keys, const int64_t* ends, int64_t count, int64_t* shared) {
  for (int64_t i = 0; i < count; ++i) {
    if (i == 0) {
      shared[i] = 0;
      continue;
    }
    const uint8_t *before = keys + ends[i - 1], *key = keys + ends[i];
    const int64_t length = ends[i + 1] - ends[i], length_before = ends[i] - ends[i - 1];
    const int64_t limit = length < length_before ? length : length_before;
    int64_t same = 0;
    while (same < limit && before[same] == key[same]) ++same;
    shared[i] = same;
  }
}

// Writes the block of the entries from `first` to `last`, of which there is one at least, to `out`. Returns its size, or
// 0 if that is not `size`, as it has to be, or if the block is too large for its restarts.
TENSORKEEP_EXPORT int64_t table_encode_block(const uint8_t* keys, const int64_t* key_ends, const uint8_t* values,
                                             const int64_t* value_ends, const int64_t* shared, int64_t first,
                                             int64_t last, int64_t interval, uint8_t* out, int64_t size) {
  if (first >= last || interval < 1 || size > 0xFFFFFFFFll) return 0;
  const int64_t restarts = (last - first + interval - 1) / interval;
  const int64_t entries = size - 4 * (restarts + 1);
  if (entries < 0) return 0;
  uint8_t* at = out;
  uint8_t* restart = out + entries;
  for (int64_t i = first; i < last; ++i) {
    const bool is_restart = (i - first) % interval == 0;
    const int64_t same = is_restart ? 0 : shared[i];
    const int64_t unshared = key_ends[i + 1] - key_ends[i] - same, value = value_ends[i + 1] - value_ends[i];
    if (entries - (at - out) < unshared + value) return 0;
    if (is_restart) restart = write_fixed(restart, static_cast<uint32_t>(at - out));
    uint8_t head[30];  // ten bytes hold any length
    const int64_t length = write_length(write_length(write_length(head, same), unshared), value) - head;
    if (entries - (at - out) < length + unshared + value) return 0;
    at = write_bytes(at, head, length);
    at = write_bytes(at, keys + key_ends[i] + same, unshared);
    at = write_bytes(at, values + value_ends[i], value);
  }
  if (at != out + entries) return 0;
  write_fixed(restart, static_cast<uint32_t>(restarts));
  return size;
}

// Looks through the entries of a block, which end at `end`. Returns how many there are, or -1 if one is malformed, or
// is of a form that nobody writes, or if all keys together take more than `most` bytes. `key_bytes` is how many.
TENSORKEEP_EXPORT int64_t table_count_entries(const uint8_t* data, int64_t end, int64_t most, int64_t* key_bytes) {
  int64_t at = 0, count = 0, length = 0, total = 0;
  for (; at < end; ++count) {
    BlockEntry entry;
    if (!read_entry(data, end, at, entry) || entry.shared > length) return -1;
    length = entry.shared + entry.unshared;
    total += length;
    if (total > most) return -1;
    at += entry.unshared + entry.size;
  }
  *key_bytes = total;
  return count;
}

// Takes apart a block that `table_count_entries` has looked through: gives the keys, separated by line ends, where each
// of them ends in that, and where each value begins and ends in `data`.
TENSORKEEP_EXPORT void table_load_entries(const uint8_t* data, int64_t end, uint8_t* keys, int64_t* key_ends,
                                          int64_t* value_starts, int64_t* value_ends) {
  const uint8_t* before = keys;
  uint8_t* out = keys;
  int64_t at = 0;
  for (int64_t i = 0; at < end; ++i) {
    BlockEntry entry;
    if (!read_entry(data, end, at, entry)) return;
    if (i) *out++ = '\n';
    const uint8_t* key = out;
    out = write_bytes(out, before, entry.shared);
    out = write_bytes(out, data + at, entry.unshared);
    before = key;
    key_ends[i] = out - keys;
    value_starts[i] = at + entry.unshared;
    at += entry.unshared + entry.size;
    value_ends[i] = at;
  }
}
