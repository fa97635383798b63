/*
 * Status page: a daemon's answer to Operations/Status, for people.
 */
#ifndef AQ_CLI_WATCH_STATUS_PAGE_H
#define AQ_CLI_WATCH_STATUS_PAGE_H

#include <stddef.h>
#include <stdio.h>

#include "common/base/error.h"
#include "proto/operations.pb-c.h"

/* `url` is where the answer came from. Of each kind of member at most `members_max` are listed; the
 * rest is counted. AQ_E_NOMEM. */
int aq_status_page_print(FILE *out, const char *url, const Actorq__V1__StatusReply *status,
                         size_t members_max) AQ_MUST_USE;

#endif
