/*
 * Live endpoint: what a person gives to name a running daemon. Its URL, or the folder of a run that
 * `actorq train` drives on this host: endpoint.json in it names the learner, and where its
 * dashboard is, while the run lives.
 */
#ifndef AQ_CLI_OPERATE_LIVE_ENDPOINT_H
#define AQ_CLI_OPERATE_LIVE_ENDPOINT_H

#include <stdbool.h>

#include "common/base/error.h"
#include "common/net/address/url.h"

/* The URL into ret_url[AQ_URL_MAX]. AQ_E_INVALID for what is neither a URL nor a folder and for one
 * that can only be listened at, AQ_E_NOT_FOUND for a folder without a live run, or
 * that no learner holds, AQ_E_CORRUPT for an endpoint.json that is not one. */
int aq_live_endpoint_url(const char *text, char *ret_url, aq_error *error) AQ_MUST_USE;

/* Where the learner of the run that is driven from `folder` serves its dashboard, into
 * ret_http[AQ_URL_MAX]: "http://127.0.0.1:24680". False: nowhere, or no learner holds the folder,
 * as after `actorq train` was killed. */
bool aq_live_endpoint_http(const char *folder, char *ret_http);

#endif
