/*
 * Metric names: the numbers of a line of metrics.jsonl, one by one, by the names that other
 * people's tools show. Those within objects have their path, "energy/roles/actor/energy_j";
 * elements of a list that have a name have that in it, "replay/tables/main/items". Lists of plain
 * numbers, such as histograms, are left out. Any thread; no state.
 */
#ifndef AQ_LEARNER_METRICS_METRIC_NAMES_H
#define AQ_LEARNER_METRICS_METRIC_NAMES_H

#include <stddef.h>

enum { AQ_METRIC_NAME_MAX = 128 /* longer ones are left out */ };

struct json_t; /* jansson's */

typedef void (*aq_metric_fn)(void *user, const char *name, double value);

/* Calls `take` for each number of the line, which is finite, in the order of the line. */
void aq_metric_each(const struct json_t *line, aq_metric_fn take, void *user);

/* The tag that TensorBoard groups by, of a number of an event ("progress", "evaluation", "gap"):
 * returns are return/training and return/FORMAT, evaluated as broadcast in that format, what else
 * belongs to an evaluation is evaluation/... NULL for one that is left out: how a run ended, and
 * what never changes. Returns `out` or a static text. */
const char *aq_metric_tag(const char *event, const char *name, const char *format, char *out,
                          size_t size);

#endif
