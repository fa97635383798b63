/*
 * Report session: finished evaluations on their way to the learner, oldest first, each asked again
 * until the learner has answered. One call is out at a time. Loop thread only.
 *
 * Logs evaluation_reported, evaluation_refused, report_failed.
 */
#ifndef AQ_ACTOR_SESSION_REPORT_SESSION_H
#define AQ_ACTOR_SESSION_REPORT_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/member/member.h"
#include "common/net/rpc/rpc.h"
#include "rollout/evaluation.h"

/* Nothing further is evaluated while one waits, but what follows from it by itself. */
enum { AQ_REPORTS_MAX = 4 };

typedef struct aq_report_session aq_report_session;

/* `seed` feeds the back-off's jitter. */
int aq_report_session_create(aq_rpc_channel *learner, uint64_t incarnation, uint64_t seed,
                             aq_report_session **ret_session) AQ_MUST_USE;

/* The channel must have been closed, or have answered every call. NULL is fine. */
void aq_report_session_destroy(aq_report_session *session);

/* A run begins, or goes on with other settings: what was found in another one is forgotten. */
void aq_report_session_start(aq_report_session *session, const aq_member_view *view);

bool aq_report_session_empty(const aq_report_session *session);

/* The version that leads, by the learner's last answer; 0: none. */
uint64_t aq_report_session_leader(const aq_report_session *session);

/* There must be room. */
void aq_report_session_put(aq_report_session *session, const aq_evaluation *evaluation);

/* `member` is the number that this process has now. To be called after anything happened and at
 * aq_report_session_next_ns. */
void aq_report_session_tick(aq_report_session *session, int64_t now_ns, uint64_t member);
int64_t aq_report_session_next_ns(const aq_report_session *session);

#endif
