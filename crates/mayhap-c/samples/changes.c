/* Removal, counting, merging, windows, copies, bytes, conversions, and every error. */
#include <assert.h>
#include <mayhap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check(int status) {
    if (status < 0) {
        fprintf(stderr, "error %d: %s\n", status, mayhap_error_message());
        exit(2);
    }
    return status;
}

/* An error with a message that contains a text. */
static void fails(int status, int expected, const char *text) {
    const char *message = mayhap_error_message();
    if (status != expected || strstr(message, text) == NULL) {
        fprintf(stderr, "expected error %d with \"%s\", got %d: %s\n", expected, text, status, message);
        exit(3);
    }
}

static void removal_and_counts(void) {
    mayhap_filter *filter = NULL;
    uint64_t count = 0;
    check(mayhap_new("growing-cuckoo", 1000, 0.001, NULL, &filter));
    for (int i = 0; i < 3; i++) {
        assert(check(mayhap_insert(filter, "apple", 5)) == (i == 0));
    }
    check(mayhap_count(filter, "apple", 5, &count));
    assert(count == 3);
    for (int i = 0; i < 3; i++) {
        assert(check(mayhap_remove(filter, "apple", 5)) == 1);
    }
    assert(check(mayhap_remove(filter, "apple", 5)) == 0 && check(mayhap_contains(filter, "apple", 5)) == 0);
    check(mayhap_insert_u64(filter, 7));
    assert(check(mayhap_remove_u64(filter, 7)) == 1 && check(mayhap_contains_u64(filter, 7)) == 0);
    mayhap_free(filter);
    /* A cuckoo filter of fixed size is full some time, and says so. */
    check(mayhap_new("cuckoo", 4, 0.01, NULL, &filter));
    int status = 0;
    for (uint64_t i = 0; i < 100 && status >= 0; i++) {
        status = mayhap_insert_u64(filter, i);
    }
    fails(status, MAYHAP_ERROR_FULL, "full");
    mayhap_free(filter);
}

static void merging(void) {
    mayhap_filter *ours = NULL, *theirs = NULL, *other = NULL;
    check(mayhap_new("bloom", 1000, 0.01, NULL, &ours));
    check(mayhap_new("bloom", 1000, 0.01, NULL, &theirs));
    check(mayhap_new("bloom", 5000, 0.01, NULL, &other));
    check(mayhap_insert(ours, "a", 1));
    check(mayhap_insert(theirs, "b", 1));
    check(mayhap_merge(ours, theirs));
    assert(check(mayhap_contains(ours, "a", 1)) && check(mayhap_contains(ours, "b", 1)));
    fails(mayhap_merge(ours, other), MAYHAP_ERROR_MISMATCH, "");
    fails(mayhap_merge(ours, ours), MAYHAP_ERROR_ARGUMENT, "itself");
    check(mayhap_clear(ours));
    assert(check(mayhap_contains(ours, "a", 1)) == 0);
    mayhap_free(ours);
    mayhap_free(theirs);
    mayhap_free(other);
}

static void windows(void) {
    mayhap_filter *filter = NULL;
    check(mayhap_new_window(1000, 0.001, 60000, 1000, NULL, &filter));
    assert(check(mayhap_insert_at(filter, "a", 1, 1000)) == 1);
    assert(check(mayhap_contains_at(filter, "a", 1, 60999)) == 1);
    assert(check(mayhap_contains_at(filter, "a", 1, 69000)) == 0);
    mayhap_free(filter);
    check(mayhap_new("bloom", 10, 0.01, NULL, &filter));
    fails(mayhap_insert_at(filter, "a", 1, 1), MAYHAP_ERROR_UNSUPPORTED, "mayhap_new_window");
    fails(mayhap_contains_at(filter, "a", 1, 1), MAYHAP_ERROR_UNSUPPORTED, "mayhap_new_window");
    mayhap_free(filter);
}

static void bytes_and_formats(const char *path) {
    mayhap_filter *filter = NULL, *copy = NULL, *guava = NULL;
    const char *keyed[] = {"secret=00112233445566778899aabbccddeeff", "key-type=text", NULL};
    check(mayhap_new("bloom", 1000, 0.01, keyed, &filter));
    check(mayhap_insert(filter, "a", 1));
    check(mayhap_clone(filter, &copy));
    check(mayhap_insert(copy, "b", 1));
    assert(check(mayhap_contains(filter, "b", 1)) == 0);
    uint8_t *bytes = NULL;
    size_t length = 0;
    check(mayhap_to_bytes(copy, &bytes, &length));
    mayhap_free(copy);
    check(mayhap_open_bytes(bytes, length, NULL, &copy));
    assert(check(mayhap_contains(copy, "b", 1)) == 1);
    /* A damaged byte and a missing one are errors. */
    bytes[length / 2] ^= 1;
    fails(mayhap_open_bytes(bytes, length, NULL, &guava), MAYHAP_ERROR_FORMAT, "");
    fails(mayhap_open_bytes(bytes, length - 1, NULL, &guava), MAYHAP_ERROR_FORMAT, "");
    mayhap_free_bytes(bytes, length);
    mayhap_free(copy);

    /* Guava reads this file. */
    const char *strategy[] = {"strategy=mitz64", NULL};
    check(mayhap_new_in_format("guava", 1000, 0.01, strategy, &guava));
    check(mayhap_insert(guava, "a", 1));
    check(mayhap_save(guava, path));
    mayhap_free(guava);
    const char *from[] = {"format=guava", NULL};
    check(mayhap_open(path, from, &guava));
    assert(check(mayhap_contains(guava, "a", 1)) == 1);
    check(mayhap_convert(guava, "mayhap", &copy));
    assert(check(mayhap_contains(copy, "a", 1)) == 1);
    fails(mayhap_convert(filter, "guava", &guava), MAYHAP_ERROR_UNSUPPORTED, "");
    mayhap_free(copy);
    mayhap_free(guava);
    mayhap_free(filter);
}

