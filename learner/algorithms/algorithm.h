/*
 * Algorithm: how a batch changes the parameters. An algorithm is one file behind this interface
 * (docs/adding-an-algorithm.md); it owns its networks and optimizer state, knows nothing of
 * sockets, threads or files, and after it was made allocates nothing. One thread at a time.
 */
#ifndef AQ_LEARNER_ALGORITHMS_ALGORITHM_H
#define AQ_LEARNER_ALGORITHMS_ALGORITHM_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/config/run_config.h"
#include "common/experience/batch.h"
#include "common/experience/schema.h"
#include "common/nn/params.h"

/* An algorithm at work. It begins with its class; what follows is its file's own. */
typedef struct aq_algorithm_head {
    const struct aq_algorithm_class *class;
} aq_algorithm;

typedef struct aq_train_stats {
    double loss;          /* mean over the batch */
    double q_mean;        /* mean of the chosen actions' values */
    double gradient_norm; /* before clipping */
} aq_train_stats;

/* Everything that a checkpoint keeps: arrays of `count` floats that live in the algorithm, those of
 * the policy's network first, and what is known of the observations trained on. */
typedef struct aq_algorithm_state {
    size_t count;
    float *parameters, *target, *adam_m, *adam_v;
    uint64_t adam_step;
    size_t statistics_count;
    double *statistics; /* NULL: none are kept */
} aq_algorithm_state;

typedef struct aq_algorithm_class {
    const char *name; /* "dqn" */
    const char *summary;
    uint32_t act_rule;    /* enum aq_act_rule */
    bool has_own_threads; /* learner.threads of them, each of which wants products to itself */

    /* `config` and `schema` are valid and not kept. AQ_E_UNSUPPORTED, in words, when the task is
     * not for it; AQ_E_INVALID for settings that make no network; AQ_E_NOMEM. */
    int (*create)(const aq_run_config *config, const aq_schema *schema, uint64_t seed,
                  aq_algorithm **ret_algorithm, aq_error *error);
    void (*destroy)(aq_algorithm *algorithm); /* NULL is fine */

    /* One gradient step on 1 to learner.batch_size rows in the schema's layout; each row's loss
     * counts `weight` times, and its new `priority` is written. AQ_E_CORRUPT when loss or gradient
     * is not finite, or an action is not one of the schema's: no parameter has changed then. The
     * same steps on the same batches give the same bits, whatever the machine's vector width, for
     * one BLAS kernel and number of threads. */
    int (*train)(aq_algorithm *algorithm, const aq_batch *batch, aq_train_stats *ret_stats);

    const aq_net_spec *(*spec)(const aq_algorithm *algorithm); /* of the policy */

    /* The parameters that actors act with, until the next step. Training that knows of quantization
     * gives what the levels stand for; see fake_quant.h. */
    const aq_params *(*policy)(const aq_algorithm *algorithm);

    /* Other step sizes of the optimizers from the next step on; a critic's of 0 takes the first, as
     * in the configuration. */
    void (*set_rates)(aq_algorithm *algorithm, double learning_rate, double critic_learning_rate);

    /* Views into the algorithm; writing through them and then calling `restored` resumes. */
    void (*state)(aq_algorithm *algorithm, aq_algorithm_state *ret_state);
    void (*restored)(aq_algorithm *algorithm, uint64_t adam_step);
} aq_algorithm_class;

/* By name ("dqn"), or NULL. */
const aq_algorithm_class *aq_algorithm_find(const char *name);

/* In the order of enum aq_algorithm, so that a configuration's choice is an index. */
size_t aq_algorithm_count(void);
const aq_algorithm_class *aq_algorithm_at(size_t index);

#endif
