// Embedding tables: from keys to row numbers, and work on rows that lie in chunks.
//
// Every function takes plain pointers and numbers and calls nothing of Python. Who calls sees to it that nothing else
// uses an index while it is changed; any number of threads may look keys up in one. Row numbers are those that an index
// gave, and chunks hold them all.
//
// Looking up is waiting for memory. So keys are taken in blocks: while the keys of one are compared, the memory that
// the next one needs is under way.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "rules.h"

namespace {

#if defined(__GNUC__)
TENSORKEEP_INLINE void prefetch(const void* place) { __builtin_prefetch(place, 0, 3); }
TENSORKEEP_INLINE void prefetch_to_write(const void* place) { __builtin_prefetch(place, 1, 3); }
TENSORKEEP_INLINE int first_bit(uint32_t bits) { return __builtin_ctz(bits); }
#else
TENSORKEEP_INLINE void prefetch(const void*) {}
TENSORKEEP_INLINE void prefetch_to_write(const void*) {}
TENSORKEEP_INLINE int first_bit(uint32_t bits) {
  int at = 0;
  while (!(bits >> at & 1)) ++at;
  return at;
}
#endif

constexpr int64_t kAbsent = -1;
constexpr int64_t kBlock = 8;       // keys that are looked at together: a processor waits for a dozen lines at most
constexpr int64_t kCacheLine = 64;  // bytes

// -------------------------------------------------------------------------------------------------------------- Memory

constexpr size_t kHugePage = size_t(1) << 21;

// Zeroed memory at a multiple of a cache line, in large pages if there is enough of it: they spare most of the search
// for where a page lies. Null if there is none.
void* allocate(size_t bytes) {
  const size_t alignment = bytes >= kHugePage ? kHugePage : size_t(kCacheLine);
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes) != 0) return nullptr;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (bytes >= kHugePage) madvise(memory, bytes & ~(kHugePage - 1), MADV_HUGEPAGE);
#endif
  std::memset(memory, 0, bytes);
  return memory;
}

// Much zeroed memory, which is there once it is used. Null if there is none, or not on this system.
char* map_memory(size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, bytes, MADV_HUGEPAGE);
  return static_cast<char*>(memory);
#else
  static_cast<void>(bytes);
  return nullptr;
#endif
}

void unmap_memory(char* memory, size_t bytes) {
#if defined(__linux__)
  if (memory) munmap(memory, bytes);
#else
  static_cast<void>(memory);
  static_cast<void>(bytes);
#endif
}

// Lets go of part of mapped memory, which is not used any more.
void drop_memory(void* memory, size_t bytes) {
#if defined(__linux__)
  constexpr uintptr_t kPage = 4096;
  const uintptr_t start = (reinterpret_cast<uintptr_t>(memory) + kPage - 1) & ~(kPage - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(memory) + bytes) & ~(kPage - 1);
  if (start < end) madvise(reinterpret_cast<void*>(start), end - start, MADV_DONTNEED);
#else
  static_cast<void>(memory);
  static_cast<void>(bytes);
#endif
}

// --------------------------------------------------------------------------------------------------------------- Index

// Five keys with their rows in a cache line. Keys stand in front, without holes. `beyond` counts the keys that belong
// here and were stored further on, for want of room; a search ends where there are none. At its largest value it stays.
struct Bucket {
  int64_t keys[5];
  uint32_t rows[5];
  uint8_t count;
  uint8_t unused;
  uint16_t beyond;
};
static_assert(sizeof(Bucket) == kCacheLine, "a bucket is a cache line");

constexpr int kSlots = 5;
constexpr uint16_t kManyBeyond = 0xffff;
constexpr uint32_t kMostRows = 0xfffffffe;

// Part of the keys, by their hash, in buckets. A key is in the bucket that its hash says, or in one of the next.
struct Shard {
  Bucket* buckets;
  uint64_t bucket_count;
  uint64_t key_count;
};

constexpr int kShardBits = 6;
constexpr int kShards = 1 << kShardBits;

// Shards grow at different times, so that there is no moment at which all are half empty, and none at which all grow.
// Those of an index that is told beforehand how large it will be lie in one piece, in large pages from end to end,
// until they grow.
struct Index {
  Shard shards[kShards];
  char* piece;
  size_t piece_bytes;
  uint32_t* freed;
  uint64_t freed_count, freed_room;
  uint64_t key_count;
  uint64_t row_limit;
};

TENSORKEEP_INLINE uint64_t hash_of(int64_t key) {
  uint64_t mixed = static_cast<uint64_t>(key);
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 31);
}

TENSORKEEP_INLINE uint64_t high_product(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__)
  return static_cast<uint64_t>((static_cast<unsigned __int128>(a) * b) >> 64);
#else
  const uint64_t a0 = static_cast<uint32_t>(a), a1 = a >> 32, b0 = static_cast<uint32_t>(b), b1 = b >> 32;
  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  return a1 * b1 + (middle >> 32) + ((a0 * b1 + static_cast<uint32_t>(middle)) >> 32);
#endif
}

TENSORKEEP_INLINE uint64_t home_of(uint64_t hash, uint64_t bucket_count) {
  return high_product(hash << kShardBits, bucket_count);
}

TENSORKEEP_INLINE uint64_t shard_of(uint64_t hash) { return hash >> (64 - kShardBits); }

TENSORKEEP_INLINE uint32_t matches(const Bucket& bucket, int64_t key) {
  uint32_t found = 0;
  for (int i = 0; i < kSlots; ++i) found |= static_cast<uint32_t>(bucket.keys[i] == key) << i;
  return found & ((1u << bucket.count) - 1);
}

