/*
 * Algorithm: how experience changes the parameters, and everything that others have to know of it.
 * An algorithm is a file or two behind this class and a row in the list of algorithms
 * (docs/adding-an-algorithm.md). It owns its networks and the state of its optimizers, knows
 * nothing of sockets, threads of others or files, and allocates nothing after it was made. One
 * thread at a time.
 */
#ifndef AQ_LEARNER_ALGORITHMS_ALGORITHM_H
#define AQ_LEARNER_ALGORITHMS_ALGORITHM_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/config/run_config.h"
#include "common/experience/batch.h"
#include "common/experience/schema.h"
#include "common/nn/named_arrays.h"
#include "common/nn/params.h"
#include "common/policy/head.h"
#include "learner/algorithms/metric.h"
#include "learner/gradients/model_group.h"

/* An algorithm at work. It begins with these; what follows is its file's own. */
typedef struct aq_algorithm_head {
    const struct aq_algorithm_class *class;
    const aq_net_spec *spec; /* of the policy; never changes */
} aq_algorithm;

/* How it is trained; what it learns from stands in common/config/algorithm_rows.h. */
typedef struct aq_algorithm_needs {
    /* The rows of one update: learner.batch_size of them, or all that one Sample call brought, of
     * which the algorithm makes epochs and minibatches itself. With each of the latter a version of
     * the policy is due, otherwise every quantizer.publish_period gradient steps. */
    enum { AQ_UPDATES_BY_BATCH, AQ_UPDATES_BY_GROUP } update;
    /* Names of what actors record besides, of the catalog, ended by NULL; NULL: nothing. Of the
     * first, rows have batch->columns[AQ_BATCH_RECORDED]; of the next, two further on. */
    const char *const *columns;
} aq_algorithm_needs;

/* What came of an update, zeroed by whoever asks for it. */
typedef struct aq_update_report {
    uint64_t steps;                 /* gradient steps that were taken, also before one failed */
    double metrics[AQ_METRICS_MAX]; /* a number for each of the class's */
} aq_update_report;

/* What the class's `create` is given; nothing of it is kept but what is lent. */
typedef struct aq_algorithm_setup {
    const aq_run_config *config; /* valid */
    const aq_schema *schema;     /* likewise */
    uint32_t sequence_length;    /* of rows that it will train on, at most; 0: n-step items */
    uint64_t seed;
    aq_gradient_exchange *exchange; /* with the other ranks; lent; NULL: there are none */
    aq_model_group *model;          /* that shares the networks; lent; NULL: nobody does */
} aq_algorithm_setup;

/* What an algorithm can besides whose gradients others compute (actor.gradients). Its array
 * "parameters" holds all that it trains, the policy's first and the critic's behind, if there is
 * one; a gradient is of all of them, in that order. */
typedef struct aq_algorithm_by_gradients {
    /* Goes on from the parameters that another had at gradient step `step`. */
    void (*adopt)(aq_algorithm *algorithm, const float *parameters, uint64_t step);

    /* One step along a gradient, as though rows had given it. AQ_E_CORRUPT when it is not finite:
     * the parameters are as before. */
    int (*follow)(aq_algorithm *algorithm, const float *gradient, aq_update_report *ret_report);
} aq_algorithm_by_gradients;

