/*
 * Addresses: see replay_addresses.h.
 */
#include "replay/daemon/replay_addresses.h"

#include <stdio.h>
#include <string.h>

#include "common/net/address/url.h"

int aq_replay_name_addresses(const char *advertise_url, const char *rpc_url, const char *push_url,
                             aq_member_identity *identity, aq_error *error)
{
    int rc;
    if (advertise_url == NULL) {
        (void)snprintf(identity->rpc_url, sizeof(identity->rpc_url), "%s", rpc_url);
        (void)snprintf(identity->push_url, sizeof(identity->push_url), "%s", push_url);
        return 0;
    }
    size_t length = strlen(advertise_url);
    if (length > 2 && strcmp(advertise_url + length - 2, ":0") == 0) {
        rc = aq_url_reachable(rpc_url, advertise_url, identity->rpc_url, sizeof(identity->rpc_url));
        if (rc == 0) {
            rc = aq_url_reachable(push_url, advertise_url, identity->push_url,
                                  sizeof(identity->push_url));
        }
    } else {
        (void)snprintf(identity->rpc_url, sizeof(identity->rpc_url), "%s", advertise_url);
        rc = aq_url_sibling(advertise_url, "push", identity->push_url, sizeof(identity->push_url));
    }
    return rc != 0 ? aq_fail(error, rc, "%s cannot be advertised", advertise_url) : 0;
}
