/*
 * Publish log: see publish_log.h.
 */
#include "learner/daemon/publish_log.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/base/clock.h"

void aq_publish_log_out(aq_publish_log *own, const aq_publication *publication)
{
    own->trouble[0] = '\0';
    if (publication->fallback[0] != '\0') {
        aq_log_limited(&own->fallback_limit, aq_clock_monotonic_ns(), AQ_LOG_WARN,
                       "quantization_fallback", "this version went out in fp32",
                       "version=%" PRIu64 " reason=%s", publication->snapshot->version,
                       AQ_LOG_QUOTED(publication->fallback));
    }
}

void aq_publish_log_failed(aq_publish_log *own, const aq_error *error)
{
    (void)snprintf(own->trouble, sizeof(own->trouble), "%s", error->text);
    aq_log_limited(&own->failed_limit, aq_clock_monotonic_ns(), AQ_LOG_ERROR, "publish_failed",
                   "actors keep the version that they have", "error=%s",
                   AQ_LOG_QUOTED(error->text));
}

int aq_publish_log_take_version(aq_version_numbers *versions, uint64_t *ret_version,
                                aq_error *error)
{
    const uint64_t leaps = versions->leaps;
    int rc = aq_version_numbers_take(versions, ret_version, error);
    if (versions->leaps != leaps) {
        aq_log(AQ_LOG_WARN, "versions_behind",
               "members have seen later versions than the run folder knows of, as if it were an "
               "older copy; numbers go on after those",
               "version=%" PRIu64, *ret_version);
    }
    return rc;
}