typedef struct aq_algorithm_class {
    const char *name; /* "dqn" */
    const void *kind; /* what the file of a family tells apart its members by; NULL: nothing */
    aq_algorithm_needs needs;
    aq_metric_list metrics;
    bool trains_quantized; /* as learner.qat_bits asks; others are refused it */
    bool has_own_threads;  /* learner.threads of them, each of which wants products to itself */
    const aq_algorithm_by_gradients *by_gradients; /* NULL: it learns from rows alone */

    /* How actors act on tasks of such actions; 0: it is not for them. */
    enum aq_head_number head_of_choices, head_of_numbers;

    /* The task's actions are of the kind that it is made for. AQ_E_UNSUPPORTED, in words, when it
     * can't learn the task all the same; AQ_E_INVALID for settings that make no network;
     * AQ_E_NOMEM. */
    int (*create)(const struct aq_algorithm_class *class, const aq_algorithm_setup *setup,
                  aq_algorithm **ret_algorithm, aq_error *error);
    void (*destroy)(aq_algorithm *algorithm); /* NULL is fine */

    /* One update on rows in the schema's layout; each row's loss counts `weight` times, and its new
     * `priority` is written. AQ_E_CORRUPT when loss or gradient is not finite, or an action is not
     * one of the schema's: the parameters are as before the step that failed. The same updates on
     * the same rows give the same bits, whatever the machine's vector width, for one BLAS kernel
     * and number of threads. Where there are other ranks, each gradient goes through the exchange
     * before it is judged, and all that is decided follows from what that gave: the parameters stay
     * the same on all of them, and none makes another call. */
    int (*train)(aq_algorithm *algorithm, const aq_batch *rows, aq_update_report *ret_report);

    /* The parameters that actors act with, until the next update. Training that knows of
     * quantization gives what the levels stand for; see fake_quant.h. */
    const aq_params *(*policy)(const aq_algorithm *algorithm);

    /* Other step sizes of the optimizers from the next step on; a critic's of 0 takes the first, as
     * in the configuration. */
    void (*set_rates)(aq_algorithm *algorithm, double learning_rate, double critic_learning_rate);

    /* The share of random actions with which actors act from now on, a mean over all of their
     * environments; NULL: it is all the same. */
    void (*set_epsilon)(aq_algorithm *algorithm, double epsilon);

    /* Adds everything that a checkpoint keeps: views into the algorithm. Writing through them and
     * then calling `restored`, which may be NULL, resumes. */
    void (*arrays)(aq_algorithm *algorithm, aq_named_arrays *arrays);
    void (*restored)(aq_algorithm *algorithm);

    /* Of such an array of floats: of what it is a slice where ranks share the networks. The
     * policy's network comes first in "parameters". NULL: they can't share this one's. */
    aq_slices (*slices)(const aq_algorithm *algorithm, const char *array);
} aq_algorithm_class;

/* Declares what all families of algorithms have, by the names that their classes take it from:
 * family_create, and so on. */
#define AQ_ALGORITHM_FUNCTIONS(family)                                                             \
    int family##_create(const aq_algorithm_class *class, const aq_algorithm_setup *setup,          \
                        aq_algorithm **ret_algorithm, aq_error *error) AQ_MUST_USE;                \
    void family##_destroy(aq_algorithm *algorithm);                                                \
    int family##_train(aq_algorithm *algorithm, const aq_batch *rows,                              \
                       aq_update_report *ret_report) AQ_MUST_USE;                                  \
    const aq_params *family##_policy(const aq_algorithm *algorithm);                               \
    void family##_set_rates(aq_algorithm *algorithm, double learning_rate,                         \
                            double critic_learning_rate);                                          \
    void family##_arrays(aq_algorithm *algorithm, aq_named_arrays *arrays)

#define AQ_ALGORITHM_MEMBERS(family)                                                               \
    .create = family##_create, .destroy = family##_destroy, .train = family##_train,               \
    .policy = family##_policy, .set_rates = family##_set_rates, .arrays = family##_arrays

/* In the order of enum aq_algorithm, so that a configuration's choice is an index. */
size_t aq_algorithm_count(void);
const aq_algorithm_class *aq_algorithm_at(size_t index);

/* How actors act on a task that the class is for; enum aq_head_number. Those that draw numbers by a
 * Gaussian do so by gSDE if the settings say so. */
uint32_t aq_algorithm_acts_by(const aq_algorithm_class *class, const aq_run_config *config,
                              const aq_schema *schema);

/* OpenBLAS gets learner.threads, or one where the algorithm or products in bf16 have threads of
 * their own: between products its threads spin for milliseconds, on processors that others need. */
void aq_algorithm_set_blas_threads(const aq_algorithm_class *class, const aq_run_config *config);

#endif