// Where a key is: its bucket, the slot in it, and how many buckets behind its home. No bucket if it is not there.
struct Place {
  Bucket* bucket;
  int slot;
  uint64_t home, steps;
};

TENSORKEEP_INLINE Place place_of(const Shard& shard, uint64_t hash, int64_t key) {
  Place place{nullptr, 0, 0, 0};
  if (shard.bucket_count == 0) return place;
  place.home = home_of(hash, shard.bucket_count);
  uint64_t at = place.home;
  for (;; ++place.steps) {
    Bucket& bucket = shard.buckets[at];
    const uint32_t found = matches(bucket, key);
    if (found) {
      place.bucket = &bucket;
      place.slot = first_bit(found);
      return place;
    }
    if (bucket.beyond == 0 || place.steps == shard.bucket_count) return place;
    if (++at == shard.bucket_count) at = 0;
  }
}

TENSORKEEP_INLINE int64_t row_of(const Shard& shard, uint64_t hash, int64_t key) {
  if (shard.bucket_count == 0) return kAbsent;
  uint64_t at = home_of(hash, shard.bucket_count);
  for (uint64_t steps = 0; steps <= shard.bucket_count; ++steps) {
    const Bucket& bucket = shard.buckets[at];
    const uint32_t found = matches(bucket, key);
    if (found) return bucket.rows[first_bit(found)];
    if (bucket.beyond == 0) return kAbsent;
    if (++at == shard.bucket_count) at = 0;
  }
  return kAbsent;
}

// Stores a key that is not there. There is room in the shard.
TENSORKEEP_INLINE void store(Shard& shard, uint64_t hash, int64_t key, uint32_t row) {
  uint64_t at = home_of(hash, shard.bucket_count);
  while (shard.buckets[at].count == kSlots) {
    if (shard.buckets[at].beyond != kManyBeyond) ++shard.buckets[at].beyond;
    if (++at == shard.bucket_count) at = 0;
  }
  Bucket& bucket = shard.buckets[at];
  bucket.keys[bucket.count] = key;
  bucket.rows[bucket.count] = row;
  ++bucket.count;
}

void release(const Index& index, const Shard& shard) {
  const char* const place = reinterpret_cast<const char*>(shard.buckets);
  if (index.piece && place >= index.piece && place < index.piece + index.piece_bytes) {
    drop_memory(shard.buckets, shard.bucket_count * sizeof(Bucket));
  } else {
    std::free(shard.buckets);
  }
}

bool rebuild(const Index& index, Shard& shard, uint64_t bucket_count) {
  Shard grown{static_cast<Bucket*>(allocate(bucket_count * sizeof(Bucket))), bucket_count, shard.key_count};
  if (!grown.buckets) return false;
  for (uint64_t at = 0; at < shard.bucket_count; ++at) {
    const Bucket& bucket = shard.buckets[at];
    for (int slot = 0; slot < bucket.count; ++slot) {
      store(grown, hash_of(bucket.keys[slot]), bucket.keys[slot], bucket.rows[slot]);
    }
  }
  release(index, shard);
  shard = grown;
  return true;
}

// Gives the shards of an index without keys their sizes, all in one piece. False if that cannot be had.
bool lay_out(Index& index, const uint64_t* bucket_counts) {
  uint64_t total = 0;
  for (int number = 0; number < kShards; ++number) total += bucket_counts[number];
  if (index.piece || index.key_count || total * sizeof(Bucket) < kHugePage) return false;
  char* const piece = map_memory(total * sizeof(Bucket));
  if (!piece) return false;
  uint64_t first = 0;
  for (int number = 0; number < kShards; ++number) {
    release(index, index.shards[number]);
    index.shards[number] = Shard{reinterpret_cast<Bucket*>(piece) + first, bucket_counts[number], 0};
    first += bucket_counts[number];
  }
  index.piece = piece;
  index.piece_bytes = total * sizeof(Bucket);
  return true;
}

// Four fifths of the slots may be taken.
TENSORKEEP_INLINE bool is_full(const Shard& shard) { return shard.key_count >= shard.bucket_count * 4; }

// Each shard begins with a size of its own, between one and two of a unit, and doubles.
bool grow(Index& index, uint64_t number) {
  Shard& shard = index.shards[number];
  const uint64_t doubled = shard.bucket_count * 2;
  if (shard.bucket_count < 8) return rebuild(index, shard, shard.bucket_count ? doubled : 1);
  if (shard.bucket_count >= 16) return rebuild(index, shard, doubled);
  const double share = std::exp2(static_cast<double>((number * 37) % kShards) / kShards);  // neighbours differ
  return rebuild(index, shard, static_cast<uint64_t>(16 * share));
}

bool reserve(Index& index, uint64_t keys) {
  const double each = static_cast<double>(keys) / kShards;
  // Keys do not spread evenly: four deviations more than the mean are hardly ever exceeded.
  const uint64_t wanted = static_cast<uint64_t>((each + 4 * std::sqrt(each)) / 3) + 1;  // of five slots
  bool is_larger = true;
  uint64_t bucket_counts[kShards];
  for (int number = 0; number < kShards; ++number) {
    bucket_counts[number] = wanted;
    is_larger &= index.shards[number].bucket_count < wanted;
  }
  if (is_larger && lay_out(index, bucket_counts)) {
    std::memset(index.piece, 0, index.piece_bytes);  // so that who inserts need not wait for it
    return true;
  }
  for (Shard& shard : index.shards) {
    if (shard.bucket_count < wanted && !rebuild(index, shard, wanted)) return false;
  }
  return true;
}

