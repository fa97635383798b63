/*
 * Random objects, all valid, small enough that thousands are made in a second.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/parse.h"
#include "tests/unit/wire/wire_fixture.h"

uint64_t fixture_seed(void)
{
    const char *text = getenv("AQ_SEED");
    uint64_t seed;
    if (text == NULL || aq_parse_u64(text, &seed) != 0) {
        seed = aq_rng_system_seed();
    }
    print_message("AQ_SEED=%" PRIu64 "\n", seed);
    return seed;
}

static uint32_t between(aq_rng *rng, uint32_t low, uint32_t high)
{
    return low + (uint32_t)aq_rng_below(rng, (uint64_t)high - low + 1);
}

static bool coin(aq_rng *rng)
{
    return aq_rng_below(rng, 2) == 1;
}

/* Of any size, zero and subnormal included; always finite. */
static float any_float(aq_rng *rng)
{
    switch (aq_rng_below(rng, 8)) {
    case 0:
        return 0.0f;
    case 1:
        return 1e-40f;
    case 2:
        return coin(rng) ? 3e38f : -3e38f;
    default:
        return (float)aq_rng_normal(rng);
    }
}

static void any_bytes(aq_rng *rng, void *bytes, size_t size)
{
    uint8_t *at = bytes;
    for (size_t i = 0; i < size; i++) {
        at[i] = (uint8_t)aq_rng_next(rng);
    }
}

static void any_floats(aq_rng *rng, void *floats, size_t count)
{
    float *at = floats;
    for (size_t i = 0; i < count; i++) {
        at[i] = any_float(rng);
    }
}

static void random_box(aq_rng *rng, aq_space *space)
{
    memset(space, 0, sizeof(*space));
    space->kind = AQ_SPACE_BOX;
    space->dtype = coin(rng) ? AQ_DTYPE_F32 : AQ_DTYPE_U8;
    space->rank = between(rng, 1, AQ_SHAPE_RANK_MAX);
    for (uint32_t i = 0; i < space->rank; i++) {
        space->shape[i] = between(rng, 1, 3);
    }
    space->bound_count = coin(rng) ? 1 : (uint32_t)aq_space_elements(space);
    for (uint32_t i = 0; i < space->bound_count; i++) {
        space->low[i] = coin(rng) ? -INFINITY : -(float)aq_rng_uniform(rng);
        space->high[i] = coin(rng) ? INFINITY : (float)aq_rng_uniform(rng);
    }
}

void fixture_random_schema(aq_rng *rng, aq_schema *ret_schema)
{
    random_box(rng, &ret_schema->obs);
    if (coin(rng)) {
        aq_space_init_discrete(&ret_schema->action, between(rng, 1, 20));
    } else {
        random_box(rng, &ret_schema->action);
    }
}

void fixture_random_layout(aq_rng *rng, const aq_schema *schema, aq_chunk_layout *ret_layout)
{
    uint32_t n_step = between(rng, 1, 5);
    uint32_t length_max = between(rng, n_step, 40);
    assert_int_equal(aq_chunk_layout_init(schema, n_step, length_max, ret_layout, NULL), 0);
}

static void random_actions(aq_rng *rng, const aq_chunk_layout *layout, uint8_t *action,
                           uint32_t rows)
{
    if (layout->action_is_f32) {
        any_floats(rng, action, (size_t)rows * layout->action_bytes / sizeof(float));
        return;
    }
    any_bytes(rng, action, (size_t)rows * layout->action_bytes);
    for (uint32_t i = 0; layout->choice_count > 0 && i < rows; i++) {
        int32_t choice = (int32_t)aq_rng_below(rng, layout->choice_count);
        memcpy(action + 4 * i, &choice, sizeof(choice));
    }
}

static void random_observations(aq_rng *rng, const aq_chunk_layout *layout, uint8_t *obs,
                                uint32_t rows)
{
    if (layout->obs_is_f32) {
        any_floats(rng, obs, (size_t)rows * layout->obs_bytes / sizeof(float));
    } else {
        any_bytes(rng, obs, (size_t)rows * layout->obs_bytes);
    }
}

aq_chunk *fixture_random_chunk(aq_rng *rng, const aq_chunk_layout *layout)
{
    aq_chunk *chunk;
    uint32_t ending = between(rng, 0, 2);
    uint32_t length = between(rng, ending == 0 ? layout->n_step : 1, layout->length_max);
    assert_int_equal(aq_chunk_create(layout, length, &chunk), 0);
    chunk->episode = aq_rng_next(rng);
    chunk->first = coin(rng) ? 0 : between(rng, 1, 1000000);
    chunk->lane = between(rng, 0, UINT32_MAX - 1);
    chunk->length = length;
    uint32_t overlap_max = length < layout->n_step ? length - 1 : layout->n_step - 1;
    chunk->overlap = chunk->first == 0 ? 0 : between(rng, 0, overlap_max);
    chunk->terminated = ending == 1;
    chunk->truncated = ending == 2;
    random_observations(rng, layout, chunk->obs, length + 1);
    random_actions(rng, layout, chunk->action, length);
    any_floats(rng, chunk->reward, length);
    any_bytes(rng, chunk->version, length * sizeof(uint32_t));
    assert_int_equal(aq_chunk_validate(chunk, layout, NULL), 0);
    return chunk;
}