static void errors(const char *path) {
    mayhap_filter *filter = NULL, *mapped = NULL;
    const char *wrong[] = {"format=nothing", NULL}, *unknown[] = {"speed=fast", NULL}, *bare[] = {"format", NULL};
    bool found = false;
    fails(mayhap_new(NULL, 10, 0.01, NULL, &filter), MAYHAP_ERROR_ARGUMENT, "kind is a null pointer");
    fails(mayhap_new("blom", 10, 0.01, NULL, &filter), MAYHAP_ERROR_ARGUMENT, "use one of bloom");
    fails(mayhap_new("bloom", 0, 0.01, NULL, &filter), MAYHAP_ERROR_ARGUMENT, "capacity");
    fails(mayhap_new("bloom", 10, 2.0, NULL, &filter), MAYHAP_ERROR_ARGUMENT, "rate");
    fails(mayhap_new("ribbon", 10, 0.01, NULL, &filter), MAYHAP_ERROR_ARGUMENT, "");
    fails(mayhap_new("bloom", 10, 0.01, unknown, &filter), MAYHAP_ERROR_ARGUMENT, "unknown option speed=fast");
    fails(mayhap_new("bloom", 10, 0.01, wrong, &filter), MAYHAP_ERROR_ARGUMENT, "expected one of");
    fails(mayhap_new("bloom", (uint64_t)1 << 44, 0.01, NULL, &filter), MAYHAP_ERROR_MEMORY, "");
    fails(mayhap_new("bloom", 10, 0.01, NULL, NULL), MAYHAP_ERROR_ARGUMENT, "out is a null pointer");
    fails(mayhap_build("bloom", NULL, NULL, 0, 0.01, NULL, &filter), MAYHAP_ERROR_ARGUMENT, "mayhap_new");
    fails(mayhap_open("no/such/file", NULL, &filter), MAYHAP_ERROR_IO, "no/such/file");
    fails(mayhap_open(NULL, NULL, &filter), MAYHAP_ERROR_ARGUMENT, "path is a null pointer");
    fails(mayhap_open("no/such/file", bare, &filter), MAYHAP_ERROR_ARGUMENT, "format=VALUE");
    fails(mayhap_open_bytes((const uint8_t *)"text", 4, NULL, &filter), MAYHAP_ERROR_FORMAT, "");
    fails(mayhap_new_in_format("excel", 10, 0.01, NULL, &filter), MAYHAP_ERROR_ARGUMENT, "no format excel");
    fails(mayhap_contains(NULL, "a", 1), MAYHAP_ERROR_ARGUMENT, "filter is a null pointer");
    assert(filter == NULL);

    check(mayhap_new("bloom", 10, 0.01, NULL, &filter));
    fails(mayhap_contains(filter, NULL, 1), MAYHAP_ERROR_ARGUMENT, "key is a null pointer");
    assert(check(mayhap_insert(filter, NULL, 0)) == 1); /* the empty key */
    fails(mayhap_contains_each(filter, NULL, NULL, 1, &found), MAYHAP_ERROR_ARGUMENT, "keys is a null pointer");
    const char *null_key[] = {NULL};
    const size_t one[] = {1};
    fails(mayhap_contains_each(filter, null_key, one, 1, &found), MAYHAP_ERROR_ARGUMENT, "a key is a null pointer");
    const uint64_t unsorted[] = {0, 3, 2};
    fails(mayhap_contains_packed(filter, "abc", unsorted, 2, &found), MAYHAP_ERROR_ARGUMENT, "offset");
    fails(mayhap_remove(filter, "a", 1), MAYHAP_ERROR_UNSUPPORTED, "");
    fails(mayhap_save(filter, "no/such/folder/f"), MAYHAP_ERROR_IO, "no/such/folder");
    fails(mayhap_to_bytes(filter, NULL, NULL), MAYHAP_ERROR_ARGUMENT, "null pointer");
    fails(mayhap_stats_json(filter, NULL), MAYHAP_ERROR_ARGUMENT, "null pointer");
    uint64_t count = 0;
    fails(mayhap_count(filter, "a", 1, &count), MAYHAP_ERROR_UNSUPPORTED, "count");
    check(mayhap_contains_each(filter, NULL, NULL, 0, NULL));
    check(mayhap_contains_packed(filter, NULL, NULL, 0, NULL));
    check(mayhap_save(filter, path));
    check(mayhap_map(path, false, NULL, &mapped));
    assert(check(mayhap_contains(mapped, "", 0)) == 1);
    fails(mayhap_insert(mapped, "a", 1), MAYHAP_ERROR_UNSUPPORTED, "read-only");
    fails(mayhap_clear(mapped), MAYHAP_ERROR_UNSUPPORTED, "read-only");
    mayhap_free(mapped);
    mayhap_free(filter);
    mayhap_free(NULL);
    mayhap_free_bytes(NULL, 0);
    mayhap_free_text(NULL);
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "changes.mayhap";
    removal_and_counts();
    merging();
    windows();
    bytes_and_formats(path);
    errors(path);
    printf("mayhap %s: all as expected\n", mayhap_version());
    return 0;
}
