/*
 * What the learner tells a member, checked: replies of Membership into a member's view.
 */
#ifndef AQ_COMMON_MEMBER_MEMBER_READ_H
#define AQ_COMMON_MEMBER_MEMBER_READ_H

#include "common/member/member.h"

/* Run, member, slot, settings, policy_url and run_state. AQ_E_CORRUPT, AQ_E_INVALID or AQ_E_SCHEMA
 * in words; the view may then be half changed. */
int aq_member_read_join(const Actorq__V1__JoinReply *reply, aq_member_view *view,
                        aq_error *error) AQ_MUST_USE;

/* run_state, version, shards and whether to leave, of a reply that knows the member. AQ_E_CORRUPT
 * in words; the view may then be half changed. */
int aq_member_read_heartbeat(const Actorq__V1__HeartbeatReply *reply, aq_member_view *view,
                             aq_error *error) AQ_MUST_USE;

/* What may change in a running system, of the settings that it brings, if it does. As for a
 * join, but for the view, which is as it was then. */
int aq_member_read_settings(const Actorq__V1__HeartbeatReply *reply, aq_member_view *view,
                            aq_error *error) AQ_MUST_USE;

#endif
