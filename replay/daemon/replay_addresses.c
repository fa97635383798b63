/*
 * Addresses: see replay_addresses.h.
 */
#include "replay/daemon/replay_addresses.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/parse.h"
#include "common/net/address/url.h"

static bool is_tcp(const char *url)
{
    return strncmp(url, "tcp://", 6) == 0;
}

/* The advertised host, and the port that was bound. */
static int combine(const char *advertise_url, const char *bound_url, char *ret_url, size_t size)
{
    char everywhere[AQ_URL_MAX];
    int rc = aq_text_format(everywhere, sizeof(everywhere), "tcp://*%s", strrchr(bound_url, ':'));
    return rc < 0 ? rc : aq_url_reachable(everywhere, advertise_url, ret_url, size);
}

int aq_replay_name_addresses(const char *advertise_url, const char *rpc_url, const char *push_url,
                             aq_member_identity *identity, aq_error *error)
{
    int rc;
    if (advertise_url == NULL) {
        (void)snprintf(identity->rpc_url, sizeof(identity->rpc_url), "%s", rpc_url);
        (void)snprintf(identity->push_url, sizeof(identity->push_url), "%s", push_url);
        return 0;
    }
    if (aq_url_has_port_0(advertise_url)) {
        if (!is_tcp(rpc_url)) {
            return aq_fail(error, AQ_E_INVALID,
                           "%s cannot be advertised: port 0 stands for the shard's own, and %s has "
                           "none",
                           advertise_url, rpc_url);
        }
        rc = combine(advertise_url, rpc_url, identity->rpc_url, sizeof(identity->rpc_url));
        if (rc == 0) {
            rc = combine(advertise_url, push_url, identity->push_url, sizeof(identity->push_url));
        }
    } else {
        (void)snprintf(identity->rpc_url, sizeof(identity->rpc_url), "%s", advertise_url);
        rc = aq_url_sibling(advertise_url, "push", identity->push_url, sizeof(identity->push_url));
    }
    return rc != 0 ? aq_fail(error, rc, "%s cannot be advertised", advertise_url) : 0;
}
