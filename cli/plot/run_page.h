/*
 * Run page: runs as one HTML page, made of what their folders hold, whether they go on or have
 * ended: a row for each, and a picture for each quantity of their metrics.jsonl. One thread.
 */
#ifndef AQ_CLI_PLOT_RUN_PAGE_H
#define AQ_CLI_PLOT_RUN_PAGE_H

#include <stddef.h>

#include "cli/text/long_text.h"
#include "common/base/error.h"

typedef struct aq_run_page {
    size_t runs, charts; /* that are on it */
} aq_run_page;

/* `by` as in run_groups.h. `say` is told why a folder is skipped; that all are is the last one's
 * error. What aq_run_plots_create says besides; what the text cannot hold is its own failure. */
int aq_run_page_make(const char *const *paths, size_t count, const char *by,
                     void (*say)(const char *words), aq_long_text *out, aq_run_page *ret_page,
                     aq_error *error) AQ_MUST_USE;

#endif
