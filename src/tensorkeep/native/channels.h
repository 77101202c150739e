// Sums over all but the last axis of arrays, and what is done to every channel with them: batch normalization. For one
// kind of processor: layers.cpp includes this once for each kind, inside a namespace, after tiles.h. No include guard, for
// that reason.
//
// Rows are summed in blocks of kBlockRows, whose sums are put one after the other: what comes out does not depend on how
// many threads there are, and no sum of floats is long.

// Whole vectors, or the first channels of one.
struct Lanes {
  int count;

  TILE_TARGET TENSORKEEP_INLINE Vector::Type load(const float* from) const {
    return count == Vector::lanes ? Vector::load(from) : Vector::load_part(from, count);
  }
  TILE_TARGET TENSORKEEP_INLINE void store(float* to, Vector::Type x) const {
    count == Vector::lanes ? Vector::store(to, x) : Vector::store_part(to, x, count);
  }
};

TENSORKEEP_INLINE static Lanes lanes_at(int64_t channel, int64_t channels) {
  const int64_t left = channels - channel;
  return {static_cast<int>(left < Vector::lanes ? left : Vector::lanes)};
}

// Adds a value of x, or, of squares, that of what is beyond the mean.
template <bool squares>
TILE_TARGET TENSORKEEP_INLINE static Vector::Type with_value(Vector::Type value, Vector::Type mean, Vector::Type sum) {
  if (!squares) return Vector::multiply_add(Vector::set(1.0f), value, sum);
  value = Vector::multiply_add(Vector::set(-1.0f), mean, value);
  return Vector::multiply_add(value, value, sum);
}

constexpr int kSums = 4;  // that are made side by side, for one addition has to wait for the one before

// One vector of channels of some rows: the sums of x, or of the squares of what is beyond the mean.
template <bool squares>
TILE_TARGET static void sum_block(const float* x, int64_t rows, int64_t channels, Lanes lanes, Vector::Type mean,
                                  float* out) {
  Vector::Type sums[kSums];
  for (int i = 0; i < kSums; ++i) sums[i] = Vector::set(0.0f);
  int64_t row = 0;
  for (; row + kSums <= rows; row += kSums) {
    for (int i = 0; i < kSums; ++i) {
      sums[i] = with_value<squares>(lanes.load(x + (row + i) * channels), mean, sums[i]);
    }
  }
  for (; row < rows; ++row) sums[0] = with_value<squares>(lanes.load(x + row * channels), mean, sums[0]);
  for (int i = 1; i < kSums; ++i) sums[0] = Vector::multiply_add(Vector::set(1.0f), sums[i], sums[0]);
  lanes.store(out, sums[0]);
}

// Blocks `begin` to `end` of the sums of rows; `mean` may be null: see sum_block.
TILE_TARGET static void sum_channels(const float* x, int64_t rows, int64_t channels, const float* mean, float* out,
                                     int64_t begin, int64_t end) {
  for (int64_t block = begin; block < end; ++block) {
    const int64_t first = block * kBlockRows, count = rows - first < kBlockRows ? rows - first : kBlockRows;
    for (int64_t channel = 0; channel < channels; channel += Vector::lanes) {
      const Lanes lanes = lanes_at(channel, channels);
      const float* from = x + first * channels + channel;
      float* to = out + block * channels + channel;
      if (mean) {
        sum_block<true>(from, count, channels, lanes, lanes.load(mean + channel), to);
      } else {
        sum_block<false>(from, count, channels, lanes, Vector::set(0.0f), to);
      }
    }
  }
}

