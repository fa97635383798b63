/*
 * Member: the client's half of membership (E5), the same for actors, evaluators and replay shards.
 * Joins, beats, joins again when the learner does not know it (any more), and tells its owner what
 * changed. No sockets and no clock: it speaks through an RPC channel and is told the time.
 *
 *   JOINING --Join OK--> JOINED --unknown, run changed--> JOINING
 *      \--refused for good--> REFUSED        \--run ended--> ENDED
 *
 * Order of starting does not matter: while the learner is away, calls fail and are tried again with
 * back-off; a learner that restarts finds its members back within a heartbeat.
 */
#ifndef AQ_COMMON_MEMBER_MEMBER_H
#define AQ_COMMON_MEMBER_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/config/run_names.h"
#include "common/config/run_settings.h"
#include "common/energy/energy_meter.h"
#include "common/net/address/url.h"
#include "common/net/rpc/rpc.h"
#include "proto/membership.pb-c.h"

typedef struct aq_member aq_member;

enum aq_member_state { AQ_MEMBER_JOINING, AQ_MEMBER_JOINED, AQ_MEMBER_ENDED, AQ_MEMBER_REFUSED };

enum { AQ_MEMBER_SHARDS_MAX = 64 };

/* Where the learner says that a store is. */
typedef struct aq_member_shard {
    uint64_t member;
    uint64_t store;    /* as in aq_member_identity */
    uint64_t instance; /* whom calls to it are signed for; 0: not known */
    uint32_t slot;     /* below AQ_MEMBER_SHARDS_MAX, no two the same; stays with the store */
    char rpc_url[AQ_URL_MAX];
    char push_url[AQ_URL_MAX];
} aq_member_shard;

/* What the member knows of the run. */
typedef struct aq_member_view {
    enum aq_member_state state;
    enum aq_run_state run_state;
    uint64_t run_id;
    uint64_t member;
    uint32_t slot;
    uint64_t version; /* the newest policy version there is */
    aq_run_settings settings;
    uint64_t settings_generation; /* grows when they are changed in the running system */
    bool is_asked_to_leave;       /* finish, leave and exit; never taken back */
    char policy_url[AQ_URL_MAX];
    uint32_t shard_count;
    aq_member_shard shards[AQ_MEMBER_SHARDS_MAX];
} aq_member_view;

typedef struct aq_member_owner {
    void *user;
    /* After every successful Join, first or again; `again` is 1 when the run is the same as
     * before. */
    void (*joined)(void *user, const aq_member_view *view, int again);
    /* The shard list, the newest version or the settings changed, or it is asked to leave. */
    void (*changed)(void *user, const aq_member_view *view);
    /* Ended or refused; `reason` is for people. */
    void (*ended)(void *user, const aq_member_view *view, const char *reason);
    /* The learner could not be reached or answered with an error; tried again by itself.
     * For a rate-limited log line. May be NULL. */
    void (*trouble)(void *user, const char *reason);
    /* Fills in the statistics of the next heartbeat; what it points at must stay until the next
     * time. */
    void (*statistics)(void *user, Actorq__V1__HeartbeatRequest *request);
    /* The newest policy version this member has seen (told at Join). May be NULL. */
    uint64_t (*seen_version)(void *user);
} aq_member_owner;

typedef struct aq_member_identity {
    enum aq_role role;
    uint64_t incarnation;
    char host[256];
    uint32_t pid;
    uint64_t store;           /* replay only: names what it holds, over all lives of the process */
    uint32_t slot;            /* the one that the store had, or that it asks for; 0: none */
    char rpc_url[AQ_URL_MAX]; /* replay only */
    char push_url[AQ_URL_MAX];
    aq_energy_meter *meter; /* of this process, lent; NULL: it says nothing of its energy */
} aq_member_identity;

/* `seed` feeds the back-off's jitter. AQ_E_NOMEM. The channel must live until the last call was
 * answered. */
int aq_member_create(aq_rpc_channel *channel, const aq_member_identity *identity,
                     const aq_member_owner *owner, uint64_t seed,
                     aq_member **ret_member) AQ_MUST_USE;

/* At any moment, also from inside a callback. A call in flight is ignored when it comes back, and
 * the memory goes with it; so the channel must answer it, as every channel does at the latest when
 * it is closed. NULL is fine. */
void aq_member_destroy(aq_member *member);

/* To be called often (every few ms, or at *ret_next_ns, which is INT64_MAX when there is nothing
 * left to do): makes the calls that are due. */
void aq_member_tick(aq_member *member, int64_t now_ns, int64_t *ret_next_ns);

const aq_member_view *aq_member_look(const aq_member *member);

/* Tells the learner that this member goes, after the call that is out, if any; `done` runs when it
 * answered or the time is over, and before this returns when there is nobody to tell. Once; the
 * owner is told nothing else from here on. */
void aq_member_leave(aq_member *member, const char *reason, void (*done)(void *user), void *user);

#endif
