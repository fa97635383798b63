/*
 * Evaluation: what a policy is worth over greedy episodes, at once.
 */
#ifndef AQ_ROLLOUT_EVALUATION_H
#define AQ_ROLLOUT_EVALUATION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "envs/env_open.h"
#include "quantizer/engine/engine.h"
#include "rollout/trial.h"

/* Environments at once. More would not run faster, and less often at full width. */
enum { AQ_EVALUATION_LANES_MAX = 64, AQ_EVALUATION_EPISODES_MAX = 1000000 };

/* What acting in another precision costs: over pairs of episodes that begin alike, the return as
 * broadcast less the return in fp32. */
typedef struct aq_evaluation_gap {
    uint32_t episodes;  /* pairs; 0: not compared */
    double return_fp32; /* mean */
    double return_fp32_std;
    double mean;
    double std; /* of the sample (n - 1), as the other; 0 for one pair */
} aq_evaluation_gap;

typedef struct aq_evaluation {
    uint64_t version;
    uint32_t format; /* that was played: aq_snapshot_format */
    uint32_t episodes;
    double return_mean;
    double return_std; /* of the sample (n - 1); 0 for one episode */
    double return_min, return_max;
    uint32_t cut_off;    /* of the episodes, at AQ_TRIAL_EPISODE_STEPS_MAX */
    uint32_t drawn_anew; /* of the episodes: see aq_trial_result */
    bool confirmed;      /* over all episodes, after a screening that passed */
    bool ranks_only;     /* over fresh episodes, to rank the version; it may be played so again */
    aq_evaluation_gap gap;
} aq_evaluation;

/* Of a trial of this policy that is complete; NULL: of none. */
aq_evaluation aq_evaluation_of(const aq_trial *trial, const aq_snapshot *policy, bool confirmed);

/* Of `episodes` pairs, at least 1. */
aq_evaluation_gap aq_evaluation_compare(const double *returns, const double *returns_fp32,
                                        uint32_t episodes);

/* AQ_E_INVALID, in words, for a number that is not 1 to AQ_EVALUATION_EPISODES_MAX. */
int aq_evaluation_check_episodes(uint32_t episodes, aq_error *error) AQ_MUST_USE;

/* A trial of up to that many episodes in up to AQ_EVALUATION_LANES_MAX environments. As
 * aq_evaluation_check_episodes and aq_trial_create; in words. */
int aq_evaluation_trial(const aq_env_task *task, uint32_t episodes, aq_trial **ret_trial,
                        aq_error *error) AQ_MUST_USE;

/* Exactly `episodes` greedy episodes at once, for `actorq eval`: no screening, no threshold
 * (`confirmed` is false). The same seed plays the same episodes for every policy. Without an engine
 * actions are random, which says what a policy has to beat. The policy's schema must be the
 * environment's, whichever task it learned, and the engine allow AQ_EVALUATION_LANES_MAX rows, or
 * `episodes` if that is less. AQ_E_INVALID, AQ_E_SCHEMA, AQ_E_UNSUPPORTED, AQ_E_PEER (the
 * environment fails too often), AQ_E_NOMEM, in words. Waits where the environment has to be waited
 * for: not for an event loop. */
int aq_evaluate(aq_env *env, aq_engine *engine, uint32_t episodes, uint64_t seed,
                aq_evaluation *ret_result, aq_error *error) AQ_MUST_USE;

/* The same of the task's script (aq_env_class.script). AQ_E_UNSUPPORTED where it has none. */
int aq_evaluate_script(aq_env *env, uint32_t episodes, uint64_t seed, aq_evaluation *ret_result,
                       aq_error *error) AQ_MUST_USE;

#endif
