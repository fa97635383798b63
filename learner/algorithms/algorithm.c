/*
 * The algorithms of this build.
 */
#include "learner/algorithms/algorithm.h"

#include "common/base/assert.h"
#include "learner/nn/blas.h"
#include "learner/nn/products.h"

/* Each is in a file of its name. */
#define DECLARED(constant, name, ...) extern const aq_algorithm_class aq_##name##_class;
AQ_ALGORITHMS(DECLARED)

#define LISTED(constant, name, ...) [constant] = &aq_##name##_class,
static const aq_algorithm_class *const classes[] = {AQ_ALGORITHMS(LISTED)};

size_t aq_algorithm_count(void)
{
    return sizeof(classes) / sizeof(classes[0]);
}

const aq_algorithm_class *aq_algorithm_at(size_t index)
{
    AQ_ASSERT(index < aq_algorithm_count());
    return classes[index];
}

uint32_t aq_algorithm_acts_by(const aq_algorithm_class *class, const aq_run_config *config,
                              const aq_schema *schema)
{
    const uint32_t head =
        schema->action.kind == AQ_SPACE_DISCRETE ? class->head_of_choices : class->head_of_numbers;
    AQ_ASSERT(head != 0);
    return head == AQ_HEAD_GAUSSIAN && config->learner.gsde ? AQ_HEAD_GSDE : head;
}

void aq_algorithm_set_blas_threads(const aq_algorithm_class *class, const aq_run_config *config)
{
    const bool has_others = class->has_own_threads || aq_products_bf16_threads(config, 1) != 0;
    aq_blas_set_threads(has_others ? 1 : (unsigned)config->learner.threads);
}
