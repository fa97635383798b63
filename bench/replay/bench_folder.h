/*
 * Bench folder: a new folder for what a benchmark's processes write, and the loop that these are
 * started on. Whoever ends the benchmark by a signal finds neither left.
 */
#ifndef AQ_BENCH_REPLAY_BENCH_FOLDER_H
#define AQ_BENCH_REPLAY_BENCH_FOLDER_H

#include <limits.h>
#include <uv.h>

#include "common/base/error.h"
#include "common/sys/loop.h"

typedef struct aq_bench_folder {
    uv_loop_t loop;
    aq_end_signals signals;
    char path[PATH_MAX];
} aq_bench_folder;

/* Makes it in the folder `parent`. It may not be moved. */
int aq_bench_folder_init(const char *parent, aq_bench_folder *folder, aq_error *error) AQ_MUST_USE;
void aq_bench_folder_fini(aq_bench_folder *folder);

#endif
