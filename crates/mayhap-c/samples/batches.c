/* Integers and texts in batches: every kind gives the same answers as with single calls. */
#include <assert.h>
#include <mayhap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 3000 };

static int check(int status) {
    if (status < 0) {
        fprintf(stderr, "error %d: %s\n", status, mayhap_error_message());
        exit(2);
    }
    return status;
}

/* Queries single keys, arrays of pointers and packed keys. */
static unsigned long query(const mayhap_filter *filter, const char *const *keys, const size_t *lengths, const char *packed,
                           const uint64_t *offsets) {
    static bool found[2 * KEYS], again[2 * KEYS];
    unsigned long count = 0;
    check(mayhap_contains_each(filter, keys, lengths, 2 * KEYS, found));
    check(mayhap_contains_packed(filter, packed, offsets, 2 * KEYS, again));
    for (int i = 0; i < 2 * KEYS; i++) {
        assert(found[i] == again[i]);
        assert(found[i] == (check(mayhap_contains(filter, keys[i], lengths[i])) == 1));
        assert(i >= KEYS || found[i]);
        count += found[i];
    }
    return count;
}

int main(void) {
    /* The first half is inserted. */
    static char text[2 * KEYS][16], packed[2 * KEYS * 16];
    static const char *keys[2 * KEYS];
    static size_t lengths[2 * KEYS];
    static uint64_t offsets[2 * KEYS + 1], numbers[2 * KEYS];
    static bool is_new[KEYS], found[2 * KEYS];
    for (int i = 0; i < 2 * KEYS; i++) {
        keys[i] = text[i];
        lengths[i] = (size_t)snprintf(text[i], sizeof text[i], "key %d", i);
        memcpy(packed + offsets[i], text[i], lengths[i]);
        offsets[i + 1] = offsets[i] + lengths[i];
        numbers[i] = (uint64_t)i * 1000003;
    }

    const char *kinds[] = {"bloom", "classic", "counting", "growing", "cuckoo", "growing-cuckoo"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        mayhap_filter *filter = NULL;
        check(mayhap_new(kinds[k], 2 * KEYS, 0.001, NULL, &filter));
        unsigned long added = 0;
        check(mayhap_insert_each(filter, keys, lengths, KEYS / 2, is_new));
        check(mayhap_insert_packed(filter, packed, offsets + KEYS / 2, KEYS - KEYS / 2, is_new + KEYS / 2));
        for (int i = 0; i < KEYS; i++) {
            added += is_new[i];
        }
        printf("%s: %lu added, %lu found\n", kinds[k], added, query(filter, keys, lengths, packed, offsets));
        /* Without places for what was new. */
        check(mayhap_insert_each_u64(filter, numbers, KEYS, NULL));
        check(mayhap_contains_each_u64(filter, numbers, KEYS, found));
        for (int i = 0; i < KEYS; i++) {
            assert(found[i] && check(mayhap_contains_u64(filter, numbers[i])) == 1);
        }
        mayhap_free(filter);
    }

    const char *fixed[] = {"fuse", "ribbon"};
    for (size_t k = 0; k < 2; k++) {
        mayhap_filter *filter = NULL;
        check(mayhap_build(fixed[k], keys, lengths, KEYS, 0.001, NULL, &filter));
        printf("%s: %lu found\n", fixed[k], query(filter, keys, lengths, packed, offsets));
        mayhap_free(filter);
        check(mayhap_build_u64(fixed[k], numbers, KEYS, 0.001, NULL, &filter));
        check(mayhap_contains_each_u64(filter, numbers, 2 * KEYS, found));
        for (int i = 0; i < KEYS; i++) {
            assert(found[i]);
        }
        mayhap_free(filter);
    }
    return 0;
}