// Blocks `begin` to `end` of the sums of gradients, and of gradients times what x is beyond its mean: two rows for each.
TILE_TARGET static void sum_gradients(const float* gradient, const float* x, int64_t rows, int64_t channels,
                                      const float* mean, float* out, int64_t begin, int64_t end) {
  const Vector::Type one = Vector::set(1.0f), minus = Vector::set(-1.0f);
  for (int64_t block = begin; block < end; ++block) {
    const int64_t first = block * kBlockRows, count = rows - first < kBlockRows ? rows - first : kBlockRows;
    for (int64_t channel = 0; channel < channels; channel += Vector::lanes) {
      const Lanes lanes = lanes_at(channel, channels);
      const Vector::Type middle = lanes.load(mean + channel);
      const float *values = gradient + first * channels + channel, *inputs = x + first * channels + channel;
      Vector::Type plain[kSums], times[kSums];
      for (int i = 0; i < kSums; ++i) plain[i] = times[i] = Vector::set(0.0f);
      int64_t row = 0;
      for (; row + kSums <= count; row += kSums) {
        for (int i = 0; i < kSums; ++i) {
          const Vector::Type value = lanes.load(values + (row + i) * channels);
          plain[i] = Vector::multiply_add(one, value, plain[i]);
          const Vector::Type beyond = Vector::multiply_add(minus, middle, lanes.load(inputs + (row + i) * channels));
          times[i] = Vector::multiply_add(value, beyond, times[i]);
        }
      }
      for (; row < count; ++row) {
        const Vector::Type value = lanes.load(values + row * channels);
        plain[0] = Vector::multiply_add(one, value, plain[0]);
        const Vector::Type beyond = Vector::multiply_add(minus, middle, lanes.load(inputs + row * channels));
        times[0] = Vector::multiply_add(value, beyond, times[0]);
      }
      for (int i = 1; i < kSums; ++i) {
        plain[0] = Vector::multiply_add(one, plain[i], plain[0]);
        times[0] = Vector::multiply_add(one, times[i], times[0]);
      }
      float* to = out + 2 * block * channels + channel;
      lanes.store(to, plain[0]);
      lanes.store(to + channels, times[0]);
    }
  }
}

// Rows `begin` to `end` of (x - mean) * factor + offset.
TILE_TARGET static void scale_channels(const float* x, int64_t channels, const float* mean, const float* factor,
                                       const float* offset, float* out, int64_t begin, int64_t end) {
  const Vector::Type minus = Vector::set(-1.0f);
  for (int64_t channel = 0; channel < channels; channel += Vector::lanes) {
    const Lanes lanes = lanes_at(channel, channels);
    const Vector::Type middle = lanes.load(mean + channel), by = lanes.load(factor + channel);
    const Vector::Type beyond = lanes.load(offset + channel);
    for (int64_t at = begin * channels + channel; at < end * channels; at += channels) {
      const Vector::Type value = Vector::multiply_add(minus, middle, lanes.load(x + at));
      lanes.store(out + at, Vector::multiply_add(value, by, beyond));
    }
  }
}

// Rows `begin` to `end` of (gradient - offset - (x - mean) * slope) * factor.
TILE_TARGET static void gradient_of_channels(const float* gradient, const float* x, int64_t channels, const float* mean,
                                             const float* offset, const float* slope, const float* factor, float* out,
                                             int64_t begin, int64_t end) {
  const Vector::Type minus = Vector::set(-1.0f), zero = Vector::set(0.0f);
  for (int64_t channel = 0; channel < channels; channel += Vector::lanes) {
    const Lanes lanes = lanes_at(channel, channels);
    const Vector::Type middle = lanes.load(mean + channel), by = lanes.load(factor + channel);
    const Vector::Type less = lanes.load(offset + channel);
    const Vector::Type steep = Vector::multiply_add(minus, lanes.load(slope + channel), zero);
    for (int64_t at = begin * channels + channel; at < end * channels; at += channels) {
      const Vector::Type beyond = Vector::multiply_add(minus, middle, lanes.load(x + at));
      Vector::Type value = Vector::multiply_add(minus, less, lanes.load(gradient + at));
      value = Vector::multiply_add(beyond, steep, value);
      lanes.store(out + at, Vector::multiply_add(value, by, zero));
    }
  }
}