void release(Index& index) {
  for (const Shard& shard : index.shards) {
    const char* const place = reinterpret_cast<const char*>(shard.buckets);
    if (!index.piece || place < index.piece || place >= index.piece + index.piece_bytes) std::free(shard.buckets);
  }
  unmap_memory(index.piece, index.piece_bytes);
  std::free(index.freed);
  index = Index{};
}

// Forgets a key, and returns its row, or -1.
int64_t forget(Index& index, int64_t key) {
  const uint64_t hash = hash_of(key);
  Shard& shard = index.shards[shard_of(hash)];
  const Place place = place_of(shard, hash, key);
  if (!place.bucket) return kAbsent;
  Bucket& bucket = *place.bucket;
  const int64_t row = bucket.rows[place.slot];
  --bucket.count;
  bucket.keys[place.slot] = bucket.keys[bucket.count];
  bucket.rows[place.slot] = bucket.rows[bucket.count];
  uint64_t at = place.home;
  for (uint64_t step = 0; step < place.steps; ++step) {
    if (shard.buckets[at].beyond != kManyBeyond) --shard.buckets[at].beyond;
    if (++at == shard.bucket_count) at = 0;
  }
  --shard.key_count;
  --index.key_count;
  return row;
}

bool make_room_for_freed(Index& index, uint64_t more) {
  const uint64_t needed = index.freed_count + more;
  if (needed <= index.freed_room) return true;
  const uint64_t room = needed + needed / 2;
  void* memory = std::realloc(index.freed, room * sizeof(uint32_t));
  if (!memory) return false;
  index.freed = static_cast<uint32_t*>(memory);
  index.freed_room = room;
  return true;
}

TENSORKEEP_INLINE void prefetch_home(const Index& index, uint64_t hash) {
  const Shard& shard = index.shards[shard_of(hash)];
  if (shard.bucket_count) prefetch(shard.buckets + home_of(hash, shard.bucket_count));
}

// The hashes of the block that begins at `start`, and its buckets under way.
TENSORKEEP_INLINE int64_t begin_block(const Index& index, const int64_t* keys, int64_t start, int64_t count,
                                      uint64_t* hashes) {
  const int64_t size = count - start < kBlock ? count - start : kBlock;
  for (int64_t i = 0; i < size; ++i) {
    hashes[i] = hash_of(keys[start + i]);
    prefetch_home(index, hashes[i]);
  }
  return size;
}

void find(const Index& index, const int64_t* keys, int64_t count, int64_t* rows) {
  uint64_t hashes[2][kBlock];
  int64_t size = begin_block(index, keys, 0, count, hashes[0]);
  for (int64_t start = 0, turn = 0; start < count; turn ^= 1) {
    const int64_t next = start + size;
    const int64_t next_size = next < count ? begin_block(index, keys, next, count, hashes[turn ^ 1]) : 0;
    for (int64_t i = 0; i < size; ++i) {
      const uint64_t hash = hashes[turn][i];
      rows[start + i] = row_of(index.shards[shard_of(hash)], hash, keys[start + i]);
    }
    start = next;
    size = next_size;
  }
}

// Finds or inserts one key. Returns whether it is new, or -1 if there is no memory, or no number, left.
TENSORKEEP_INLINE int find_or_insert_one(Index& index, uint64_t hash, int64_t key, int64_t* row) {
  const uint64_t number = shard_of(hash);
  Shard& shard = index.shards[number];
  *row = row_of(shard, hash, key);
  if (*row != kAbsent) return 0;
  if (is_full(shard) && !grow(index, number)) return -1;
  if (!index.freed_count && index.row_limit > kMostRows) return -1;
  const uint32_t taken =
      index.freed_count ? index.freed[--index.freed_count] : static_cast<uint32_t>(index.row_limit++);
  store(shard, hash, key, taken);
  ++shard.key_count;
  ++index.key_count;
  *row = taken;
  return 1;
}

int64_t find_or_insert(Index& index, const int64_t* keys, int64_t count, int64_t* rows, int64_t* fresh) {
  uint64_t hashes[2][kBlock];
  int64_t fresh_count = 0;
  int64_t size = begin_block(index, keys, 0, count, hashes[0]);
  for (int64_t start = 0, turn = 0; start < count; turn ^= 1) {
    const int64_t next = start + size;
    const int64_t next_size = next < count ? begin_block(index, keys, next, count, hashes[turn ^ 1]) : 0;
    for (int64_t i = 0; i < size; ++i) {
      const int is_new = find_or_insert_one(index, hashes[turn][i], keys[start + i], &rows[start + i]);
      if (is_new < 0) {
        for (int64_t undone = 0; undone < fresh_count; ++undone) {
          const int64_t row = forget(index, keys[fresh[undone]]);
          if (make_room_for_freed(index, 1)) index.freed[index.freed_count++] = static_cast<uint32_t>(row);
        }
        return -1;
      }
      fresh[fresh_count] = start + i;
      fresh_count += is_new;
    }
    start = next;
    size = next_size;
  }
  return fresh_count;
}

// --------------------------------------------------------------------------------------------------- Many keys at once

// A key of many, in two halves so that little memory is taken, and the row that it is to have.
struct Numbered {
  uint32_t low, high;
  uint32_t row;

  TENSORKEEP_INLINE int64_t key() const { return static_cast<int64_t>(uint64_t(high) << 32 | low); }
};
static_assert(sizeof(Numbered) == 12, "who calls has memory for so much");

// Adds to `counts` how many keys each shard is to have.
void count_shards(const int64_t* keys, int64_t count, int64_t* counts) {
  for (int64_t i = 0; i < count; ++i) ++counts[shard_of(hash_of(keys[i]))];
}

