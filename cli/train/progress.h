/*
 * Progress: one line that is drawn over itself on a terminal, one line every few seconds elsewhere,
 * from an hour on ever further apart. On standard error, so that results can be piped.
 */
#ifndef AQ_CLI_TRAIN_PROGRESS_H
#define AQ_CLI_TRAIN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/text/spark_line.h"
#include "proto/operations.pb-c.h"

/* What a run has done, of all that may be limited. */
typedef struct aq_progress_done {
    double env_steps, learner_steps, wall_s;
} aq_progress_done;

typedef struct aq_progress {
    bool is_terminal;
    int64_t next_ns;
    bool drawn; /* a line stands on the terminal that must be cleared before other output */
    aq_spark returns;
    uint64_t evaluations;   /* in `returns` */
    int64_t first_ns;       /* when the first status came; 0: none did */
    aq_progress_done first; /* until then */
    double share;           /* of the budget that is used */
    double left_s;          /* at the pace of the whole run; NaN: unknown */
} aq_progress;

void aq_progress_init(aq_progress *progress);

/* Takes in where the run stands. */
void aq_progress_take(aq_progress *progress, int64_t now_ns, const Actorq__V1__StatusReply *status);

/* The same, and shows it as often as is readable. `trouble` is what keeps the run from going on, or
 * "". */
void aq_progress_show(aq_progress *progress, int64_t now_ns, const Actorq__V1__StatusReply *status,
                      const char *trouble);

/* A line of its own between, or the end: clears what was drawn. */
void aq_progress_clear(aq_progress *progress);

/* Columns that a line may take on the terminal there; 80 of what is none. */
unsigned aq_progress_columns(int descriptor);

/* The line itself: what matters most comes first, and what does not fit into `columns` is left out;
 * and the one for files. Both return `out`. */
const char *aq_progress_line(const aq_progress *progress, const Actorq__V1__StatusReply *status,
                             const char *trouble, unsigned columns, char *out, size_t size);
const char *aq_progress_plain_line(const aq_progress *progress,
                                   const Actorq__V1__StatusReply *status, const char *trouble,
                                   char *out, size_t size);

#endif
