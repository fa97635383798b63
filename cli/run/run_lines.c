/*
 * Run lines: see run_lines.h.
 */
#include "cli/run/run_lines.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/sys/file.h"

static int read_lines(FILE *file, char *line, aq_run_line_fn take, void *user)
{
    char *last = line + AQ_RUN_LINE_BYTES_MAX - 1;
    bool skipping = false;
    int rc = 0;
    *last = 1; /* it is 0 once the room was used up */
    while (rc == 0 && fgets(line, AQ_RUN_LINE_BYTES_MAX, file)) {
        const size_t size = strlen(line); /* zeros that a crash left end no line */
        if (size > 0 && line[size - 1] == '\n' && !skipping) {
            line[size - 1] = '\0';
            rc = take(user, line);
        }
        skipping = *last == '\0' && last[-1] != '\n';
        *last = 1;
    }
    return rc == 0 && ferror(file) ? AQ_E_IO : rc;
}

int aq_run_lines_read(const char *folder, aq_run_line_fn take, void *user, aq_error *error)
{
    char path[PATH_MAX];
    int rc = aq_path_in(path, sizeof(path), folder, "metrics.jsonl", error);
    if (rc != 0) {
        return rc;
    }
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return aq_file_fail(error, path, "open");
    }
    char *line = aq_alloc_unset(AQ_RUN_LINE_BYTES_MAX, 1);
    rc = line != NULL ? read_lines(file, line, take, user) : AQ_E_NOMEM;
    aq_free(line);
    (void)fclose(file);
    return rc == 0 ? 0 : aq_fail(error, rc, "%s: can't read: %s", path, aq_error_text(rc));
}