// Puts keys, numbered from `first`, where the next of their shard belong.
void place_by_shard(const int64_t* keys, int64_t first, int64_t count, int64_t* next, Numbered* items) {
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t key = static_cast<uint64_t>(keys[i]);
    items[next[shard_of(hash_of(keys[i]))]++] =
        Numbered{static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(first + i)};
  }
}

// Makes room for the keys that each shard of an empty index is to have. False if there is no memory.
bool make_room(Index& index, const int64_t* totals) {
  bool is_larger = true;
  uint64_t wanted[kShards];
  for (int number = 0; number < kShards; ++number) {
    wanted[number] = static_cast<uint64_t>(totals[number]) / 3 + 1;  // of five slots
    is_larger &= index.shards[number].bucket_count < wanted[number];
  }
  if (is_larger && lay_out(index, wanted)) return true;
  for (int number = 0; number < kShards; ++number) {
    Shard& shard = index.shards[number];
    if (shard.bucket_count < wanted[number] && !rebuild(index, shard, wanted[number])) return false;
  }
  return true;
}

// Stores keys of one shard, which has room for them, and is small enough to stay in a cache meanwhile. Returns how many
// were there already, and are left out.
int64_t fill_shard(Shard& shard, const Numbered* items, int64_t count) {
  constexpr int64_t kAhead = 16;
  int64_t repeated = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (i + kAhead < count) prefetch(shard.buckets + home_of(hash_of(items[i + kAhead].key()), shard.bucket_count));
    const int64_t key = items[i].key();
    const uint64_t hash = hash_of(key);
    if (row_of(shard, hash, key) != kAbsent) {
      ++repeated;
    } else {
      store(shard, hash, key, items[i].row);
      ++shard.key_count;
    }
  }
  return repeated;
}

// ---------------------------------------------------------------------------------------------------------------- Rows

// The rows of a column: addresses of chunks, each of 2^bits rows of `bytes` bytes.
struct Rows {
  char* const* chunks;
  int64_t bits, bytes;

  TENSORKEEP_INLINE char* at(int64_t row) const {
    return chunks[row >> bits] + (row & ((int64_t(1) << bits) - 1)) * bytes;
  }
};

TENSORKEEP_INLINE void prefetch_row(const char* row, int64_t bytes) {
  for (int64_t at = 0; at < bytes && at < 8 * kCacheLine; at += kCacheLine) prefetch(row + at);
}

TENSORKEEP_INLINE void prefetch_row_to_write(const char* row, int64_t bytes) {
  for (int64_t at = 0; at < bytes && at < 8 * kCacheLine; at += kCacheLine) prefetch_to_write(row + at);
}

TENSORKEEP_INLINE void copy_row(char* target, const char* source, int64_t bytes) {
  if (bytes == 64) {
    std::memcpy(target, source, 64);
  } else if (bytes % 32 == 0 && bytes <= 256) {
    for (int64_t at = 0; at < bytes; at += 32) std::memcpy(target + at, source + at, 32);
  } else if (bytes == 8) {
    std::memcpy(target, source, 8);
  } else {
    std::memcpy(target, source, static_cast<size_t>(bytes));
  }
}

// Default rows: `count` of them, of which a key has the one that it leaves as its remainder.
struct Defaults {
  const char* rows;
  int64_t count, bytes;

  TENSORKEEP_INLINE const char* of(int64_t key) const {
    if ((count & (count - 1)) == 0) return rows + (key & (count - 1)) * bytes;
    const int64_t remainder = key % count;
    return rows + (remainder < 0 ? remainder + count : remainder) * bytes;
  }
};

void gather(const Rows& rows, const int64_t* numbers, int64_t count, char* out) {
  constexpr int64_t kAhead = 24;
  for (int64_t i = 0; i < count; ++i) {
    if (i + kAhead < count) prefetch_row(rows.at(numbers[i + kAhead]), rows.bytes);
    copy_row(out + i * rows.bytes, rows.at(numbers[i]), rows.bytes);
  }
}

// Looks keys up and copies their rows, a stretch at a time: its row numbers stay in the cache, and those that wait for
// memory do not get into each other's way. Returns how many keys were not there.
int64_t find_and_gather(const Index& index, const int64_t* keys, int64_t count, const Rows& rows,
                        const Defaults& absent, char* out) {
  constexpr int64_t kStretch = 1024, kAhead = 24;
  int64_t numbers[kStretch];
  const char* sources[kStretch];
  int64_t missing = 0;
  for (int64_t start = 0; start < count; start += kStretch) {
    const int64_t size = count - start < kStretch ? count - start : kStretch;
    find(index, keys + start, size, numbers);
    for (int64_t i = 0; i < size; ++i) {
      missing += numbers[i] == kAbsent;
      sources[i] = numbers[i] == kAbsent ? absent.of(keys[start + i]) : rows.at(numbers[i]);
    }
    for (int64_t i = 0; i < size && i < kAhead; ++i) prefetch_row(sources[i], rows.bytes);
    for (int64_t i = 0; i < size; ++i) {
      if (i + kAhead < size) prefetch_row(sources[i + kAhead], rows.bytes);
      copy_row(out + (start + i) * rows.bytes, sources[i], rows.bytes);
    }
  }
  return missing;
}

void scatter(const Rows& rows, const int64_t* numbers, int64_t count, const char* values, int64_t stride) {
  constexpr int64_t kAhead = 24;
  for (int64_t i = 0; i < count; ++i) {
    if (i + kAhead < count) prefetch_row_to_write(rows.at(numbers[i + kAhead]), rows.bytes);
    copy_row(rows.at(numbers[i]), values + i * stride, rows.bytes);
  }
}

