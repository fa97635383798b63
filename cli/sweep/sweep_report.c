/*
 * Sweep report: see sweep_report.h.
 */
#include "cli/sweep/sweep_report.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/sweep/sweep_json.h"
#include "common/sys/file.h"

enum { PATH_BYTES = 4096 + 32 };

static int write_json(const aq_sweep_summary *summary, const char *dir, aq_error *error)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof(path), "%s/sweep.json", dir);
    json_t *json = aq_sweep_json(summary, dir);
    char *text = json != NULL ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(10)) : NULL;
    json_decref(json);
    int rc = text != NULL ? aq_file_write_atomic(path, text, strlen(text), error)
                          : aq_fail(error, AQ_E_NOMEM, "%s: out of memory", path);
    free(text);
    return rc;
}

int aq_sweep_report_write(const aq_sweep_summary *summary, const char *dir, aq_error *error)
{
    return write_json(summary, dir, error);
}
