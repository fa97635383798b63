/*
 * Trainer core: turns groups of batches into gradient steps and policies that are due. No thread of
 * its own: trainer.h gives it one, tests run it inline.
 */
#ifndef AQ_LEARNER_TRAIN_TRAINER_CORE_H
#define AQ_LEARNER_TRAIN_TRAINER_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/experience/batch.h"
#include "learner/algorithms/agent.h"
#include "learner/train/draw_audit.h"

typedef struct aq_trainer_core aq_trainer_core;

/* Groups of gradients that actors have computed (common/config/gradient_rows.h). */
typedef struct aq_gradient_rules {
    size_t values; /* of a gradient; 0: groups are of rows */
    enum aq_gradient_format format;
    uint64_t steps;  /* of environments, that each is of */
    uint64_t actors; /* that are expected: a version is made of as many gradients */
    bool is_damped;  /* by the versions that it is behind */
} aq_gradient_rules;

/* Of a run whose gradients are of so many parameters; 0: it has none of actors. */
aq_gradient_rules aq_gradient_rules_of(const aq_run_config *config, size_t values);

typedef struct aq_trainer_core_config {
    uint64_t publish_period;        /* steps, where versions are made by them */
    uint64_t first_step;            /* steps done before, by an earlier process */
    uint32_t error_rows;            /* observations that a version is measured on, at most */
    aq_draw_audit *audit;           /* lent; NULL: none */
    aq_gradient_exchange *exchange; /* that is told of; lent; NULL: none */
    uint64_t versions_max;       /* of which steps are trained on, the newest included; 0: of any */
    aq_gradient_rules gradients; /* of groups that are gradients, and not rows */
    /* Told `user` of the core: whether a version would be taken now. Asked first, since ranks have
     * to be asked for their parts of it. NULL: it would. */
    bool (*has_place)(void *user);
} aq_trainer_core_config;

/* What may change while it trains. */
typedef struct aq_trainer_settings {
    aq_run_config config;       /* how often a version is due, from the last one on; step sizes */
    uint64_t env_steps;         /* of the run, by now */
    double exploration_entropy; /* of actors, for the metrics */
    double epsilon;             /* aq_explore_mean_rate of the config */
} aq_trainer_settings;

/* Offered the parameters when a version is due. False: not now (the stage is busy); it is offered
 * again after the next step, so training never waits for publishing. */
typedef bool (*aq_policy_due_fn)(void *user, const aq_params *params, uint64_t step,
                                 const float *obs, size_t rows);

/* Rows by the versions that they were behind: [0, 1), [1, 2), [2, 4), ... and more. As many as a
 * shard has, and more than versions need: whoever reads them may say what a row is under. */
enum { AQ_STALENESS_BINS = 40 };

/* Sums since the last take. */
typedef struct aq_trainer_sums {
    uint64_t steps;         /* of gradients */
    aq_metric_sums metrics; /* of the algorithm */
    double behind_sum;      /* versions that rows were behind, of those that a policy acted in */
    uint64_t version_rows;
    uint64_t staleness[AQ_STALENESS_BINS]; /* of such rows */
    uint64_t failed;                       /* updates that were not finite: skipped */
    int64_t exchange_ns;                   /* that updates took of the exchange with other ranks */
    aq_audit_counts audit;
    uint64_t outdated; /* steps that were too old by then: not trained on */
} aq_trainer_sums;

/* `agent` is lent. */
int aq_trainer_core_create(const aq_trainer_core_config *config, aq_agent *agent,
                           aq_policy_due_fn policy_due, void *user,
                           aq_trainer_core **ret_core) AQ_MUST_USE;
void aq_trainer_core_destroy(aq_trainer_core *core); /* NULL is fine */

/* Offers the parameters as they are, before any training: so that actors have a version 1. */
void aq_trainer_core_offer_first(aq_trainer_core *core);

/* One update after the other, until all rows of the group were trained on, or all its gradients
 * followed, each but those that are too old or cannot be. `newest_version` is that of the newest
 * policy, 0 for none. A group with a step that is too old for versions_max is passed
 * over as a whole: answers of several shards may come in another order than they were asked for.
 * Where ranks share networks, the group becomes what their first one has. */
void aq_trainer_core_train(aq_trainer_core *core, aq_batch *group, uint64_t newest_version);

/* aq_publication.changed of the newest version; only told on. */
void aq_trainer_core_tell_changed(aq_trainer_core *core, double changed);

/* Holds from the next update on. Before, step sizes are as the agent was made. */
void aq_trainer_core_configure(aq_trainer_core *core, const aq_trainer_settings *settings);

/* What is scheduled comes to for the next update, step sizes times what several ranks make of them;
 * NAN before it was configured. */
typedef struct aq_schedules {
    double learning_rate, critic_learning_rate;
    double epsilon;    /* with which actors act */
    double importance; /* the power of rows' weights that is trained with */
} aq_schedules;
aq_schedules aq_trainer_core_schedules(const aq_trainer_core *core);

/* These hold from the next update on, in place of its own: rank 0's. */
void aq_trainer_core_hold_schedules(aq_trainer_core *core, const aq_schedules *schedules);

/* Steps from version to version, where versions are made by them; holds from the next update on. */
void aq_trainer_core_set_publish_period(aq_trainer_core *core, uint64_t period);
uint64_t aq_trainer_core_publish_period(const aq_trainer_core *core);

/* The version from which on steps are trained on, when `newest_version` is out; 0: all are. */
uint64_t aq_trainer_core_fresh_from(const aq_trainer_core *core, uint64_t newest_version);

/* That of a group's oldest step. */
uint64_t aq_trainer_core_oldest_version(const aq_batch *group);

/* The bin of a row that was `behind` versions behind. */
size_t aq_staleness_bin(uint64_t behind);

uint64_t aq_trainer_core_step(const aq_trainer_core *core);

/* Reads the sums and starts them anew. */
aq_trainer_sums aq_trainer_core_take_sums(aq_trainer_core *core);

#endif
