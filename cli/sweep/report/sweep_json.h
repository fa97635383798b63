/*
 * Sweep JSON: what `actorq sweep status --json` prints and DIR/sweep.json holds. Times and costs
 * apart, it is the same for any number of workers.
 */
#ifndef AQ_CLI_SWEEP_REPORT_SWEEP_JSON_H
#define AQ_CLI_SWEEP_REPORT_SWEEP_JSON_H

#include <jansson.h>

#include "cli/sweep/report/sweep_summary.h"

/* NULL: out of memory. */
json_t *aq_sweep_json(const aq_sweep_summary *summary);

#endif
