/*
 * Ranks: a learner that several processes train together. mpirun or srun starts them all with the
 * same arguments; they reach each other through a link (rank_link.h) that a module brings. Rank 0
 * is the learner that everybody knows; the others are rank_net.h. What is here both have in common:
 * the link and what stands on it, and what rank 0 tells at the start, which is all that the others
 * go by.
 *
 * A process that is alone has no link, and but for its exchange nothing here does anything. Loop
 * thread only.
 */
#ifndef AQ_LEARNER_DAEMON_RANKS_H
#define AQ_LEARNER_DAEMON_RANKS_H

#include "common/energy/energy_meter.h"
#include "learner/algorithms/agent_ranks.h"
#include "learner/daemon/shard_links.h"
#include "learner/train/rank_meeting.h"
#include "learner/train/trainer.h"

/* What rank 0 tells the loops of the others. */
typedef struct aq_rank_news {
    aq_shard_places places;
    uint32_t log_level; /* log.level of the run */
} aq_rank_news;

/* What a rank's loop tells rank 0's. */
typedef struct aq_rank_account {
    aq_energy_reading energy; /* that its process takes */
    aq_trainer_times times;
    uint64_t outdated; /* steps that it passed over */
} aq_rank_account;

typedef struct aq_ranks {
    uint32_t count;
    aq_rank_link *link;             /* lent; NULL: alone */
    aq_rank_link within, across;    /* parts of it where ranks share networks; else not there */
    aq_model_group *model;          /* over the first; NULL: each rank has its networks to itself */
    aq_gradient_exchange *exchange; /* over the second, or all; also of one that is alone */
    aq_rank_meeting *meeting;       /* NULL: alone */
    uint64_t seen[AQ_RANKS_MAX];    /* notes of each */
    aq_rank_account accounts[AQ_RANKS_MAX]; /* that the others told; zeroes of none */
} aq_ranks;

/* Opens the link, if mpirun started several or `is_told`; *ret_link is NULL where there is no other
 * rank. AQ_E_UNSUPPORTED, in words, without Open MPI. */
int aq_ranks_open(bool is_told, aq_rank_link **ret_link, aq_error *error) AQ_MUST_USE;

/* After everything that uses it. NULL is fine. */
void aq_ranks_close(aq_rank_link *link);

/* AQ_E_NOMEM; AQ_E_INVALID, in words, when there are not as many ranks as learner.model_ranks, or a
 * multiple. A NULL link is fine. `ranks` was zeroed. What goes over a part of the link can be used
 * once the ranks have begun. */
int aq_ranks_make(aq_rank_link *link, const aq_run_config *config, aq_ranks *ranks,
                  aq_error *error) AQ_MUST_USE;
void aq_ranks_fini(aq_ranks *ranks);

/* What a run is to another rank. */
typedef struct aq_rank_birth {
    uint64_t run_id;
    uint64_t first_step;
    bool is_bf16; /* its matrix products */
    char *config; /* YAML, of all settings; owned by whoever heard it */
} aq_rank_birth;

/* Rank 0 says it; the others hear it (aq_free(config)). AQ_E_VERSION for another build, AQ_E_PEER
 * when a rank is lost. */
int aq_ranks_say_birth(aq_ranks *ranks, const aq_rank_birth *birth, aq_error *error) AQ_MUST_USE;
int aq_ranks_hear_birth(aq_rank_link *link, aq_rank_birth *ret_birth, aq_error *error) AQ_MUST_USE;

/* What rank 0's products are in become this one's. AQ_E_UNSUPPORTED, in words, where it can't. */
int aq_ranks_take_products(const aq_rank_birth *birth, aq_run_config *config,
                           aq_error *error) AQ_MUST_USE;

/* Everybody's agents come to keep what rank 0's does: what it has `resumed`, or, of NULL, what it
 * begins with. `rc` says whether this rank can take part, and `error` why not; then none does.
 * Afterwards a rank that is silent for timeout_ms is lost. */
int aq_ranks_begin(aq_ranks *ranks, aq_agent *agent, int rc, const aq_named_arrays *resumed,
                   uint64_t timeout_ms, aq_error *error) AQ_MUST_USE;

/* As aq_agent_keep, for the last time: the trainers of all ranks have ended, and `in_order` says
 * that they ended so; else what ranks share is lost, which is AQ_E_PEER. */
int aq_ranks_keep(aq_ranks *ranks, aq_agent *agent, bool in_order,
                  const aq_named_arrays *to) AQ_MUST_USE;

/* An end is near: nobody who is silent is waited for much longer, unless it has a slice of the
 * networks, which would be lost. */
void aq_ranks_hurry(aq_ranks *ranks);

/* The link is used no more: no trainer runs. In order once the trainers of all ranks ended so,
 * which each of them waits for; else those that still wait find out. */
void aq_ranks_part(aq_ranks *ranks, bool in_order);

/* Notes; true: there is a new one. */
void aq_ranks_tell_news(aq_ranks *ranks, const aq_rank_news *news);
bool aq_ranks_hear_news(aq_ranks *ranks, aq_rank_news *ret_news);
void aq_ranks_tell_account(aq_ranks *ranks, const aq_rank_account *account);
bool aq_ranks_hear_account(aq_ranks *ranks, uint32_t rank, aq_rank_account *ret_account);

/* Steps that the other ranks passed over, as far as they told. */
uint64_t aq_ranks_outdated(const aq_ranks *ranks);

#endif
