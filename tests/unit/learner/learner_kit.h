/*
 * What the tests of the learner daemon's parts share: a small task, a network for it, groups of
 * batches and published versions.
 */
#ifndef AQ_TESTS_UNIT_LEARNER_LEARNER_KIT_H
#define AQ_TESTS_UNIT_LEARNER_LEARNER_KIT_H

#include "common/base/rng.h"
#include "common/experience/batch.h"
#include "learner/publish/publication.h"

enum { KIT_INPUTS = 4, KIT_ACTIONS = 3 };
#define KIT_RUN_ID UINT64_C(0x1122334455667788)

/* Points into itself: don't copy it. */
typedef struct learner_kit {
    aq_schema schema;
    aq_layout layout;
    aq_net_spec spec; /* 4-16-3 with relu */
    aq_params params;
    aq_quantize_meta meta; /* version 1 */
    aq_rng rng;
} learner_kit;

void learner_kit_init(learner_kit *kit, uint64_t seed);
void learner_kit_fini(learner_kit *kit);

/* A network of these hidden layers, with tanh, in place of its own. */
void learner_kit_take_network(learner_kit *kit, const uint32_t *hidden, uint32_t hidden_count);

/* (rows, inputs) within +-1; aq_free. */
float *learner_kit_observations(learner_kit *kit, size_t rows);

/* The parameters as aq_publication_make takes them. */
aq_snapshot *learner_kit_exact(const aq_net_spec *spec, const aq_params *params);

/* A batch whose rows are in use and valid; aq_batch_destroy. */
aq_batch *learner_kit_group(learner_kit *kit, uint32_t rows);

/* The kit's parameters as version `version`, measured on 64 observations, with a budget of 1;
 * aq_publication_fini. */
void learner_kit_publication(learner_kit *kit, uint64_t version, uint32_t format,
                             aq_publication *ret_publication);

#endif
