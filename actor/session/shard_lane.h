/*
 * Lane: an actor's dealings with one replay shard: the connection to it, sending what the spread
 * has for it (E1), and asking it for credit (E3, credit_session.h). It is dialled for as long as it
 * is listed, and after that until nothing of it is unacknowledged.
 *
 * A lane is of one store. Its messages are numbered for that store and stamped with its name, and a
 * store takes none that is stamped with another, so it does not matter who answers at an address.
 * shard_session.h says when a lane passes to another store.
 *
 * Loop thread only. Logs shard_connected, shard_lost, shard_unreachable, shard_stranger, resending.
 */
#ifndef AQ_ACTOR_SESSION_SHARD_LANE_H
#define AQ_ACTOR_SESSION_SHARD_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actor/core/actor_core.h"
#include "actor/session/credit_session.h"
#include "common/member/member.h"
#include "common/net/rpc/rpc.h"
#include "common/net/sockets/net.h"

/* The transport, real or simulated. `lane` is 0 to AQ_SPREAD_SHARDS_MAX - 1. */
typedef struct aq_shard_transport {
    void *user;
    /* Opens both connections; `*ret_flow` is the channel for the shard's Flow service, valid until
     * close. Only called when nothing is open for that lane. */
    int (*open)(void *user, uint32_t lane, const char *rpc_url, const char *push_url,
                const aq_net_limits *limits, aq_rpc_channel **ret_flow, aq_error *error);
    /* Every call on the channel has been answered when it returns. Only called when it is open. */
    void (*close)(void *user, uint32_t lane);
    /* One EXPERIENCE frame, copied. AQ_E_AGAIN: not now; connected or writable is told later. */
    int (*send)(void *user, uint32_t lane, const uint8_t *frame, size_t size);
} aq_shard_transport;

/* Whether both are at one address. */
bool aq_shard_is_same_place(const aq_member_shard *a, const aq_member_shard *b);

typedef struct aq_shard_lane_config {
    aq_shard_transport transport;
    aq_credit_asker asker;
    aq_net_limits limits;
    uint64_t seed;       /* of the back-off's jitter */
    aq_actor_core *core; /* lent */
} aq_shard_lane_config;

typedef struct aq_shard_lane aq_shard_lane;

/* For a store that is listed at `place`; opens a shard of the core's spread, whose number is the
 * lane's. AQ_E_FULL, AQ_E_NOMEM. */
int aq_shard_lane_create(const aq_shard_lane_config *config, const aq_member_shard *place,
                         aq_shard_lane **ret_lane) AQ_MUST_USE;
void aq_shard_lane_destroy(aq_shard_lane *lane); /* closes; NULL is fine */

/* Its store, and where that was listed last. */
const aq_member_shard *aq_shard_lane_place(const aq_shard_lane *lane);

/* Whether what is listed at `place` is the lane's store; or the one before, by a list that has not
 * heard yet who is at that address now. */
bool aq_shard_lane_is_at(const aq_shard_lane *lane, const aq_member_shard *place);

/* What is listed at `place` is at it (aq_shard_lane_is_at); or nothing is. */
void aq_shard_lane_list(aq_shard_lane *lane, const aq_member_shard *place);
void aq_shard_lane_unlist(aq_shard_lane *lane);

/* Whether no durable store can have anything of what is unacknowledged, so that it may be sent to
 * another: its store is in memory only, or was sent nothing yet. */
bool aq_shard_lane_may_pass(const aq_shard_lane *lane);

/* From here on it is of that store; the one before is gone for good. */
void aq_shard_lane_pass(aq_shard_lane *lane, uint64_t store);

/* The store that answered last at its address, if that is another one; else 0. */
uint64_t aq_shard_lane_stranger(const aq_shard_lane *lane);

/* Whether messages go out, and so acknowledgements may come. */
bool aq_shard_lane_is_connected(const aq_shard_lane *lane);

/* To be called after anything happened and at aq_shard_lane_next_ns. */
void aq_shard_lane_tick(aq_shard_lane *lane, int64_t now_ns);
int64_t aq_shard_lane_next_ns(const aq_shard_lane *lane);

/* Sends what the core has for it, as far as it goes. */
void aq_shard_lane_pump(aq_shard_lane *lane, int64_t now_ns);

/* What the transport tells. */
void aq_shard_lane_connected(aq_shard_lane *lane, int64_t now_ns);
void aq_shard_lane_disconnected(aq_shard_lane *lane);
void aq_shard_lane_writable(aq_shard_lane *lane);

#endif