void scatter_defaults(const Rows& rows, const int64_t* numbers, const int64_t* keys, int64_t count,
                      const Defaults& defaults) {
  constexpr int64_t kAhead = 24;
  for (int64_t i = 0; i < count; ++i) {
    if (i + kAhead < count) prefetch_row_to_write(rows.at(numbers[i + kAhead]), rows.bytes);
    copy_row(rows.at(numbers[i]), defaults.of(keys[i]), rows.bytes);
  }
}

// ------------------------------------------------------------------------------------------------------------ Grouping

// Whether one of the numbers, none of which reaches `limit`, is there twice. -1 if there is no memory to find out.
int32_t has_repeated(const int64_t* numbers, int64_t count, int64_t limit) {
  const size_t words = static_cast<size_t>(limit) / 64 + 1;
  uint64_t* seen = static_cast<uint64_t*>(std::calloc(words, sizeof(uint64_t)));
  if (!seen) return -1;
  int32_t repeated = 0;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t& word = seen[numbers[i] >> 6];
    const uint64_t bit = uint64_t(1) << (numbers[i] & 63);
    repeated |= (word & bit) != 0;
    word |= bit;
  }
  std::free(seen);
  return repeated;
}

// Puts equal values into groups, numbered as they appear: for each position its group, for each group the position of
// its first value. Returns how many groups there are; -1 if there is no memory.
int64_t group(const int64_t* values, int64_t count, int64_t* first, int64_t* groups) {
  int bits = 4;
  while ((int64_t(1) << bits) < 2 * count) ++bits;
  const uint64_t mask = (uint64_t(1) << bits) - 1;
  int64_t* table = static_cast<int64_t*>(std::malloc((mask + 1) * sizeof(int64_t)));
  if (!table) return -1;
  std::memset(table, 0xff, (mask + 1) * sizeof(int64_t));
  constexpr int64_t kAhead = 16;
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (i + kAhead < count) prefetch_to_write(table + (hash_of(values[i + kAhead]) & mask));
    uint64_t at = hash_of(values[i]) & mask;
    while (table[at] >= 0 && values[first[table[at]]] != values[i]) at = (at + 1) & mask;
    if (table[at] < 0) {
      table[at] = found;
      first[found++] = i;
    }
    groups[i] = table[at];
  }
  std::free(table);
  return found;
}

// The sums of the rows of each group, added one after the other in their order.
template <class T>
void sum(const T* values, int64_t count, int64_t dim, const int64_t* first, const int64_t* groups, T* sums) {
  constexpr int64_t kAhead = 8;
  for (int64_t i = 0; i < count; ++i) {
    if (i + kAhead < count) prefetch_to_write(sums + groups[i + kAhead] * dim);
    const T* __restrict value = values + i * dim;
    T* __restrict target = sums + groups[i] * dim;
    if (first[groups[i]] == i) {
      for (int64_t at = 0; at < dim; ++at) target[at] = value[at];
    } else {
      for (int64_t at = 0; at < dim; ++at) target[at] += value[at];
    }
  }
}

// ----------------------------------------------------------------------------------------------------- Optimizer steps

// The rows of a step, none of them twice, and their gradients.
template <class T>
struct Step {
  const int64_t* numbers;
  const T* gradient;
  int64_t count, dim;
};

// Where the rows of a column lie. A slot may have narrower rows than the weights, and then has more of them in a chunk.
template <class T>
struct Column {
  T* const* chunks;
  int64_t bits, dim;

  TENSORKEEP_INLINE T* row(int64_t number) const {
    return chunks[number >> bits] + (number & ((int64_t(1) << bits) - 1)) * dim;
  }
};

// Most rules go by element. Those that look at a row as a whole are overloads behind this.
template <class Rule, class T, class... Slots>
TENSORKEEP_INLINE void step_row(const Rule& rule, int64_t dim, const T* __restrict gradient, T* __restrict variable,
                                Slots* __restrict... slots) {
  int64_t at = 0;
  for (; at + 8 <= dim; at += 8) {
    for (int64_t i = 0; i < 8; ++i) rule(gradient[at + i], variable[at + i], slots[at + i]...);
  }
  for (; at < dim; ++at) rule(gradient[at], variable[at], slots[at]...);
}

template <class T, bool shrinks>
TENSORKEEP_INLINE void step_row(const RowFtrl<T, shrinks>& rule, int64_t dim, const T* __restrict gradient,
                                T* __restrict variable, T* __restrict squares, T* __restrict linear) {
  rule(dim, gradient, variable, squares, linear);
}

template <class T>
TENSORKEEP_INLINE void step_row(const RowAdagradDecay<T>& rule, int64_t dim, const T* __restrict gradient,
                                T* __restrict variable, T* __restrict squares, T* __restrict power) {
  rule(dim, gradient, variable, squares, power);
}

template <class Rule, class T, class... Slots>
TENSORKEEP_INLINE void step_rows(Rule rule, const Step<T>& step, Column<T> variable, Slots... slots) {
  constexpr int64_t kAhead = 12;
  const auto prefetch = [](const Column<T>& column, int64_t number) {
    const int64_t bytes = column.dim * static_cast<int64_t>(sizeof(T));
    prefetch_row_to_write(reinterpret_cast<const char*>(column.row(number)), bytes);
    return 0;
  };
  for (int64_t i = 0; i < step.count; ++i) {
    if (i + kAhead < step.count) {
      const int64_t ahead = step.numbers[i + kAhead];
      const int done[] = {prefetch(variable, ahead), prefetch(slots, ahead)...};
      static_cast<void>(done);
    }
    const int64_t number = step.numbers[i];
    step_row(rule, step.dim, step.gradient + i * step.dim, variable.row(number), slots.row(number)...);
  }
}

