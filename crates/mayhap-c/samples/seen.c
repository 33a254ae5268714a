/* Remembers the words of its standard input, saves them, and queries the saved file: `seen words.mayhap < words.txt`. */
#include <mayhap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program with the message of the last error. */
static int check(int status) {
    if (status < 0) {
        fprintf(stderr, "error %d: %s\n", status, mayhap_error_message());
        exit(2);
    }
    return status;
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "words.mayhap";
    mayhap_filter *seen = NULL;
    check(mayhap_new("growing", 1000, 0.001, NULL, &seen));

    char line[1024], first[1024] = "";
    unsigned long lines = 0, new_lines = 0;
    while (fgets(line, sizeof line, stdin) != NULL) {
        size_t length = strcspn(line, "\n");
        line[length] = '\0';
        if (lines++ == 0) {
            strcpy(first, line);
        }
        new_lines += (unsigned long)check(mayhap_insert(seen, line, length));
    }
    check(mayhap_save(seen, path));
    mayhap_free(seen);

    /* Any number of processes can map the file at the same time. */
    mayhap_filter *mapped = NULL;
    check(mayhap_map(path, true, NULL, &mapped));
    printf("%lu lines, %lu different\n", lines, new_lines);
    printf("first line found: %d\n", check(mayhap_contains(mapped, first, strlen(first))));
    printf("another text found: %d\n", check(mayhap_contains(mapped, "?", 1)));

    char *json = NULL;
    check(mayhap_stats_json(mapped, &json));
    printf("%s\n", json);
    mayhap_free_text(json);
    mayhap_free(mapped);
    return 0;
}
