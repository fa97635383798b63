/*
 * Coordinator: who is in the run, how far it is, and when it ends. A core: it is told the time and
 * what was heard, and answers; it owns no socket and no thread.
 *
 * Members are known by the incarnation that each process draws at its start, so a repeated Join is
 * the same member. A member that is not heard for the time-out is lost; its slot is free again.
 *
 * What members say is theirs and may be anything; numbers that can't be are passed over.
 */
#ifndef AQ_LEARNER_RUN_COORDINATOR_H
#define AQ_LEARNER_RUN_COORDINATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/config/run_names.h"
#include "common/net/address/url.h"
#include "learner/run/ranking.h"
#include "learner/run/store_ledger.h"

/* Half of all members may be at one address: more would keep out those of others. */
enum {
    AQ_MEMBERS_MAX = 16384,
    AQ_NEIGHBOURS_MAX = AQ_MEMBERS_MAX / 2,
    AQ_HOST_MAX = 256,
    AQ_REPLACED_MAX = 2
};

typedef struct aq_member_record {
    uint64_t member; /* number, unique in the run */
    uint64_t incarnation;
    uint64_t store; /* replay only: names what it holds, over all its lives; not 0 */
    enum aq_role role;
    uint32_t slot; /* of a shard: its store's */
    uint32_t pid;
    char host[AQ_HOST_MAX];
    char address[AQ_URL_MAX];   /* as the learner sees it */
    struct in6_addr neighbours; /* whose it is (url.h); all 0: nobody's */
    char rpc_url[AQ_URL_MAX];   /* replay only */
    char push_url[AQ_URL_MAX];
    bool follows_address; /* replay only: they are at the address, and elsewhere when that is */
    int64_t joined_ns;
    int64_t heard_ns;
    uint64_t unique; /* differs for each record ever made: indexes nothing, survives moves */
    bool leaving;    /* it is asked to, with each answer to its heartbeats */
    bool is_reached; /* replay only: it answers at its rpc_url */
} aq_member_record;

typedef struct aq_coordinator_config {
    int64_t member_timeout_ns;
    uint64_t env_steps_limit;     /* 0: none */
    uint64_t learner_steps_limit; /* 0: none */
    double wall_limit_s;          /* 0: none */
    double threshold;             /* NaN: none */
    uint64_t row_steps; /* environment steps that each step of a shard stands for; 0 is 1 */
} aq_coordinator_config;

typedef struct aq_coordinator aq_coordinator;

int aq_coordinator_create(const aq_coordinator_config *config, int64_t now_ns,
                          aq_coordinator **ret_coordinator) AQ_MUST_USE;
void aq_coordinator_destroy(aq_coordinator *coordinator); /* NULL is fine */

/* Other limits, threshold and time-out from now on: the next tick goes by them. */
void aq_coordinator_configure(aq_coordinator *coordinator, const aq_coordinator_config *config);

/* `wanted` says role, incarnation, store, host, pid, address, URLs, and in `member` and `slot` what
 * it had under an earlier life of the learner (member 0: nothing); it keeps both where they are
 * free. A `slot` above 0 without a member number is one that it would like, if it is free. A
 * shard's is its store's (store_ledger.h), and says which that had.
 *
 * A replay shard with the store or at the URL of another one is that one, restarted, and takes its
 * place: ret_replaced has the incarnations that went, 0 for none. So does one that moved, whose
 * incarnation stays. But one that answers where it said it is lives: AQ_E_AGAIN. Who does not makes
 * room where there are too many shards.
 *
 * AQ_E_EXISTS when the incarnation joined in another role, AQ_E_INVALID when it did with another
 * store, AQ_E_FULL when there are too many, in all or at its address, AQ_E_NOMEM; nothing has
 * changed then.
 * The record is valid until the next call that changes the members. */
int aq_coordinator_join(aq_coordinator *coordinator, int64_t now_ns, const aq_member_record *wanted,
                        const aq_member_record **ret_record, uint64_t ret_replaced[AQ_REPLACED_MAX],
                        aq_error *error) AQ_MUST_USE;

/* NULL when it is not a member (any more): it has to join again. */
const aq_member_record *aq_coordinator_find(const aq_coordinator *coordinator, uint64_t member,
                                            uint64_t incarnation);
const aq_member_record *aq_coordinator_heartbeat(aq_coordinator *coordinator, int64_t now_ns,
                                                 uint64_t member, uint64_t incarnation);
bool aq_coordinator_leave(aq_coordinator *coordinator, uint64_t member, uint64_t incarnation);

/* That member calls from this address now, and counts there, also beyond AQ_NEIGHBOURS_MAX. Passed
 * over when it is not a member. */
void aq_coordinator_seen(aq_coordinator *coordinator, uint64_t incarnation, const char *address);

/* Whether the learner has a connection on which that shard has answered. Passed over when it is not
 * a member. */