template <class Rule, class T, class... Slots>
void step_narrow(Rule rule, const Step<T>& step, Column<T> variable, Slots... slots) {
  step_rows(rule, step, variable, slots...);
}

#if defined(TENSORKEEP_WIDE)
template <class Rule, class T, class... Slots>
TENSORKEEP_WIDE void step_wide(Rule rule, const Step<T>& step, Column<T> variable, Slots... slots) {
  step_rows(rule, step, variable, slots...);
}
#endif

template <class Rule, class T, class... Slots>
int32_t take(Rule rule, const Step<T>& step, Column<T> variable, Slots... slots) {
#if defined(TENSORKEEP_WIDE)
  if (__builtin_cpu_supports("avx2")) {
    step_wide(rule, step, variable, slots...);
    return 1;
  }
#endif
  step_narrow(rule, step, variable, slots...);
  return 1;
}

// The numbers of a rule, in the order of embedding/table/update_rules.py.
template <class T>
int32_t take_named(int32_t rule, const Step<T>& step, Column<T> a, Column<T> b, Column<T> c, const double* numbers) {
  const auto number = [numbers](int at) { return T(numbers[at]); };
  switch (rule) {
    case 0:
      return take(GradientDescent<T>{number(0)}, step, a);
    case 1:
      return take(Adagrad<T, true>{number(0)}, step, a, b);
    case 2: {
      const int64_t period = static_cast<int64_t>(numbers[1]);
      if (period < 1) return 0;
      const T periods = T(static_cast<int64_t>(numbers[4]) / period);
      return take(RowAdagradDecay<T>{number(0), number(2), number(3), periods}, step, a, b, c);
    }
    case 3:
    case 4:
    case 5: {
      const T rate = number(2) * root(T(1) - number(1)) / (T(1) - number(0));
      const T beta1 = number(3), beta2 = number(4), epsilon = number(5), rest1 = T(1) - beta1, rest2 = T(1) - beta2;
      if (rule == 4) {
        return take(AdamW<T>{rate, beta1, rest1, beta2, rest2, epsilon, number(6)}, step, a, b, c);
      }
      if (rule == 5 && numbers[6] != 0) {
        return take(MomentumRmsProp<T>{number(2), beta1, beta2, rest2, epsilon}, step, a, b, c);
      }
      return take(Adam<T, false>{rate, beta1, rest1, beta2, rest2, epsilon}, step, a, b, c);
    }
    case 6:
    case 7: {
      const T rate = number(0), limit = number(1), penalty = T(2) * number(2);
      const T shrinkage = rule == 7 ? number(3) : T(0), power = number(rule == 7 ? 4 : 3);
      if (power != T(-0.5) || limit != limit) return 0;
      return shrinkage != T(0) ? take(RowFtrl<T, true>{rate, limit, penalty, T(2) * shrinkage}, step, a, b, c)
                               : take(RowFtrl<T, false>{rate, limit, penalty, T(0)}, step, a, b, c);
    }
    default:
      return 0;
  }
}

// ------------------------------------------------------------------------------------------------------------- Sorting

constexpr int64_t kKeyBuckets = 1000;

TENSORKEEP_INLINE int64_t key_bucket(int64_t key) {
  const int64_t remainder = key % kKeyBuckets;
  return remainder < 0 ? remainder + kKeyBuckets : remainder;
}

// Where the first of keys stands that is not of the bucket which the offsets say; they lie from `start` on. -1 if all
// are.
int64_t first_misplaced(const int64_t* keys, int64_t count, int64_t start, const int64_t* offsets) {
  int64_t bucket = 0;
  for (int64_t i = 0; i < count; ++i) {
    while (bucket < kKeyBuckets && offsets[bucket + 1] <= start + i) ++bucket;
    if (key_bucket(keys[i]) != bucket) return i;
  }
  return -1;
}

// Whether keys stand by bucket, and by key within one, none twice.
int32_t is_in_order(const int64_t* keys, int64_t count) {
  int64_t last = -1;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t bucket = key_bucket(keys[i]);
    if (bucket < last || (bucket == last && keys[i] <= keys[i - 1])) return 0;
    last = bucket;
  }
  return 1;
}

struct KeyAndRow {
  uint64_t key;  // with the sign turned, so that order is that of unsigned numbers
  int64_t row;
};

// Sorts by key, a byte at a time, from the last; bytes that are the same in all keys are passed over. Returns which of
// the two holds the result.
KeyAndRow* sort_by_bytes(KeyAndRow* items, KeyAndRow* other, int64_t count) {
  uint32_t histograms[8][256] = {};
  for (int64_t i = 0; i < count; ++i) {
    for (int byte = 0; byte < 8; ++byte) ++histograms[byte][items[i].key >> (8 * byte) & 255];
  }
  for (int byte = 0; byte < 8; ++byte) {
    uint32_t* const histogram = histograms[byte];
    if (histogram[items[0].key >> (8 * byte) & 255] == static_cast<uint64_t>(count)) continue;
    uint32_t start = 0;
    for (int value = 0; value < 256; ++value) {
      const uint32_t size = histogram[value];
      histogram[value] = start;
      start += size;
    }
    for (int64_t i = 0; i < count; ++i) other[histogram[items[i].key >> (8 * byte) & 255]++] = items[i];
    KeyAndRow* const swapped = items;
    items = other;
    other = swapped;
  }
  return items;
}

