/*
 * The simulated learner: what learner_net.c and its parts do with sockets, threads, timers and
 * files, done with the simulated network, the agenda and bytes in memory, around the same
 * coordinator, service, prefetcher, trainer core, quantizer stage and shelf. One object for all
 * lives of a process; its disk outlives them.
 */
#ifndef AQ_TESTS_SIM_SIM_LEARNER_H
#define AQ_TESTS_SIM_SIM_LEARNER_H

#include "learner/publish/quantizer_stage.h"
#include "learner/sampling/prefetch.h"
#include "learner/service/learner_service.h"
#include "learner/train/rank_turn.h"
#include "tests/sim/sim_site.h"

enum { SIM_GROUPS_MAX = 128, SIM_LINKS_MAX = 16, SIM_REPORTS_MAX = 8 };

/* What a kill leaves. */
typedef struct sim_disk {
    aq_buffer checkpoint;     /* a CHECKPOINT frame; empty: none yet */
    uint64_t versions_unused; /* the first number that was never reserved */
} sim_disk;

typedef struct sim_link {
    uint64_t incarnation; /* 0: free */
    sim_client *client;
    bool wanted;
} sim_link;

struct sim_learner;

/* One that trains: the learner itself, and the other ranks, if there are any, which live and die
 * with it on its host. */
typedef struct sim_rank {
    struct sim_learner *learner;
    aq_agent *agent;
    aq_trainer_core *trainer;
    aq_prefetch *prefetch;
    sim_link links[SIM_LINKS_MAX];
    aq_batch *groups[SIM_GROUPS_MAX]; /* to be trained on, the oldest first */
    size_t group_count;
    /* Of several. */
    aq_rank_link link;
    aq_gradient_exchange *exchange;
    aq_rank_meeting *meeting;
    aq_rank_turn turn;
    uint64_t promised; /* as aq_trainer_promised; of those that are not the first */
    aq_rank_outcome outcome;
    int rc; /* of the last turn */
} sim_rank;

typedef struct sim_learner {
    sim_site *site;
    sim_disk disk;
    bool runs;
    uint64_t life;
    aq_coordinator *coordinator;
    aq_policy_shelf *shelf;
    aq_learner_service *service;
    aq_rpc_dispatcher *dispatcher;

    sim_rank ranks[SIM_RANKS_MAX]; /* the first is the learner's own */
    int64_t met_ns;                /* when they met the last time */
    unsigned lost_at;              /* a rank is lost at this call of their link; 0: none is */

    /* sim_learner_training.c */
    aq_quantizer_stage *stage;
    uint64_t links_seen;
    bool training, staging;                  /* its event is on the agenda */
    aq_publication reports[SIM_REPORTS_MAX]; /* on their way to the loop */
    size_t report_count;
    uint64_t next_version, reserved_end;
    uint64_t newest_version, coming_versions; /* as aq_prefetch_tell_versions */

    /* sim_learner_disk.c */
    uint64_t first_step;
    uint64_t checkpoint_step;
    int64_t checkpoint_due_ns;
    bool checkpoint_wanted;
    aq_snapshot *best;
    aq_evaluation_result best_result;

    bool ended; /* the run's end has been carried out */
    int64_t ended_ns;

    /* Over all lives, for the tests. */
    uint64_t steps_done;
    uint64_t evaluations;
    double first_return, best_return;
} sim_learner;

void sim_learner_init(sim_learner *learner, sim_site *site);
void sim_learner_fini(sim_learner *learner); /* not running */

void sim_learner_start(sim_learner *learner);
void sim_learner_kill(sim_learner *learner);

uint64_t sim_learner_step(const sim_learner *learner);

/* One of several ranks dies, or stands still for good, and the others find out: all end, the first
 * one with a checkpoint, and are started again. */
void sim_learner_lose_rank(sim_learner *learner, unsigned lost_at);

/* ---- inside: sim_learner_training.c --------------------------------------------------------- */

void sim_learner_training_create(sim_learner *learner);
void sim_learner_training_destroy(sim_learner *learner); /* sockets are closed */
void sim_learner_training_tick(sim_learner *learner, int64_t now_ns);

/* Lets training end, and carries out what the stage has taken. */
void sim_learner_training_finish(sim_learner *learner);

/* However late a group is trained on, none of its steps may be too old when `newest` is out. */
void sim_learner_check_lag(const sim_learner *learner, const aq_batch *group, uint64_t newest);

/* The group is done; the rank has none of it any more. */
void sim_learner_group_done(sim_rank *rank);

/* ---- inside: sim_learner_links.c ------------------------------------------------------------ */

/* Follows the coordinator's list of shards. */
void sim_learner_follow(sim_learner *learner);
void sim_learner_drop_link(sim_rank *rank, sim_link *link);

/* ---- inside: sim_ranks.c -------------------------------------------------------------------- */

/* Everybody's agents; after a restart they keep what the first one's does. */
void sim_ranks_create(sim_learner *learner);
void sim_ranks_spread(sim_learner *learner);
void sim_ranks_begin(sim_learner *learner); /* their trainers were made */
void sim_ranks_destroy(sim_learner *learner);

/* All meet, and train if all can. */
void sim_ranks_turn(sim_learner *learner);

/* ---- inside: sim_learner_disk.c ------------------------------------------------------------- */

void sim_learner_restore(sim_learner *learner);
void sim_learner_write(sim_learner *learner, const aq_named_arrays *arrays, uint64_t step);

/* The first of `count` fresh version numbers above `at_least`. */
uint64_t sim_learner_reserve(sim_learner *learner, uint64_t at_least, uint64_t count);

#endif
