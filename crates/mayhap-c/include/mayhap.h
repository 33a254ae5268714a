/* mayhap: membership filters of every kind and format. Generated from crates/mayhap-c by cbindgen; do not edit.
 *
 * Link with `pkg-config --cflags --libs mayhap`. The guide is docs/guide/c.md.
 *
 * Every function that returns an int returns 0 or more for an answer, and less than 0, one of the MAYHAP_ERROR codes, for an
 * error. mayhap_error_message() then says what happened and what to do. After an error nothing has changed, and no result has
 * been written, unless the function says otherwise.
 *
 * Pointers: null pointers are errors, except where a function says otherwise, for arrays of 0 elements, and for options, where one
 * means no options. All other pointers must point to as many readable (or, for results, writable) elements as the function says;
 * filters must come from this library, and must not be used after mayhap_free. None of this can be detected. Texts end with a zero
 * byte and are UTF-8; paths are the bytes that the system uses. Options are an array of texts "name=value", with a null pointer at
 * the end.
 *
 * Threads: any number of threads may query a filter at the same time. While one changes or frees it, no other may use it, except for
 * filters of mayhap_new_shared, which any number of threads may insert into and query at the same time. */

#ifndef MAYHAP_H
#define MAYHAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The call succeeded. Functions that answer a question return 0 or 1.
#define MAYHAP_OK 0

// An argument is wrong: a null pointer, a kind or an option that does not exist, a rate that is not between 0 and 1.
#define MAYHAP_ERROR_ARGUMENT -1

// A file cannot be read or written.
#define MAYHAP_ERROR_IO -2

// The bytes are damaged, or not a filter of a known or of the given format.
#define MAYHAP_ERROR_FORMAT -3

// Filters of this kind or format do not support the operation.
#define MAYHAP_ERROR_UNSUPPORTED -4

// Two filters have different kinds, formats, shapes or hash keys.
#define MAYHAP_ERROR_MISMATCH -5

// There is no room for the key. The filter is unchanged.
#define MAYHAP_ERROR_FULL -6

// There is not enough memory.
#define MAYHAP_ERROR_MEMORY -7

// A bug in mayhap. The filter of the call must not be used any more, except to free it.
#define MAYHAP_ERROR_INTERNAL -8

// A filter. Any number of threads may query it at the same time. While a function changes it, no other thread may use it, except for
// filters of `mayhap_new_shared`, which any number of threads may also insert into.
typedef struct mayhap_filter mayhap_filter;

// A filter policy for LevelDB. Any number of threads may use it at the same time. Free it with `free`, as LevelDB frees filters.
typedef struct mayhap_leveldb_policy mayhap_leveldb_policy;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// What went wrong in the last call of this thread that returned an error, and what to do; empty if none did. The text is valid
// until the next call of this thread that fails.
const char *mayhap_error_message(void);

// The version of the library, such as "0.1.0".
const char *mayhap_version(void);

// Creates an empty filter for `capacity` keys with a false-positive rate. `kind` is "bloom", "classic", "counting", "growing",
// "cuckoo", "growing-cuckoo", "counting-cuckoo" or "retouched"; other kinds have functions of their own.
//
// Options: "secret=" with 32 hexadecimal digits, so that nobody can craft keys that collide; "key-type=u64" and others say what the
// keys are to programs that read the filter's file.
int mayhap_new(const char *kind,
               uint64_t capacity,
               double false_positive_rate,
               const char *const *options,
               struct mayhap_filter **out);

// Creates a Bloom filter that any number of threads may query and insert into at the same time. Its files are those of "bloom".
// Options as for `mayhap_new`, without "key-type".
int mayhap_new_shared(uint64_t capacity,
                      double false_positive_rate,
                      const char *const *options,
                      struct mayhap_filter **out);

// Creates a filter that forgets keys: one that was inserted is found for `window_ms` milliseconds, and for at most an eighth of that
// longer. `capacity` is the number of keys in a window. Times are milliseconds since any moment, such as 1970, and `now_ms` is the
// first; `mayhap_insert_at` and `mayhap_contains_at` take them. Options as for `mayhap_new`.
int mayhap_new_window(uint64_t capacity,
                      double false_positive_rate,
                      uint64_t window_ms,
                      uint64_t now_ms,
                      const char *const *options,
                      struct mayhap_filter **out);