void insertion_sort(KeyAndRow* items, int64_t count) {
  for (int64_t i = 1; i < count; ++i) {
    const KeyAndRow moved = items[i];
    int64_t at = i;
    for (; at > 0 && items[at - 1].key > moved.key; --at) items[at] = items[at - 1];
    items[at] = moved;
  }
}

constexpr uint64_t kSign = uint64_t(1) << 63;

// Adds to `counts` how many keys each bucket has.
void count_buckets(const int64_t* keys, int64_t count, int64_t* counts) {
  for (int64_t i = 0; i < count; ++i) ++counts[key_bucket(keys[i])];
}

// Puts keys, with their rows, where the next of their bucket belong.
void place_by_bucket(const int64_t* keys, const int64_t* rows, int64_t count, int64_t* next, KeyAndRow* items) {
  for (int64_t i = 0; i < count; ++i) {
    items[next[key_bucket(keys[i])]++] = KeyAndRow{static_cast<uint64_t>(keys[i]) ^ kSign, rows[i]};
  }
}

// Sorts the keys of some buckets, which begin at their offsets. Returns 0 if there is no memory for it.
int32_t sort_buckets(KeyAndRow* items, const int64_t* offsets, int64_t begin, int64_t end, int64_t* keys,
                     int64_t* rows) {
  int64_t most = 0;
  for (int64_t bucket = begin; bucket < end; ++bucket) {
    const int64_t size = offsets[bucket + 1] - offsets[bucket];
    most = size > most ? size : most;
  }
  if (most >= int64_t(1) << 32) return 0;
  KeyAndRow* memory = static_cast<KeyAndRow*>(std::malloc(static_cast<size_t>(most + 1) * sizeof(KeyAndRow)));
  if (!memory) return 0;
  for (int64_t bucket = begin; bucket < end; ++bucket) {
    const int64_t start = offsets[bucket], size = offsets[bucket + 1] - start;
    const KeyAndRow* sorted = items + start;
    if (size <= 48) {
      insertion_sort(items + start, size);
    } else {
      sorted = sort_by_bytes(items + start, memory, size);
    }
    for (int64_t i = 0; i < size; ++i) {
      keys[start + i] = static_cast<int64_t>(sorted[i].key ^ kSign);
      rows[start + i] = sorted[i].row;
    }
  }
  std::free(memory);
  return 1;
}

}  // namespace

// ------------------------------------------------------------------------------------------------ What Python can call

TENSORKEEP_EXPORT void* embedding_index_new(void) { return std::calloc(1, sizeof(Index)); }

TENSORKEEP_EXPORT void embedding_index_free(Index* index) {
  release(*index);
  std::free(index);
}

TENSORKEEP_EXPORT void embedding_index_clear(Index* index) { release(*index); }

TENSORKEEP_EXPORT int64_t embedding_index_count(const Index* index) { return static_cast<int64_t>(index->key_count); }

TENSORKEEP_EXPORT int64_t embedding_index_row_limit(const Index* index) {
  return static_cast<int64_t>(index->row_limit);
}

TENSORKEEP_EXPORT int64_t embedding_index_bytes(const Index* index) {
  uint64_t buckets = 0;
  for (const Shard& shard : index->shards) buckets += shard.bucket_count;
  return static_cast<int64_t>(sizeof(Index) + buckets * sizeof(Bucket) + index->freed_room * sizeof(uint32_t));
}

// 0 if there is no memory.
TENSORKEEP_EXPORT int32_t embedding_index_reserve(Index* index, int64_t keys) {
  return reserve(*index, static_cast<uint64_t>(keys));
}

TENSORKEEP_EXPORT void embedding_index_find(const Index* index, const int64_t* keys, int64_t count, int64_t* rows) {
  find(*index, keys, count, rows);
}

// How many keys are new; `fresh`, with room for `count`, has where they stand. -1, with nothing changed, if there is no
// memory.
TENSORKEEP_EXPORT int64_t embedding_index_find_or_insert(Index* index, const int64_t* keys, int64_t count,
                                                         int64_t* rows, int64_t* fresh) {
  return find_or_insert(*index, keys, count, rows, fresh);
}

// How many keys there were; `freed`, with room for `count`, has their rows. -1, with nothing changed, if there is no
// memory.
TENSORKEEP_EXPORT int64_t embedding_index_remove(Index* index, const int64_t* keys, int64_t count, int64_t* freed) {
  if (!make_room_for_freed(*index, static_cast<uint64_t>(count))) return -1;
  int64_t removed = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (i + 2 * kBlock < count) prefetch_home(*index, hash_of(keys[i + 2 * kBlock]));
    const int64_t row = forget(*index, keys[i]);
    if (row == kAbsent) continue;
    index->freed[index->freed_count++] = static_cast<uint32_t>(row);
    freed[removed++] = row;
  }
  return removed;
}

TENSORKEEP_EXPORT void embedding_index_items(const Index* index, int64_t* keys, int64_t* rows) {
  int64_t written = 0;
  for (const Shard& shard : index->shards) {
    for (uint64_t at = 0; at < shard.bucket_count; ++at) {
      const Bucket& bucket = shard.buckets[at];
      for (int slot = 0; slot < bucket.count; ++slot, ++written) {
        keys[written] = bucket.keys[slot];
        rows[written] = bucket.rows[slot];
      }
    }
  }
}

TENSORKEEP_EXPORT int64_t embedding_index_shards(void) { return kShards; }

TENSORKEEP_EXPORT void embedding_index_count_shards(const int64_t* keys, int64_t count, int64_t* counts) {
  count_shards(keys, count, counts);
}

