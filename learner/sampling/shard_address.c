/*
 * Shard address: see shard_address.h.
 */
#include "learner/sampling/shard_address.h"

#include <string.h>

/* The port is that of a connection, and changes with each. */
static bool is_same_host(const char *address, const char *other)
{
    char url[AQ_URL_MAX], other_url[AQ_URL_MAX];
    return aq_url_reachable("tcp://*:1", address, url, sizeof(url)) == 0 &&
           aq_url_reachable("tcp://*:1", other, other_url, sizeof(other_url)) == 0 &&
           strcmp(url, other_url) == 0;
}

bool aq_shard_has_moved(const aq_member_record *record, const char *peer)
{
    return record->follows_address && !is_same_host(record->address, peer);
}
