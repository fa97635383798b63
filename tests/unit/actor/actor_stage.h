/*
 * A stage for an actor session: a learner, two shards, wires that can be cut, and a clock that
 * moves when the test says so. Shard i is member STAGE_SHARD + i.
 */
#ifndef AQ_TESTS_UNIT_ACTOR_ACTOR_STAGE_H
#define AQ_TESTS_UNIT_ACTOR_ACTOR_STAGE_H

#include "actor/actor_session.h"
#include "tests/unit/actor/fake_learner.h"
#include "tests/unit/actor/fake_shard.h"
#include "tests/unit/actor/fake_wire.h"

enum { STAGE_SHARDS = 2, STAGE_SHARD = 100, STAGE_STEPS_MAX = 64 };
#define STAGE_INCARNATION UINT64_C(0xfeed)

typedef struct actor_stage {
    int64_t now_ns;
    fake_learner learner;
    fake_shard shards[STAGE_SHARDS];
    fake_wire learner_wire;
    fake_wire flow_wire;
    aq_actor_session *session;

    /* The transport. */
    int open_shard; /* -1: none */
    bool is_connected;
    bool is_severed; /* connections to shards break and do not come back */
    bool is_slow;    /* sends are refused */
    bool is_lossy;   /* sends succeed and are lost */
    bool cannot_open;
    uint32_t opens, closes, refused_sends;

    /* The listener. */
    aq_policy_feed *feed; /* NULL: it does not listen */
    char policy_url[64];
    bool cannot_listen;
    uint32_t listens, unlistens, passes;
} actor_stage;

/* With a session that has done nothing yet, and shard 0 in the learner's list. */
actor_stage *stage_open(void);
void stage_close(actor_stage *stage);

/* Lets `ms` milliseconds pass; in each, what is under way arrives, and the session ticks and works.
 * */
void stage_pass(actor_stage *stage, int64_t ms);

/* A frame of the broadcast is heard. */
void stage_hear(actor_stage *stage, const aq_buffer *frame);

/* The connection to the shard breaks; it comes back in the next millisecond unless it is severed.
 * */
void stage_break(actor_stage *stage);

/* The shard's process dies and another one takes its place. */
void stage_kill_shard(actor_stage *stage, int index);

aq_actor_counters stage_counters(const actor_stage *stage);
enum aq_participant_phase stage_phase(const actor_stage *stage);

#endif
