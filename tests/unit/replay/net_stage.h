/*
 * A stage for the replay daemon on real sockets: a learner that only knows membership, and one
 * client that is an actor and a learner to the shard. The daemon runs in a thread of its own
 * (net_stage_start), or as a process of the test's.
 */
#ifndef AQ_TESTS_UNIT_REPLAY_NET_STAGE_H
#define AQ_TESTS_UNIT_REPLAY_NET_STAGE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "common/config/run_settings.h"
#include "common/net/address/url.h"
#include "common/net/rpc/rpc_client.h"
#include "common/net/rpc/rpc_server.h"
#include "common/net/security/security.h"
#include "common/net/sockets/push.h"
#include "proto/experience.pb-c.h"
#include "proto/operations.pb-c.h"
#include "proto/sampling.pb-c.h"
#include "replay/daemon/replay_net.h"

enum { NET_STAGE_DEADLINE_S = 120, NET_STAGE_SLOT = 3 };

typedef struct net_stage {
    Actorq__V1__Membership_Service membership; /* first */
    uv_loop_t loop;
    uv_timer_t heartbeat;  /* keeps uv_run from waiting for ever */
    aq_security *security; /* set before the set-up: with its token calls and messages are proved */
    aq_rpc_dispatcher *dispatcher;
    aq_rpc_server *server;
    aq_run_settings settings;
    uint64_t run_id;
    Actorq__V1__RunState state;
    bool refuse;
    bool forget_once;
    int joins, heartbeats, leaves;
    uint64_t heard_inserted;
    char rpc_url[AQ_URL_MAX];
    char push_url[AQ_URL_MAX];
    aq_rpc_client *client;
    aq_push *push;
    pthread_t thread;
    atomic_bool is_over; /* the thread */
    aq_replay_options options;
    int result;
    aq_error error;
    int replies;
    uint64_t store;        /* as the shard told at its last Join */
    uint32_t slot;         /* likewise */
    uint32_t slot_given;   /* by the learner: NET_STAGE_SLOT, unless a test says another */
    uint64_t acknowledged; /* by the last Credit call */
    Actorq__V1__StatusReply *report; /* of the last Status call */
    uint32_t rows;
} net_stage;

/* cmocka set-up and tear-down: *state is the stage. */
void net_stage_setup(net_stage *stage);
void net_stage_teardown(net_stage *stage);

/* The daemon as a thread, with stage->options. */
void net_stage_start(net_stage *stage);

/* Turns the loop until the daemon has ended by itself. Returns its result. */
int net_stage_finish(net_stage *stage);

/* Turns the loop until the counter has reached `count`. */
void net_stage_await(net_stage *stage, const int *counter, int count);

/* Waits until the shard has joined, and connects to it as an actor and a learner would; again, to
 * another life of it. */
void net_stage_join(net_stage *stage);

aq_rpc_stub net_stage_stub(const net_stage *stage, const ProtobufCServiceDescriptor *descriptor);

/* Message `seq` of actor 1. */
void net_stage_send(net_stage *stage, uint64_t seq, uint32_t steps);

/* One Credit call of actor 1, which knows nothing; stage->acknowledged is its answer. */
void net_stage_ask_credit(net_stage *stage);
void net_stage_await_acknowledgement(net_stage *stage, uint64_t seq);

/* Steps that are stored; stage->report has the rest. */
uint64_t net_stage_ask_stored(net_stage *stage);

/* A life of the daemon that takes messages first_seq .. last_seq of 24 steps each, or none where
 * last_seq is 0; and its end, by a call. */
void net_stage_live(net_stage *stage, uint64_t first_seq, uint64_t last_seq);
void net_stage_end(net_stage *stage);

#endif
