/*
 * The addresses by which a shard is known. No state; any thread.
 */
#ifndef AQ_REPLAY_DAEMON_REPLAY_ADDRESSES_H
#define AQ_REPLAY_DAEMON_REPLAY_ADDRESSES_H

#include "common/base/error.h"
#include "common/member/member.h"

/* Names the two addresses that the learner hands to others: as they were bound; or as another
 * one is advertised (NULL: none is), whose port 0 stands for those that were bound. AQ_E_INVALID,
 * AQ_E_TOO_BIG. */
int aq_replay_name_addresses(const char *advertise_url, const char *rpc_url, const char *push_url,
                             aq_member_identity *identity, aq_error *error) AQ_MUST_USE;

#endif
