/*
 * Call place: see call_place.h.
 */
#include "actor/daemon/call_place.h"

int aq_call_place_url(const aq_call_place *place, const char *url, char ret_url[AQ_URL_MAX],
                      aq_error *error)
{
    int rc = aq_url_reachable(url, place->learner_url, ret_url, AQ_URL_MAX);
    return rc != 0 ? aq_fail(error, rc, "%s: %s", url, aq_error_text(rc)) : 0;
}

aq_net_limits aq_call_place_limits(const aq_call_place *place, const aq_net_limits *limits)
{
    aq_net_limits own = *limits;
    own.security = place->security;
    return own;
}
