// Rules of optimizers: what is done to one element of a variable and of its slots.
//
// A rule is a value with what is the same for all elements, called with one element of the gradient, of the variable
// and of each slot; it changes all but the first. Rules of rows are called with a whole row of each. Arithmetic is that of IEEE 754, in the order of the implementations in
// NumPy (rules.py, ops/training/optimizer_steps.py, embedding/table/update_rules.py): both give the same bits.

#ifndef TENSORKEEP_NATIVE_RULES_H_
#define TENSORKEEP_NATIVE_RULES_H_

#include <cmath>
#include <cstdint>

#if defined(__GNUC__)
#define TENSORKEEP_INLINE inline __attribute__((always_inline))
#define TENSORKEEP_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define TENSORKEEP_INLINE __forceinline
#define TENSORKEEP_EXPORT extern "C" __declspec(dllexport)
#endif

#if defined(__GNUC__) && defined(__x86_64__)
#define TENSORKEEP_WIDE __attribute__((target("avx2")))
#endif

namespace {

#if defined(__GNUC__)
TENSORKEEP_INLINE float root(float x) { return __builtin_sqrtf(x); }
TENSORKEEP_INLINE double root(double x) { return __builtin_sqrt(x); }
#else
TENSORKEEP_INLINE float root(float x) { return std::sqrt(x); }
TENSORKEEP_INLINE double root(double x) { return std::sqrt(x); }
#endif

template <class T>
struct GradientDescent {
  T rate;

  TENSORKEEP_INLINE void operator()(T gradient, T& variable) const { variable -= gradient * rate; }
};

template <class T, bool nesterov>
struct Momentum {
  T rate, momentum, product;

  TENSORKEEP_INLINE void operator()(T gradient, T& variable, T& accumulated) const {
    accumulated = accumulated * momentum + gradient;
    variable -= nesterov ? gradient * rate + accumulated * product : accumulated * rate;
  }
};

template <class T, bool nesterov>
struct KerasMomentum {
  T rate, momentum;

  TENSORKEEP_INLINE void operator()(T gradient, T& variable, T& accumulated) const {
    accumulated = accumulated * momentum - gradient * rate;
    variable += nesterov ? accumulated * momentum - gradient * rate : accumulated;
  }
};

template <class T, bool update_slots>
struct Adagrad {
  T rate;

  TENSORKEEP_INLINE void operator()(T gradient, T& variable, T& squares) const {
    if (update_slots) squares += gradient * gradient;
    variable -= gradient * rate / root(squares);
  }
};

template <class T, bool update_slots>
struct AdagradV2 {
  T rate, epsilon;

  TENSORKEEP_INLINE void operator()(T gradient, T& variable, T& squares) const {
    if (update_slots) squares += gradient * gradient;
    variable -= gradient * rate / (root(squares) + epsilon);
  }
};

template <class T>
struct Adadelta {
  T rate, rho, rest, epsilon;

  TENSORKEEP_INLINE void operator()(T gradient, T& variable, T& squares, T& updates) const {
    squares = squares * rho + gradient * gradient * rest;
    const T update = root(updates + epsilon) / root(squares + epsilon) * gradient;
    updates = updates * rho + update * update * rest;
    variable -= update * rate;
  }
};

template <class T, bool nesterov>
struct Adam {
  T rate, beta1, rest1, beta2, rest2, epsilon;

  TENSORKEEP_INLINE void operator()(T gradient, T& variable, T& first, T& second) const {
    first = first * beta1 + gradient * rest1;
    second = second * beta2 + gradient * gradient * rest2;
    const T direction = nesterov ? gradient * rest1 + first * beta1 : first;
    variable -= direction / (root(second) + epsilon) * rate;
  }
};

template <class T>
struct RmsProp {
  T rate, rest, momentum, epsilon;

  TENSORKEEP_INLINE void operator()(T gradient, T& variable, T& squares, T& moment) const {
    squares += (gradient * gradient - squares) * rest;
    moment = moment * momentum + gradient * rate / root(squares + epsilon);
    variable -= moment;
  }
};

template <class T>
struct CenteredRmsProp {
  T rate, rest, momentum, epsilon;

  TENSORKEEP_INLINE void operator()(T gradient, T& variable, T& mean, T& squares, T& moment) const {
    squares += (gradient * gradient - squares) * rest;
    mean += (gradient - mean) * rest;
    moment = moment * momentum + gradient * rate / root(squares - mean * mean + epsilon);
    variable -= moment;
  }
};

// Where the power of the learning rate is -0.5, as it nearly always is. `shrinkage` and `penalty` are doubled. As in
// TensorFlow (training_ops.cc), an element of a whole variable is 0 unless its linear term is beyond the limit, and so
// where that is not a number; one of a row is not a number then.
template <class T, bool shrinks, bool multiplies, bool is_whole>
struct Ftrl {
  T rate, limit, penalty, shrinkage;

