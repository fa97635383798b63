/*
 * Participant: the life of an actor's or an evaluator's process in a run, from Join to Leave. What
 * both have in common stands here; what they do in between is theirs, through hooks.
 *
 *   JOINING --joined--> TAKING_PART --stop, run ended--> FINISHING --finished--> LEAVING --> DONE
 *
 * FINISHING also ends when it takes too long, and by another stop. Who is refused, cannot take
 * part, joins a run that has ended or is stopped before it has joined goes to LEAVING at once.
 *
 * Speaks over an RPC channel and is told the time. Loop thread only. Logs joined, ready,
 * learner_unreachable, refused, cannot_take_part, run_ended, stopping, drained, left.
 */
#ifndef AQ_ACTOR_SESSION_PARTICIPANT_SESSION_H
#define AQ_ACTOR_SESSION_PARTICIPANT_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "actor/session/policy_session.h"
#include "common/member/member.h"

/* What is unfinished is given up after this, and the learner's answer to Leave is waited for so
 * long. */
enum { AQ_FINISH_MS_MAX = 2000, AQ_LEAVE_MS_MAX = 1000 };

enum aq_participant_phase {
    AQ_PARTICIPANT_JOINING,
    AQ_PARTICIPANT_TAKING_PART,
    AQ_PARTICIPANT_FINISHING,
    AQ_PARTICIPANT_LEAVING,
    AQ_PARTICIPANT_DONE,
};

enum aq_finish_state {
    AQ_FINISH_PENDING,
    AQ_FINISH_COMPLETE,
    AQ_FINISH_GIVEN_UP, /* what is unfinished is not worth waiting for any longer */
};

/* What an actor's and an evaluator's session are told alike. */
typedef struct aq_session_config {
    aq_member_identity identity;
    aq_policy_listener listener;
    aq_rpc_channel *fetches; /* to the learner, for what is large; NULL: that of all calls */
    uint32_t cpu_flags;      /* aq_cpu_flags() */
    int64_t start_ns;        /* when the process started, for `ready` */
    uint64_t seed; /* of back-off jitter; what is played follows from the run's settings */
} aq_session_config;

typedef struct aq_participant_hooks {
    void *user;
    /* In a run: a new one, or (`again`) the same after the learner had forgotten this member. A
     * failure ends the participation; `error` says why. */
    int (*joined)(void *user, const aq_member_view *view, bool again, aq_error *error);
    /* The shard list, the newest version or the settings changed. A failure is as above. */
    int (*changed)(void *user, const aq_member_view *view, aq_error *error);
    /* Start nothing new; finish what is begun. */
    void (*finish)(void *user);
    enum aq_finish_state (*finished)(void *user);
    /* It leaves: what is unfinished now is given up. May be NULL. */
    void (*leaving)(void *user);
    bool ends_with_run; /* once the run is over, what is unfinished is of no use */
    void (*statistics)(void *user, Actorq__V1__ActorStats *stats); /* what is its own of them */
} aq_participant_hooks;

typedef struct aq_participant aq_participant;

/* Tells the learner what is heard by `policy`, too. */
int aq_participant_create(aq_rpc_channel *learner, const aq_member_identity *identity,
                          const aq_participant_hooks *hooks, const aq_policy_session *policy,
                          uint64_t seed, aq_participant **ret_participant) AQ_MUST_USE;

/* The channel must have been closed, or have answered every call. NULL is fine. */
void aq_participant_destroy(aq_participant *participant);

/* To be called after anything happened and at aq_participant_next_ns. */
void aq_participant_tick(aq_participant *participant, int64_t now_ns);
int64_t aq_participant_next_ns(const aq_participant *participant);

/* Finish and leave; `reason` is for people, and a constant of the program. Once finishing, asking
 * again leaves at once. */
void aq_participant_stop(aq_participant *participant, const char *reason);

/* It makes steps, `startup_ns` after its process started; logged once. */
void aq_participant_ready(aq_participant *participant, int64_t startup_ns, uint32_t envs);

enum aq_participant_phase aq_participant_phase_of(const aq_participant *participant);

/* Of the process, once DONE: EXIT_SUCCESS, or EXIT_FAILURE when it was refused or cannot take
 * part. */
int aq_participant_exit_code(const aq_participant *participant) AQ_MUST_USE;

/* As the last heartbeat told them; zeroes before. */
const Actorq__V1__ActorStats *aq_participant_stats(const aq_participant *participant);

const aq_member_view *aq_participant_look(const aq_participant *participant);

#endif
