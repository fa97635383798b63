/*
 * Progress: one line that is drawn over itself on a terminal, one line every few seconds elsewhere.
 * On standard error, so that results can be piped.
 */
#ifndef AQ_CLI_TRAIN_PROGRESS_H
#define AQ_CLI_TRAIN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/operations.pb-c.h"

typedef struct aq_progress {
    bool is_terminal;
    int64_t next_ns;
    bool drawn; /* a line stands on the terminal that must be cleared before other output */
} aq_progress;

void aq_progress_init(aq_progress *progress);

/* Shows where the run stands, as often as is readable. */
void aq_progress_show(aq_progress *progress, int64_t now_ns, const Actorq__V1__StatusReply *status);

/* A line of its own between, or the end: clears what was drawn. */
void aq_progress_clear(aq_progress *progress);

/* The line itself, for a width of `columns`; returns `out`. */
const char *aq_progress_line(const Actorq__V1__StatusReply *status, bool with_bar, unsigned columns,
                             char *out, size_t size);

#endif
