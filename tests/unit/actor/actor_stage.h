/*
 * A stage for an actor session: a learner, a few shards, wires that can be cut, and a clock that
 * moves when the test says so. Shard i is member STAGE_SHARD + i, and its store is that number,
 * too.
 */
#ifndef AQ_TESTS_UNIT_ACTOR_ACTOR_STAGE_H
#define AQ_TESTS_UNIT_ACTOR_ACTOR_STAGE_H

#include "actor/session/actor_session.h"
#include "tests/support/loopback.h"
#include "tests/support/test.h"
#include "tests/unit/actor/fake_learner.h"
#include "tests/unit/actor/fake_shard.h"

enum { STAGE_SHARDS = 3, STAGE_SHARD = 100, STAGE_STEPS_MAX = 64 };
#define STAGE_INCARNATION UINT64_C(0xfeed)

/* The way to a shard. */
typedef struct stage_way {
    bool is_severed; /* the connection breaks and does not come back */
    bool is_slow;    /* sends are refused */
    bool is_lossy;   /* sends succeed and are lost */
    bool cannot_open;
    uint32_t opens, closes, refused_sends;
} stage_way;

/* A lane of the transport. */
typedef struct stage_link {
    bool is_open;
    bool is_connected;
    int shard;
    loopback flow_wire;
} stage_link;

typedef struct actor_stage {
    int64_t now_ns;
    fake_learner learner;
    fake_shard shards[STAGE_SHARDS];
    loopback learner_wire;
    aq_actor_session *session;

    stage_way ways[STAGE_SHARDS];
    stage_link links[AQ_SPREAD_SHARDS_MAX];

    /* The listener. */
    aq_policy_feed *feed; /* NULL: it does not listen */
    char policy_url[64];
    bool cannot_listen;
    uint32_t listens, unlistens, passes;
} actor_stage;

/* With a session that has done nothing yet, and shard 0 in the learner's list. */
actor_stage *stage_open(void);
void stage_close(actor_stage *stage);
#define TEST_ON_STAGE(name) TEST_OF(name, actor_stage *stage, stage_open(), stage_close)

/* Lets `ms` milliseconds pass; in each, what is under way arrives, and the session ticks and works.
 * */
void stage_pass(actor_stage *stage, int64_t ms);

/* Shard 0 has granted so many steps, in all, and `ms` milliseconds pass. */
void stage_act(actor_stage *stage, uint64_t granted, int64_t ms);

/* A frame of the broadcast is heard. */
void stage_hear(actor_stage *stage, const aq_buffer *frame);

/* The learner has a policy of this version, and it is heard. */
void stage_hear_policy(actor_stage *stage, uint64_t version);

/* The connections to the shard break; they come back in the next millisecond unless it is severed.
 */
void stage_break(actor_stage *stage, int shard);

/* They break, and it is severed. */
void stage_sever(actor_stage *stage, int shard);

/* The shard's process dies and another one takes its place; the learner hears of it at once. */
void stage_kill_shard(actor_stage *stage, int shard);

/* How many lanes have a connection to it open. */
int stage_links_to(const actor_stage *stage, int shard);

aq_actor_counters stage_counters(const actor_stage *stage);
enum aq_participant_phase stage_phase(const actor_stage *stage);

#endif
