/* Four threads fill one filter and query it at the same time. */
#include <assert.h>
#include <mayhap.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, KEYS = 20000 };

static int check(int status) {
    if (status < 0) {
        fprintf(stderr, "error %d: %s\n", status, mayhap_error_message());
        exit(2);
    }
    return status;
}

struct work {
    mayhap_filter *filter;
    uint64_t first;
};

static void *fill(void *argument) {
    struct work *work = argument;
    for (uint64_t key = work->first; key < work->first + KEYS; key++) {
        check(mayhap_insert_u64(work->filter, key));
        assert(check(mayhap_contains_u64(work->filter, key)) == 1);
    }
    /* Errors belong to their thread. */
    assert(mayhap_contains_u64(NULL, 1) == MAYHAP_ERROR_ARGUMENT);
    assert(mayhap_error_message()[0] != '\0');
    return NULL;
}

int main(void) {
    mayhap_filter *filter = NULL;
    check(mayhap_new_shared(THREADS * KEYS, 0.01, NULL, &filter));
    pthread_t threads[THREADS];
    struct work work[THREADS];
    for (int i = 0; i < THREADS; i++) {
        work[i] = (struct work){filter, (uint64_t)i * KEYS};
        if (pthread_create(&threads[i], NULL, fill, &work[i]) != 0) {
            return 2;
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (uint64_t key = 0; key < THREADS * KEYS; key++) {
        assert(check(mayhap_contains_u64(filter, key)) == 1);
    }
    assert(mayhap_error_message()[0] == '\0');
    printf("%d keys by %d threads\n", THREADS * KEYS, THREADS);
    mayhap_free(filter);
    return 0;
}
