/*
 * A simulated replay shard: what replay_net.c does with sockets and timers, done with the simulated
 * network, around the same service and the same membership. What replay_store.c does with a folder
 * is done with a platter. One object for all lives of a process at one address.
 */
#ifndef AQ_TESTS_SIM_SIM_REPLAY_H
#define AQ_TESTS_SIM_SIM_REPLAY_H

#include "common/member/member.h"
#include "replay/service/replay_service.h"
#include "tests/sim/sim_platter.h"
#include "tests/sim/sim_site.h"

enum { SIM_LATE_SAMPLES_MAX = 64 };

typedef struct sim_replay {
    sim_site *site;
    uint32_t host;
    bool runs;
    uint64_t life;
    bool stopping; /* the run has ended */
    bool has_left;
    aq_replay_service *service;
    aq_rpc_dispatcher *dispatcher;
    sim_client *learner;
    aq_member *member;
    aq_member_identity identity;
    uint64_t stores; /* begun in this life */
    int64_t member_due_ns;
    aq_replay_stats statistics;
    sim_platter platter;
    sim_book *book;    /* of the store; NULL: none */
    uint64_t messages; /* handed in, in all lives */
    bool taking_in;    /* a message, which may make samples possible */
    Actorq__V1__SampleReply *late[SIM_LATE_SAMPLES_MAX]; /* given out meanwhile, to be checked */
    size_t late_count;
} sim_replay;

void sim_replay_init(sim_replay *replay, sim_site *site, uint32_t index);

void sim_replay_start(sim_replay *replay);
void sim_replay_kill(sim_replay *replay); /* kill -9 */
void sim_replay_stop(sim_replay *replay); /* in order, and at once */
void sim_replay_fini(sim_replay *replay); /* not running */

#endif
