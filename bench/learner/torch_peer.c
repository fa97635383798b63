/*
 * PyTorch beside us: a line of text a row, "name threads steps_per_s", after one with its version.
 */
#include "bench/learner/torch_peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 256 };

static int read_rows(FILE *from, aq_torch_times *times)
{
    char line[LINE_BYTES];

    if (fgets(line, sizeof(line), from) == NULL ||
        sscanf(line, "torch %63s", times->version) != 1) {
        return AQ_E_CORRUPT;
    }
    while (times->count < AQ_TORCH_ROWS_MAX && fgets(line, sizeof(line), from) != NULL) {
        const size_t i = times->count;

        if (sscanf(line, "%63s %u %lf", times->rows[i].name, &times->rows[i].threads,
                   &times->rows[i].steps_per_s) != 3) {
            return AQ_E_CORRUPT;
        }
        times->count++;
    }
    return 0;
}

int aq_torch_measure(aq_torch_times *ret_times, aq_error *error)
{
    aq_torch_times times = {0};
    FILE *from = popen("exec python3 '" AQ_TORCH_STEPS "'", "r");

    if (from == NULL) {
        return aq_fail(error, AQ_E_UNSUPPORTED, "python3 can't be started");
    }
    int rc = read_rows(from, &times);
    if (pclose(from) != 0 || rc != 0) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "PyTorch can't be measured: is python3 with torch there, and %s?",
                       AQ_TORCH_STEPS);
    }
    *ret_times = times;
    return 0;
}

double aq_torch_steps_per_s(const aq_torch_times *times, const char *name, uint32_t threads)
{
    for (size_t i = 0; i < times->count; i++) {
        if (times->rows[i].threads == threads && strcmp(times->rows[i].name, name) == 0) {
            return times->rows[i].steps_per_s;
        }
    }
    return NAN;
}
