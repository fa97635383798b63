/*
 * A learner as far as a participant can tell: Join, Heartbeat, Leave, ReportEvaluation and Fetch,
 * answered from what the test puts here.
 */
#ifndef AQ_TESTS_UNIT_ACTOR_FAKE_LEARNER_H
#define AQ_TESTS_UNIT_ACTOR_FAKE_LEARNER_H

#include <stdbool.h>

#include "common/base/buffer.h"
#include "common/config/run_settings.h"
#include "common/net/rpc/rpc.h"
#include "proto/membership.pb-c.h"
#include "proto/policy.pb-c.h"

enum { FAKE_SHARDS_MAX = 4, FAKE_REPORTS_MAX = 64 };

typedef struct fake_learner fake_learner;

typedef struct fake_membership {
    Actorq__V1__Membership_Service methods; /* first */
    fake_learner *learner;
} fake_membership;

typedef struct fake_policy {
    Actorq__V1__Policy_Service methods; /* first */
    fake_learner *learner;
} fake_policy;

struct fake_learner {
    aq_rpc_dispatcher *dispatcher;
    fake_membership membership;
    fake_policy policy;

    /* What it answers. */
    uint64_t run_id;
    uint64_t member; /* of the next Join */
    uint32_t slot;
    aq_run_settings settings;
    Actorq__V1__RunState state;
    uint64_t version;
    char policy_url[64];
    uint32_t shard_count;
    uint64_t shards[FAKE_SHARDS_MAX]; /* member numbers; their urls follow from them */
    uint64_t stores[FAKE_SHARDS_MAX]; /* 0: named as the member is numbered */
    uint32_t slots[FAKE_SHARDS_MAX];
    char shard_rpc_url[64];       /* of all shards, when not empty */
    char shard_push_url[64];      /* likewise */
    uint64_t renumber_shards;     /* added to the numbers, not to the urls */
    bool has_forgotten;           /* heartbeats: not known */
    enum aq_rpc_code refuse_join; /* AQ_RPC_OK: it does not */
    enum aq_rpc_code refuse_report;
    uint32_t answers_lost;  /* of reports that are heard: so many still */
    uint64_t leader;        /* as it answers reports */
    aq_buffer policy_frame; /* empty: NOT_FOUND */

    /* What it was asked. */
    uint32_t joins, heartbeats, leaves, fetches, reports;
    uint64_t fetched_version; /* asked for last; 0: the newest */
    uint32_t fetched_format;
    uint64_t join_version; /* of the last Join */
    Actorq__V1__Role join_role;
    Actorq__V1__ActorStats stats; /* of the last heartbeat that had some */
    struct {
        uint64_t run_id, member, number, version;
        uint32_t format, episodes;
        bool confirmed;
        bool ranks_only;
        uint32_t gap_episodes; /* 0: it was no comparison */
        double gap_mean, return_mean, return_fp32;
        double return_std, return_fp32_std;
    } report[FAKE_REPORTS_MAX];
};

/* A run of kit_settings, without shards. */
void fake_learner_init(fake_learner *learner);
void fake_learner_fini(fake_learner *learner);

/* Makes a policy of the run (a POLICY frame) that Fetch brings; version and choice as said. */
void fake_learner_set_policy(fake_learner *learner, uint64_t version, int32_t choice);

#endif
