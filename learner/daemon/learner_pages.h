/*
 * Learner pages: what the learner serves over HTTP, all of it to look at: metrics for Prometheus,
 * health, and the dashboard with the run's history. Without HTTP there is nobody to draw for, and
 * no history is kept. Loop thread only.
 */
#ifndef AQ_LEARNER_DAEMON_LEARNER_PAGES_H
#define AQ_LEARNER_DAEMON_LEARNER_PAGES_H

#include "learner/metrics/run_history.h"
#include "learner/run/run_folder.h"

struct aq_learner_parts;
typedef struct aq_learner_pages aq_learner_pages;

/* The history of a run with such metrics: empty, or what the file of a resumed run tells; when that
 * can't be read, the log says so. */
int aq_pages_history(const aq_run_folder *folder, const aq_metric_list *metrics,
                     aq_run_history **ret_history) AQ_MUST_USE;

/* Of these parts, which are lent, once there is `report`. Half open after a failure: to be closed
 * and destroyed all the same. */
int aq_learner_pages_open(const struct aq_learner_parts *parts, aq_learner_pages **ret_pages,
                          aq_error *error) AQ_MUST_USE;
void aq_learner_pages_close(aq_learner_pages *pages); /* before the loop's last run; NULL is fine */
void aq_learner_pages_destroy(aq_learner_pages *pages); /* after it; NULL is fine */

void aq_learner_pages_end(aq_learner_pages *pages); /* the learner ends: not ready any more */
const char *aq_learner_pages_url(const aq_learner_pages *pages); /* "" for none */

#endif
