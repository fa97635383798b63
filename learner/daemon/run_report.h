/*
 * Run report: what the run says of itself, once a second and when something happens: lines of
 * metrics.jsonl (and its mirrors), and the figures of the last second for the status.
 * Loop thread only.
 */
#ifndef AQ_LEARNER_DAEMON_RUN_REPORT_H
#define AQ_LEARNER_DAEMON_RUN_REPORT_H

#include "learner/service/learner_service.h"

struct aq_learner_parts;
typedef struct aq_run_report aq_run_report;

/* Of these parts, which are lent, once there is `training`. */
int aq_run_report_create(const struct aq_learner_parts *parts,
                         aq_run_report **ret_report) AQ_MUST_USE;
void aq_run_report_destroy(aq_run_report *report); /* NULL is fine */

/* Moves the window of the last second, and tells of progress. */
void aq_run_report_second(aq_run_report *report, int64_t now_ns);

/* An evaluation came; of those that change nothing only a few get a line. */
void aq_run_report_evaluated(aq_run_report *report, const aq_evaluation_result *result,
                             bool is_best);
void aq_run_report_compared(aq_run_report *report, const aq_version_gap *gap);
void aq_run_report_setting(aq_run_report *report, const char *key, const char *before,
                           const char *after);

/* The run has ended: the last line, and the log. */
void aq_run_report_ended(aq_run_report *report);

/* The learner's figures, also within status->replay_use; what it points at lives as long as the
 * report, and is valid until the next call. */
void aq_run_report_status(aq_run_report *report, Actorq__V1__LearnerStatus *status);

/* Where the time of each role went, in seconds: a new reference; NULL without memory. */
struct json_t *aq_run_report_time(const aq_run_report *report);

#endif
