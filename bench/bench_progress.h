/*
 * What a benchmark measures now, for people who wait.
 */
#ifndef AQ_BENCH_BENCH_PROGRESS_H
#define AQ_BENCH_BENCH_PROGRESS_H

#include <stdio.h>
#include <unistd.h>

/* On a terminal: one line that is drawn over itself. */
static inline void aq_bench_progress(const char *what)
{
    if (isatty(STDERR_FILENO)) {
        (void)fprintf(stderr, "\r\033[K%s", what);
        (void)fflush(stderr);
    }
}

#endif