TENSORKEEP_EXPORT void embedding_index_place_by_shard(const int64_t* keys, int64_t first, int64_t count, int64_t* next,
                                                      Numbered* items) {
  place_by_shard(keys, first, count, next, items);
}

// Makes room for the keys that each shard is to have in the end, in an index that has none. 0 if there is no memory.
TENSORKEEP_EXPORT int32_t embedding_index_make_room(Index* index, const int64_t* totals) {
  return make_room(*index, totals);
}

// Stores keys in some shards, which have room for them; different threads may fill different ones. How many keys were
// there twice. The index is not to be used before `embedding_index_filled`, or else is to be cleared.
TENSORKEEP_EXPORT int64_t embedding_index_fill_shards(Index* index, const Numbered* items, const int64_t* offsets,
                                                      int64_t begin, int64_t end) {
  int64_t repeated = 0;
  for (int64_t number = begin; number < end; ++number) {
    repeated += fill_shard(index->shards[number], items + offsets[number], offsets[number + 1] - offsets[number]);
  }
  return repeated;
}

// All shards have their keys, which are numbered from 0 up to their count.
TENSORKEEP_EXPORT void embedding_index_filled(Index* index) {
  index->key_count = 0;
  for (const Shard& shard : index->shards) index->key_count += shard.key_count;
  index->row_limit = index->key_count;
}

TENSORKEEP_EXPORT int64_t embedding_find_and_gather(const Index* index, const int64_t* keys, int64_t count,
                                                    char* const* chunks, int64_t bits, int64_t bytes,
                                                    const char* absent, int64_t absent_count, char* out) {
  return find_and_gather(*index, keys, count, Rows{chunks, bits, bytes}, Defaults{absent, absent_count, bytes}, out);
}

TENSORKEEP_EXPORT void embedding_gather(char* const* chunks, int64_t bits, int64_t bytes, const int64_t* numbers,
                                        int64_t count, char* out) {
  gather(Rows{chunks, bits, bytes}, numbers, count, out);
}

TENSORKEEP_EXPORT void embedding_scatter(char* const* chunks, int64_t bits, int64_t bytes, const int64_t* numbers,
                                         int64_t count, const char* values, int64_t stride) {
  scatter(Rows{chunks, bits, bytes}, numbers, count, values, stride);
}

TENSORKEEP_EXPORT void embedding_scatter_defaults(char* const* chunks, int64_t bits, int64_t bytes,
                                                  const int64_t* numbers, const int64_t* keys, int64_t count,
                                                  const char* defaults, int64_t default_count) {
  scatter_defaults(Rows{chunks, bits, bytes}, numbers, keys, count, Defaults{defaults, default_count, bytes});
}

TENSORKEEP_EXPORT int32_t embedding_has_repeated(const int64_t* numbers, int64_t count, int64_t limit) {
  return has_repeated(numbers, count, limit);
}

TENSORKEEP_EXPORT int64_t embedding_group(const int64_t* values, int64_t count, int64_t* first, int64_t* groups) {
  return group(values, count, first, groups);
}

TENSORKEEP_EXPORT int64_t embedding_first_misplaced(const int64_t* keys, int64_t count, int64_t start,
                                                    const int64_t* offsets) {
  return first_misplaced(keys, count, start, offsets);
}

TENSORKEEP_EXPORT int32_t embedding_is_in_order(const int64_t* keys, int64_t count) { return is_in_order(keys, count); }

TENSORKEEP_EXPORT void embedding_count_buckets(const int64_t* keys, int64_t count, int64_t* counts) {
  count_buckets(keys, count, counts);
}

TENSORKEEP_EXPORT void embedding_place_by_bucket(const int64_t* keys, const int64_t* rows, int64_t count,
                                                 int64_t* next, KeyAndRow* items) {
  place_by_bucket(keys, rows, count, next, items);
}

TENSORKEEP_EXPORT int32_t embedding_sort_buckets(KeyAndRow* items, const int64_t* offsets, int64_t begin, int64_t end,
                                                 int64_t* keys, int64_t* rows) {
  return sort_buckets(items, offsets, begin, end, keys, rows);
}

// Where Python says that a column lies: the address of its chunks, the bits of a row's number within a chunk, and how
// many numbers a row has.
struct ColumnPlace {
  int64_t chunks, bits, dim;
};

template <class T>
Column<T> column_at(const ColumnPlace& place) {
  return Column<T>{reinterpret_cast<T* const*>(static_cast<intptr_t>(place.chunks)), place.bits, place.dim};
}

// One function per type: which rule, the rows and their gradients, where the weights and the slots lie, of which those
// that the rule does not have are null, and the numbers. 1 if the work is done, 0 if nothing has been touched.
#define EXPORT(T)                                                                                                      \
  TENSORKEEP_EXPORT int32_t embedding_step_##T(int32_t rule, const int64_t* numbers, const T* gradient, int64_t count, \
                                               const ColumnPlace* places, const double* values) {                      \
    const Column<T> weights = column_at<T>(places[0]);                                                                 \
    return take_named<T>(rule, Step<T>{numbers, gradient, count, weights.dim}, weights, column_at<T>(places[1]),       \
                         column_at<T>(places[2]), values);                                                             \
  }                                                                                                                    \
  TENSORKEEP_EXPORT void embedding_sum_##T(const T* values, int64_t count, int64_t dim, const int64_t* first,          \
                                           const int64_t* groups, T* sums) {                                           \
    sum<T>(values, count, dim, first, groups, sums);                                                                   \
  }

EXPORT(float)
EXPORT(double)
