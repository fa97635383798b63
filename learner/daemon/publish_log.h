/*
 * Publish log: what is said of versions that went out otherwise than was planned, or not at all; a
 * line a second at most; and of numbers that leap. Loop thread only, but for take_version.
 */
#ifndef AQ_LEARNER_DAEMON_PUBLISH_LOG_H
#define AQ_LEARNER_DAEMON_PUBLISH_LOG_H

#include "common/sys/log.h"
#include "learner/publish/policy_versions.h"
#include "learner/publish/publication.h"

typedef struct aq_publish_log {
    aq_log_limit failed_limit, fallback_limit;
    char trouble[AQ_ERROR_TEXT_MAX]; /* of the last version; "": it is out */
} aq_publish_log;

void aq_publish_log_out(aq_publish_log *own, const aq_publication *publication);
void aq_publish_log_failed(aq_publish_log *own, const aq_error *error);

/* As aq_version_numbers_take; on the thread whose numbers they are. */
int aq_publish_log_take_version(aq_version_numbers *versions, uint64_t *ret_version,
                                aq_error *error) AQ_MUST_USE;

#endif
