/*
 * Learner case: an algorithm at the sizes of a benchmark, with a batch of made-up numbers for its
 * steps to work on, and the matrix products of such a step by themselves.
 *
 * One thread at a time.
 */
#ifndef AQ_BENCH_LEARNER_LEARNER_CASE_H
#define AQ_BENCH_LEARNER_LEARNER_CASE_H

#include <stdint.h>

#include "learner/algorithms/agent.h"
#include "learner/nn/products.h"

enum { AQ_PRODUCTS_MAX = 96 };

/* A product of a step, how often. */
typedef struct aq_case_product {
    aq_product is;
    uint32_t times;
} aq_case_product;

typedef struct aq_learner_case {
    uint32_t rows; /* of a step: a batch's, or a minibatch's */
    uint32_t actions;
    aq_run_config config;
    aq_schema schema;
    aq_agent *agent;
    aq_batch *batch;
    size_t product_count;
    aq_case_product products[AQ_PRODUCTS_MAX];
    float *a, *b, *c;  /* operands of the products, large enough for each */
    aq_products *bf16; /* NULL: they are in fp32 */
} aq_learner_case;

size_t aq_learner_case_count(void);

/* One more, which takes long: D4PG with layers of 2048, in fp32. */
#define AQ_LEARNER_CASE_WIDE aq_learner_case_count()

typedef struct aq_learner_case_name {
    char text[48]; /* "d4pg_acme", "d4pg_acme_bf16" */
} aq_learner_case_name;

aq_learner_case_name aq_learner_case_name_of(size_t index);

/* `settings` count over the case's own, and may not change what a batch is; NULL: none. `exchange`
 * is NULL for one rank, `model` for one that has its networks to itself. */
int aq_learner_case_init(aq_learner_case *of, size_t index, uint32_t threads,
                         const aq_settings_assignments *settings, aq_gradient_exchange *exchange,
                         aq_model_group *model, aq_error *error) AQ_MUST_USE;
void aq_learner_case_fini(aq_learner_case *of); /* a zeroed one is fine */

/* One update, of one gradient step or, for ppo, all minibatches of its epochs; how many steps it
 * was. A failure of an update is an error of the bench's own. */
int aq_learner_case_update(aq_learner_case *of, uint64_t *ret_steps) AQ_MUST_USE;

/* One call of a product, on one thread. */
void aq_learner_case_product(aq_learner_case *of, const aq_case_product *product);

/* Operations of all products of a step. */
double aq_learner_case_flop(const aq_learner_case *of);

#endif
