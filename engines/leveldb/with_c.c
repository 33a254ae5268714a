/* A ribbon policy in a database that is used through LevelDB's C interface.
 *
 *   with_c FOLDER */

#include <leveldb/c.h>
#include <mayhap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *what, const char *error) {
    fprintf(stderr, "with_c: %s: %s\n", what, error);
    return 1;
}

int main(int argc, char **argv) {
    if (argc != 2) return fail("usage", "with_c FOLDER");
    mayhap_leveldb_policy *policy = NULL;
    if (mayhap_leveldb_policy_new("ribbon", 10, NULL, &policy) < 0) return fail("policy", mayhap_error_message());
    /* LevelDB frees the policy with the function that is passed, and filters always with free. */
    leveldb_filterpolicy_t *filters = leveldb_filterpolicy_create(policy, free, mayhap_leveldb_create_filter,
                                                                  mayhap_leveldb_key_may_match, mayhap_leveldb_policy_name);
    leveldb_options_t *options = leveldb_options_create();
    leveldb_options_set_create_if_missing(options, 1);
    leveldb_options_set_filter_policy(options, filters);
    leveldb_writeoptions_t *writing = leveldb_writeoptions_create();
    leveldb_readoptions_t *reading = leveldb_readoptions_create();

    char *error = NULL;
    leveldb_t *db = leveldb_open(options, argv[1], &error);
    if (error != NULL) return fail(argv[1], error);
    char key[20];
    for (int i = 0; i < 10000; i++) {
        snprintf(key, sizeof key, "key-%d", i);
        leveldb_put(db, writing, key, strlen(key), "value", 5, &error);
        if (error != NULL) return fail(key, error);
    }
    leveldb_compact_range(db, NULL, 0, NULL, 0);

    int found = 0;
    for (int i = 0; i < 20000; i++) {
        snprintf(key, sizeof key, "key-%d", i);
        size_t length = 0;
        char *value = leveldb_get(db, reading, key, strlen(key), &length, &error);
        if (error != NULL) return fail(key, error);
        found += value != NULL;
        leveldb_free(value);
    }
    leveldb_close(db);
    leveldb_readoptions_destroy(reading);
    leveldb_writeoptions_destroy(writing);
    leveldb_options_destroy(options);
    leveldb_filterpolicy_destroy(filters);
    printf("%d keys found\n", found);
    return found == 10000 ? 0 : 1;
}
