/*
 * Status screen: as much of a status page as a terminal shows at once.
 */
#ifndef AQ_CLI_WATCH_STATUS_SCREEN_H
#define AQ_CLI_WATCH_STATUS_SCREEN_H

#include <stddef.h>
#include <stdio.h>

#include "common/base/error.h"
#include "proto/operations.pb-c.h"

/* Clears the screen for the page with as many members as `rows` rows of `columns` characters have
 * room for; both are above 0. Where the rest alone takes more rows, only its first lines.
 * AQ_E_NOMEM. */
int aq_status_screen_print(FILE *out, const char *url, const Actorq__V1__StatusReply *status,
                           size_t rows, size_t columns) AQ_MUST_USE;

#endif
