/*
 * JSON file: see json_file.h.
 */
#include "cli/text/json_file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buffer.h"
#include "common/sys/file.h"

int aq_json_file_read(const char *path, size_t bytes_max, json_t **ret_json, aq_error *error)
{
    aq_buffer text;
    aq_buffer_init(&text, bytes_max);
    int rc = aq_file_read(path, &text, error);
    if (rc == 0) {
        *ret_json = json_loadb((const char *)text.data, text.size, 0, NULL);
    }
    aq_buffer_fini(&text);
    return rc;
}

int aq_json_file_write(json_t *json, unsigned digits, const char *folder, const char *name,
                       aq_error *error)
{
    char path[PATH_MAX];
    char *text =
        json != NULL ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(digits)) : NULL;
    int rc = aq_path_in(path, sizeof(path), folder, name, error);
    if (rc == 0) {
        rc = text != NULL ? aq_file_write_atomic(path, text, strlen(text), error)
                          : aq_fail(error, AQ_E_NOMEM, "%s: out of memory", path);
    }
    json_decref(json);
    free(text);
    return rc;
}