  TENSORKEEP_INLINE void operator()(T gradient, T& variable, T& squares, T& linear) const {
    const T grown = squares + gradient * gradient;
    const T old_root = root(squares), new_root = root(grown);
    const T shrunk = shrinks ? gradient + shrinkage * variable : gradient;
    if (multiplies) {
      linear += shrunk * rate - (new_root - old_root) * variable;
    } else {
      linear += shrunk - (new_root - old_root) / rate * variable;
    }
    const T weight = multiplies ? new_root + penalty : new_root / rate + penalty;
    const T above = linear < -limit ? -limit : linear;  // a linear term that is not a number stays so
    const T stepped = ((above > limit ? limit : above) - linear) / weight;
    variable = !is_whole || linear > limit || linear < -limit ? stepped : T(0);
    squares = grown;
  }
};

// DeepRec's rules for embedding variables that look at a row as a whole; they are called once for each.
//
// Follow the regularised leader: the first penalty compares the length of a row's linear term with the limit, and
// shrinks the row as a whole. The accumulator grows by the gradient without shrinkage, everything else goes by the one
// with (training_ali_ops.cc, COMPUTE_FTRL). A length that is not a number is not above the limit either.
template <class T, bool shrinks>
struct RowFtrl {
  T rate, limit, penalty, shrinkage;

  TENSORKEEP_INLINE T used(T gradient, T variable) const {
    return shrinks ? gradient + shrinkage * variable : gradient;
  }

  TENSORKEEP_INLINE void operator()(int64_t dim, const T* __restrict gradient, T* __restrict variable,
                                    T* __restrict squares, T* __restrict linear) const {
    for (int64_t i = 0; i < dim; ++i) {
      const T push = used(gradient[i], variable[i]);
      const T old_root = root(squares[i]), new_root = root(squares[i] + push * push);
      linear[i] += push - (new_root - old_root) / rate * variable[i];
    }
    T sum = T(0);
    for (int64_t i = 0; i < dim; ++i) sum += linear[i] * linear[i];
    const T length = root(sum), over = limit - length;
    if (length > limit) {
      for (int64_t i = 0; i < dim; ++i) {
        const T push = used(gradient[i], variable[i]);
        const T weight = root(squares[i] + push * push) / rate + penalty;
        variable[i] = over / (weight * length) * linear[i];
      }
    } else {
      for (int64_t i = 0; i < dim; ++i) variable[i] = T(0);
    }
    for (int64_t i = 0; i < dim; ++i) squares[i] += gradient[i] * gradient[i];
  }
};

// Adagrad of which the accumulator decays. How often it has is the first number of the slot; the others, if there are
// any, stay as they are (training_ali_ops.cc, KvSparseApplyAdagradDecayOp).
template <class T>
struct RowAdagradDecay {
  T rate, decay, baseline, periods;

  TENSORKEEP_INLINE void operator()(int64_t dim, const T* __restrict gradient, T* __restrict variable,
                                    T* __restrict squares, T* __restrict power) const {
    if (periods > power[0]) {
      for (int64_t i = 0; i < dim; ++i) {
        const T decayed = squares[i] * decay;
        squares[i] = decayed < baseline ? baseline : decayed;
      }
      power[0] += T(1);
    }
    for (int64_t i = 0; i < dim; ++i) {
      squares[i] += gradient[i] * gradient[i];
      variable[i] -= gradient[i] * rate / root(squares[i]);
    }
  }
};

template <class T>
struct AdamW {
  T rate, beta1, rest1, beta2, rest2, epsilon, shrinkage;

  TENSORKEEP_INLINE void operator()(T gradient, T& variable, T& first, T& second) const {
    first = first * beta1 + gradient * rest1;
    second = second * beta2 + gradient * gradient * rest2;
    variable -= first / (root(second) + epsilon) * rate + variable * shrinkage;
  }
};

// What an asynchronous Adam does to rows if so asked: RMSProp, with momentum.
template <class T>
struct MomentumRmsProp {
  T rate, beta1, beta2, rest2, epsilon;

  TENSORKEEP_INLINE void operator()(T gradient, T& variable, T& moment, T& squares) const {
    squares = squares * beta2 + gradient * gradient * rest2;
    moment = moment * beta1 + gradient * rate / root(squares + epsilon);
    variable -= moment;
  }
};

}  // namespace

#endif  // TENSORKEEP_NATIVE_RULES_H_