// Builds a filter of a fixed set of keys: `kind` is "fuse" (fast) or "ribbon" (small). Key number i has `lengths[i]` bytes at
// `keys[i]`. Options as for `mayhap_new`.
int mayhap_build(const char *kind,
                 const char *const *keys,
                 const size_t *lengths,
                 size_t count,
                 double false_positive_rate,
                 const char *const *options,
                 struct mayhap_filter **out);

// The same for integers.
int mayhap_build_u64(const char *kind,
                     const uint64_t *keys,
                     size_t count,
                     double false_positive_rate,
                     const char *const *options,
                     struct mayhap_filter **out);

// Creates an empty filter as another system would, for `capacity` keys: `format` is "guava", "spark", "parquet" and others, as for
// `mayhap build --format`. Options: "bits=" and "probes=" instead of a capacity, and the parameters of the format, such as
// "strategy=mitz64".
int mayhap_new_in_format(const char *format,
                         uint64_t capacity,
                         double false_positive_rate,
                         const char *const *options,
                         struct mayhap_filter **out);

// Copies a filter into memory.
int mayhap_clone(const struct mayhap_filter *filter, struct mayhap_filter **out);

// Frees a filter. A null pointer is ignored.
void mayhap_free(struct mayhap_filter *filter);

// Opens the filter in a file, in mayhap's own or any other known format. What it does not need is not kept: the file can be removed
// afterwards.
//
// Options: "format=guava" if the bytes do not say; "fpr=", "probes=" and "columns=" for ClickHouse's files, which do not store
// them; "column=", "row-group=", "key=" or "granule=" to select one of several filters; "secret=" for a filter whose key is not in the
// file; and the parameters of the format, such as "funnel=long".
int mayhap_open(const char *path,
                const char *const *options,
                struct mayhap_filter **out);

// The same for bytes in memory, which are not used afterwards.
int mayhap_open_bytes(const uint8_t *bytes, size_t length, const char *const *options, struct mayhap_filter **out);

// Maps a native file: processes share its memory, and only the parts that are queried are read. The filter is read-only. Kinds that
// cannot be used in place are read. `verify` is true to verify all checksums first. The option "secret=" is as for `mayhap_open`.
//
// The file must not be written in place while it is mapped: replace it, as `mayhap_save` does.
int mayhap_map(const char *path,
               bool verify,
               const char *const *options,
               struct mayhap_filter **out);

// Writes a filter to a file, in its format, atomically: readers see the old file or the new one.
int mayhap_save(const struct mayhap_filter *filter, const char *path);

// The bytes that `mayhap_save` writes. Free them with `mayhap_free_bytes`.
int mayhap_to_bytes(const struct mayhap_filter *filter, uint8_t **bytes, size_t *length);

// Frees the result of `mayhap_to_bytes`. A null pointer is ignored.
void mayhap_free_bytes(uint8_t *bytes, size_t length);

// The same set in another format, where the bits allow it: `format` is "mayhap", "guava" and others. The error says why not.
int mayhap_convert(const struct mayhap_filter *filter,
                   const char *format,
                   struct mayhap_filter **out);

// What the filter is, how full it is and which rate it has now: the object of `mayhap info --json`. Reads the whole filter. Free
// the text with `mayhap_free_text`.
int mayhap_stats_json(const struct mayhap_filter *filter,
                      char **json);

// Frees the result of `mayhap_stats_json`. A null pointer is ignored.
void mayhap_free_text(char *text);

// 0: the key is definitely not in the set. 1: it may be.
int mayhap_contains(const struct mayhap_filter *filter, const void *key, size_t length);

// The same for an integer: its 8 bytes, little-endian, as the command line has them with `--key-type u64` or `i64`.
int mayhap_contains_u64(const struct mayhap_filter *filter, uint64_t key);

// `mayhap_contains` for many keys; faster, because their memory accesses overlap. Key number i has `lengths[i]` bytes at `keys[i]`,
// and its answer is `found[i]`.
int mayhap_contains_each(const struct mayhap_filter *filter,
                         const char *const *keys,
                         const size_t *lengths,
                         size_t count,
                         bool *found);

// The same for keys that lie one behind the other: key number i is `bytes[offsets[i]]` to `bytes[offsets[i + 1] - 1]`. There are
// `count + 1` offsets.
int mayhap_contains_packed(const struct mayhap_filter *filter,
                           const void *bytes,
                           const uint64_t *offsets,
                           size_t count,
                           bool *found);

// The same for integers.
int mayhap_contains_each_u64(const struct mayhap_filter *filter, const uint64_t *keys, size_t count, bool *found);

