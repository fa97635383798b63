/*
 * Bench pictures: see bench_pictures.h.
 */
#include "bench/kernels/bench_pictures.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/policy/torso.h"

enum { CONVOLUTIONS_MAX = 3 };

/* Convolutions, of which each sees what the one before gives; then, where there are actions, a
 * hidden layer and the actions. */
static const struct picture {
    const char *name;
    uint32_t count, hidden, actions;
    aq_conv_shape convolutions[CONVOLUTIONS_MAX];
} pictures[AQ_BENCH_PICTURES] = {
    {"nature-1", 1, 0, 0, {{84, 84, 4, 32, 8, 4, 0}}},
    {"nature-2", 1, 0, 0, {{20, 20, 32, 64, 4, 2, 0}}},
    {"nature-3", 1, 0, 0, {{9, 9, 64, 64, 3, 1, 0}}},
    {"minatar-1", 1, 0, 0, {{10, 10, 4, 16, 3, 1, 0}}},
    {"nature",
     3,
     512,
     18,
     {{84, 84, 4, 32, 8, 4, 0}, {20, 20, 32, 64, 4, 2, 0}, {9, 9, 64, 64, 3, 1, 0}}},
    {"minatar", 1, 128, 6, {{10, 10, 4, 16, 3, 1, 0}}},
    {"impala-1", 1, 0, 0, {{42, 42, 16, 16, 3, 1, 1}}}, /* of the blocks of each section */
    {"impala-2", 1, 0, 0, {{21, 21, 32, 32, 3, 1, 1}}},
    {"impala", 0, 256, 18, {{0}}},
};

const char *aq_bench_picture_name(uint32_t picture)
{
    AQ_ASSERT(picture < AQ_BENCH_PICTURES);
    return pictures[picture].name;
}

aq_net_spec aq_bench_picture_spec(uint32_t picture)
{
    AQ_ASSERT(picture < AQ_BENCH_PICTURES);
    const struct picture *from = &pictures[picture];
    aq_net_spec spec = {.layer_count = from->count};
    if (from->count == 0) { /* it is a torso's name */
        const aq_space obs = {.kind = AQ_SPACE_BOX, .rank = 3, .shape = {84, 84, 4}};
        uint32_t width;
        int rc = aq_torso_add(from->name, &obs, AQ_ACTIVATION_RELU, &width, &spec, NULL);
        AQ_ASSERT(rc == 0);
    }
    for (uint32_t i = 0; i < from->count; i++) {
        spec.layers[i] = aq_layer_conv2d(&from->convolutions[i], AQ_ACTIVATION_RELU);
    }
    if (from->actions > 0) {
        const uint32_t values = aq_net_spec_outputs(&spec);
        spec.layers[spec.layer_count++] = aq_layer_linear(values, from->hidden, AQ_ACTIVATION_RELU);
        spec.layers[spec.layer_count++] =
            aq_layer_linear(from->hidden, from->actions, AQ_ACTIVATION_NONE);
    }
    return spec;
}

int aq_bench_picture_find(const char *name, uint32_t *ret_picture)
{
    for (uint32_t i = 0; i < AQ_BENCH_PICTURES; i++) {
        if (strcmp(pictures[i].name, name) == 0) {
            *ret_picture = i;
            return 0;
        }
    }
    return AQ_E_NOT_FOUND;
}
