/*
 * Status watch: a daemon's status again and again on standard output, until its run is over. A page
 * that is drawn over itself on a terminal, pages one after the other elsewhere, or a line of JSON
 * each.
 */
#ifndef AQ_CLI_WATCH_STATUS_WATCH_H
#define AQ_CLI_WATCH_STATUS_WATCH_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/sys/options.h"

/* `endpoint` as aq_live_endpoint_url takes it. Returns 0 when the daemon is gone and its run known
 * to be over: the last answer said so, or the run's folder no longer names a learner. One that is
 * gone otherwise is asked for as long as it takes, at the address that its folder names, which a
 * resume changes. AQ_E_TIMEOUT when nobody answered within first_ms, AQ_E_PEER in the daemon's
 * words when it refuses to answer, AQ_E_IO when standard output takes no more, AQ_E_NOMEM, and what
 * aq_live_endpoint_url says. */
int aq_status_watch(const char *endpoint, aq_json_form json, uint32_t first_ms,
                    aq_error *error) AQ_MUST_USE;

#endif