void aq_coordinator_reached(aq_coordinator *coordinator, uint64_t shard_incarnation,
                            bool is_reached);

/* Asks a member to leave; NULL when there is none of that number. */
const aq_member_record *aq_coordinator_drain(aq_coordinator *coordinator, uint64_t member);

/* Nobody could be heard for so long: it does not count as their silence. */
void aq_coordinator_was_deaf(aq_coordinator *coordinator, int64_t now_ns, int64_t deaf_ns);

/* Removes one member that was not heard for too long and copies its record out; false when there is
 * none. Call until false. */
bool aq_coordinator_expire(aq_coordinator *coordinator, int64_t now_ns,
                           aq_member_record *ret_record);

size_t aq_coordinator_member_count(const aq_coordinator *coordinator);
const aq_member_record *aq_coordinator_member_at(const aq_coordinator *coordinator, size_t index);

/* Grows whenever the set of live shards changes. */
uint64_t aq_coordinator_shards_changed(const aq_coordinator *coordinator);

/* `inserted` is the total of the shard's store, over all its lives, and only grows; what a store
 * brought counts for ever. That of an incarnation that is not a member, and one beyond
 * AQ_SHARD_INSERTED_MAX, is passed over. */
void aq_coordinator_progress(aq_coordinator *coordinator, uint64_t shard_incarnation,
                             uint64_t inserted);
uint64_t aq_coordinator_env_steps(const aq_coordinator *coordinator);

/* Of these, what shards had already when this process first heard of it: no steps of now. */
uint64_t aq_coordinator_env_steps_found(const aq_coordinator *coordinator);

/* For checkpoints: the stores behind env_steps, and setting them again before anybody joins. At
 * most AQ_STORES_MAX; what older stores brought is in *ret_base. */
size_t aq_coordinator_shard_counts(const aq_coordinator *coordinator, aq_shard_count *counts,
                                   uint64_t *ret_base);
void aq_coordinator_restore_counts(aq_coordinator *coordinator, const aq_shard_count *counts,
                                   size_t count, uint64_t base);

/* Seconds that earlier processes of this run took. */
void aq_coordinator_restore_wall(aq_coordinator *coordinator, double wall_before_s);

/* What the best evaluation is, before a restart or at the end. */
void aq_coordinator_restore_best(aq_coordinator *coordinator, const aq_evaluation_result *best);

/* A finished evaluation; true when the best has changed (ranking.h). A confirmed one that lies
 * three standard errors above the threshold, and was played in fp32 as well (or is of it) and does
 * so there, ends the run unless it only ranks; what comes after the end is not counted.
 *
 * `held`: the evaluated policy can be the run's result: it is still there, and in the precision
 * that was asked for. One that can't becomes neither the best nor the end of the run. */
bool aq_coordinator_evaluated(aq_coordinator *coordinator, const aq_evaluation_result *result,
                              bool held);

/* No result counts from now on, though the run has not ended: what this process leaves of it is
 * being written. */
void aq_coordinator_end_evaluations(aq_coordinator *coordinator);

/* Whether results count still. */
bool aq_coordinator_evaluates(const aq_coordinator *coordinator);

/* The version that an evaluator is to play afresh after this result, if it has it: that of a
 * screening which leads and is `held`, or else the best. 0: none. */
uint64_t aq_coordinator_leader(const aq_coordinator *coordinator,
                               const aq_evaluation_result *result, bool held);

/* What is to be the best where a run ends before it was played afresh: a screening three standard
 * errors above the best, of a run that is not solved. NULL: nothing. */
const aq_evaluation_result *aq_coordinator_heir(const aq_coordinator *coordinator);

/* The latest that does not only rank. */
const aq_evaluation_result *aq_coordinator_latest(const aq_coordinator *coordinator); /* or NULL */
const aq_evaluation_result *aq_coordinator_best(const aq_coordinator *coordinator);   /* or NULL */
uint64_t aq_coordinator_evaluations(const aq_coordinator *coordinator);

/* The learner has done so many gradient steps in all. */
void aq_coordinator_trained(aq_coordinator *coordinator, uint64_t learner_steps);

/* Checks the limits, and returns where the run stands. */
enum aq_run_state aq_coordinator_tick(aq_coordinator *coordinator, int64_t now_ns);
void aq_coordinator_stop(aq_coordinator *coordinator);
void aq_coordinator_diverge(aq_coordinator *coordinator); /* ends it as one that diverged */
enum aq_run_state aq_coordinator_state(const aq_coordinator *coordinator);

/* Seconds this run has taken, earlier processes included. */
double aq_coordinator_wall_s(const aq_coordinator *coordinator, int64_t now_ns);

uint64_t aq_coordinator_joined_total(const aq_coordinator *coordinator);
uint64_t aq_coordinator_lost_total(const aq_coordinator *coordinator);

#endif