// `mayhap_contains` at a time, for filters of `mayhap_new_window`. An earlier time than the newest that the filter has seen is taken
// for that one.
int mayhap_contains_at(const struct mayhap_filter *filter,
                       const void *key,
                       size_t length,
                       uint64_t now_ms);

// How often a key was inserted and not removed: never too low, and too high if other keys look the same. For counting and cuckoo
// filters. One of kind "counting" counts to 15.
int mayhap_count(const struct mayhap_filter *filter,
                 const void *key,
                 size_t length,
                 uint64_t *count);

// Inserts a key. 1: it was definitely new. 0: it, or one that the filter cannot distinguish from it, was inserted before; filters
// that count or remove keys count it once more. An error leaves the filter unchanged.
int mayhap_insert(struct mayhap_filter *filter,
                  const void *key,
                  size_t length);

// The same for an integer: its 8 bytes, little-endian.
int mayhap_insert_u64(struct mayhap_filter *filter, uint64_t key);

// `mayhap_insert` at a time, for filters of `mayhap_new_window`. An earlier time than the newest that the filter has seen is taken for
// that one.
int mayhap_insert_at(struct mayhap_filter *filter,
                     const void *key,
                     size_t length,
                     uint64_t now_ms);

// `mayhap_insert` for many keys; faster. Key number i has `lengths[i]` bytes at `keys[i]`. Unless `is_new` is a null pointer,
// `is_new[i]` is what `mayhap_insert` would have returned. After an error, the keys before the one that was rejected are inserted.
int mayhap_insert_each(struct mayhap_filter *filter,
                       const char *const *keys,
                       const size_t *lengths,
                       size_t count,
                       bool *is_new);

// The same for keys that lie one behind the other, as for `mayhap_contains_packed`.
int mayhap_insert_packed(struct mayhap_filter *filter,
                         const void *bytes,
                         const uint64_t *offsets,
                         size_t count,
                         bool *is_new);

// The same for integers.
int mayhap_insert_each_u64(struct mayhap_filter *filter, const uint64_t *keys, size_t count, bool *is_new);

// Removes a key that was inserted. 1: one insert of it is undone. 0: it was definitely absent, and nothing changed. Removing a key
// that was not inserted may remove another one that looks the same; no filter can detect that. For counting and cuckoo filters.
int mayhap_remove(struct mayhap_filter *filter,
                  const void *key,
                  size_t length);

// The same for an integer: its 8 bytes, little-endian.
int mayhap_remove_u64(struct mayhap_filter *filter, uint64_t key);

// Merges another filter of the same kind, format and shape into this one. An error leaves it unchanged, and says what differs.
int mayhap_merge(struct mayhap_filter *filter,
                 const struct mayhap_filter *other);

// Removes all keys.
int mayhap_clear(struct mayhap_filter *filter);

// Creates a filter policy for LevelDB. `kind` is "bloom", with the name and the bytes of LevelDB's built-in policy, so that databases can
// be written with one and opened with the other; or "ribbon", with a name of its own, which has the rate of the built-in policy with so
// many bits per key in three quarters of its bytes. `bits_per_key` is 1 to 100; 10 is usual.
//
// Options: "fpr=" for a ribbon policy with that false-positive rate; `bits_per_key` is then ignored.
//
// The policy and the following three functions are the arguments of `leveldb_filterpolicy_create`:
//
// `leveldb_filterpolicy_create(policy, free, mayhap_leveldb_create_filter, mayhap_leveldb_key_may_match, mayhap_leveldb_policy_name)`
int mayhap_leveldb_policy_new(const char *kind,
                              int bits_per_key,
                              const char *const *options,
                              struct mayhap_leveldb_policy **out);

// The name of a policy, which databases store. It is valid as long as the library is loaded.
const char *mayhap_leveldb_policy_name(void *policy);

// Creates the filter of a block's keys, which may repeat: key number i has `lengths[i]` bytes at `keys[i]`. Free it with `free`. If an
// argument is wrong, the filter matches every key. Only without a policy, or without a place for the length, there is none.
char *mayhap_leveldb_create_filter(void *policy,
                                   const char *const *keys,
                                   const size_t *lengths,
                                   int count,
                                   size_t *filter_length);

// 0: the key is definitely not among those of the filter. 1: it may be; that is also the answer if the filter is damaged or an argument is
// wrong.
unsigned char mayhap_leveldb_key_may_match(void *policy,
                                           const char *key,
                                           size_t length,
                                           const char *filter,
                                           size_t filter_length);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* MAYHAP_H */