void fixture_random_experience(aq_rng *rng, const aq_chunk_layout *layout, uint32_t chunk_count,
                               aq_experience *ret_experience)
{
    *ret_experience = (aq_experience){
        .run_id = FIXTURE_RUN,
        .actor = aq_rng_next(rng),
        .incarnation = aq_rng_next(rng),
        .seq = 1 + aq_rng_below(rng, UINT64_MAX),
        .acknowledged = aq_rng_next(rng),
        .schema_hash = aq_rng_next(rng),
        .chunk_count = chunk_count,
        .chunks = aq_alloc(chunk_count, sizeof(aq_chunk *)),
    };
    assert_non_null(ret_experience->chunks);
    for (uint32_t i = 0; i < chunk_count; i++) {
        ret_experience->chunks[i] = fixture_random_chunk(rng, layout);
    }
}

void fixture_random_network(aq_rng *rng, aq_net_spec *ret_spec)
{
    uint32_t hidden[AQ_NET_LAYERS_MAX - 1];
    uint32_t hidden_count = between(rng, 0, AQ_NET_LAYERS_MAX - 1);
    for (uint32_t i = 0; i < hidden_count; i++) {
        hidden[i] = between(rng, 1, 9);
    }
    enum aq_activation activation =
        (enum aq_activation)between(rng, AQ_ACTIVATION_NONE, AQ_ACTIVATION_ELU);
    assert_int_equal(aq_net_spec_init_mlp(between(rng, 1, 20), hidden, hidden_count,
                                          between(rng, 1, 6), activation, ret_spec, NULL),
                     0);
}

static void random_tensors(aq_rng *rng, aq_snapshot *snapshot, uint32_t layer)
{
    const aq_layer_spec *spec = &snapshot->spec.layers[layer];
    aq_snapshot_layer_data data;
    aq_snapshot_layer_edit(snapshot, layer, &data);
    any_floats(rng, data.bias, spec->outputs);
    if (snapshot->layers[layer].format == AQ_FORMAT_F32) {
        any_floats(rng, data.weights, (size_t)spec->inputs * spec->outputs);
        return;
    }
    int8_t *weights = data.weights;
    for (uint32_t output = 0; output < spec->outputs; output++) {
        data.scale[output] = (float)(1e-6 + aq_rng_uniform(rng));
        for (uint32_t input = 0; input < spec->inputs; input++) {
            int8_t weight = (int8_t)((int)aq_rng_below(rng, 255) - 127);
            weights[output * spec->inputs + input] = weight;
            data.sum[output] += weight;
        }
    }
}

aq_snapshot *fixture_random_snapshot(aq_rng *rng, const aq_net_spec *spec)
{
    uint32_t formats[AQ_NET_LAYERS_MAX];
    float low[32], high[32];
    aq_snapshot *snapshot;
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        formats[i] = coin(rng) ? AQ_FORMAT_F32 : AQ_FORMAT_INT8_CHANNEL;
    }
    for (uint32_t i = 0; i < 32; i++) {
        low[i] = -1.0f;
        high[i] = 1.0f;
    }
    assert_int_equal(aq_snapshot_create(spec, formats, &snapshot), 0);
    snapshot->run_id = aq_rng_next(rng);
    snapshot->version = 1 + aq_rng_below(rng, UINT64_MAX);
    snapshot->learner_step = aq_rng_next(rng);
    snapshot->act_rule = AQ_ACT_ARGMAX;
    snapshot->quant_error = (aq_quant_error){
        .rows = between(rng, 0, 1000),
        .action_disagreement = (float)aq_rng_uniform(rng),
        .output_rms = (float)aq_rng_uniform(rng),
        .output_max = (float)aq_rng_uniform(rng),
    };
    assert_int_equal(
        aq_text_format(snapshot->task, sizeof(snapshot->task), "task %u", between(rng, 0, 99999)),
        0);
    aq_space_init_box(&snapshot->schema.obs, aq_net_spec_inputs(spec), low, high);
    aq_space_init_discrete(&snapshot->schema.action, aq_net_spec_outputs(spec));
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        random_tensors(rng, snapshot, i);
    }
    assert_int_equal(aq_snapshot_validate(snapshot, NULL), 0);
    return snapshot;
}

aq_batch *fixture_random_batch(aq_rng *rng, const aq_chunk_layout *layout, uint32_t rows)
{
    aq_batch *batch;
    assert_int_equal(aq_batch_create(layout, rows, &batch), 0);
    batch->rows = rows;
    random_observations(rng, layout, batch->obs, rows);
    random_observations(rng, layout, batch->next_obs, rows);
    random_actions(rng, layout, batch->action, rows);
    any_floats(rng, batch->reward, rows);
    any_bytes(rng, batch->item, rows * sizeof(*batch->item));
    any_bytes(rng, batch->version, rows * sizeof(*batch->version));
    for (uint32_t i = 0; i < rows; i++) {
        batch->bootstrap[i] = coin(rng) ? 0.0f : (float)aq_rng_uniform(rng);
        batch->weight[i] = (float)aq_rng_uniform(rng);
    }
    return batch;
}
