/*
 * Snapshots: one block, aligned tensors that lie inside it, references, sizes.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "common/policy/snapshot.h"
#include "tests/support/test.h"

static const uint32_t mixed[] = {AQ_FORMAT_INT8_CHANNEL, AQ_FORMAT_F32, AQ_FORMAT_INT8_CHANNEL};

static aq_net_spec spec_of(uint32_t inputs, uint32_t width, uint32_t outputs)
{
    const uint32_t hidden[] = {width, width + 1};
    aq_net_spec spec;
    assert_int_equal(
        aq_net_spec_init_mlp(inputs, hidden, 2, outputs, AQ_ACTIVATION_RELU, &spec, NULL), 0);
    return spec;
}

/* Of a network 4-8-9-2. */
static aq_snapshot *snapshot_of(void)
{
    const aq_net_spec spec = spec_of(4, 8, 2);
    aq_snapshot *snapshot = NULL;
    assert_int_equal(aq_snapshot_create(&spec, mixed, NULL, &snapshot), 0);
    return snapshot;
}

static void check_tensor(const uint8_t **end, const void *tensor, size_t bytes)
{
    const uint8_t *at = tensor;
    assert_int_equal((uintptr_t)at % AQ_ALIGNMENT_BYTES, 0);
    assert_true(at >= *end);
    for (size_t i = 0; i < bytes; i++) {
        assert_int_equal(at[i], 0);
    }
    *end = at + bytes;
}

TEST(tensors_are_aligned_apart_and_zeroed)
{
    for (uint32_t width = 1; width < 40; width++) {
        aq_net_spec spec = spec_of(3, width, 2);
        aq_snapshot *snapshot = NULL;
        assert_int_equal(aq_snapshot_create(&spec, mixed, NULL, &snapshot), 0);
        assert_memory_equal(&snapshot->spec, &spec, sizeof(spec));
        const uint8_t *end = (const uint8_t *)snapshot + sizeof(*snapshot);
        for (uint32_t i = 0; i < 3; i++) {
            const aq_snapshot_layer *layer = &snapshot->layers[i];
            size_t outputs = spec.layers[i].outputs;
            assert_int_equal(layer->format, mixed[i]);
            check_tensor(&end, layer->weights, layer->sizes.weights_bytes);
            if (mixed[i] == AQ_FORMAT_INT8_CHANNEL) {
                assert_int_equal(layer->sizes.weights_bytes, spec.layers[i].inputs * outputs);
                check_tensor(&end, layer->scale, outputs * sizeof(float));
                check_tensor(&end, layer->sum, outputs * sizeof(int32_t));
            } else {
                assert_int_equal(layer->sizes.weights_bytes, 4 * spec.layers[i].inputs * outputs);
                assert_null(layer->scale);
                assert_null(layer->sum);
            }
            check_tensor(&end, layer->bias, outputs * sizeof(float));
        }
        aq_snapshot_unref(snapshot);
    }
}

/* Whoever creates one writes the weights, and all of them. */
TEST(one_in_fp32_is_zeroed_but_for_its_weights)
{
    aq_net_spec spec = spec_of(3, 70, 2);
    spec.array_count = 1;
    spec.arrays[0] = (aq_net_array){"a", 5};
    aq_snapshot *snapshot = NULL;
    assert_int_equal(aq_snapshot_create_exact(&spec, &snapshot), 0);
    assert_memory_equal(&snapshot->spec, &spec, sizeof(spec));
    assert_true(aq_snapshot_is_fp32(snapshot));
    assert_int_equal(snapshot->version, 0);
    const uint8_t *end = (const uint8_t *)snapshot + sizeof(*snapshot);
    for (uint32_t i = 0; i < 3; i++) {
        const aq_snapshot_layer *layer = &snapshot->layers[i];
        const size_t outputs = spec.layers[i].outputs;
        assert_int_equal(layer->sizes.weights_bytes, 4 * spec.layers[i].inputs * outputs);
        assert_true((const uint8_t *)layer->weights >= end);
        end = (const uint8_t *)layer->weights + layer->sizes.weights_bytes;
        assert_null(layer->scale);
        check_tensor(&end, layer->bias, outputs * sizeof(float));
    }
    check_tensor(&end, snapshot->arrays, 5 * sizeof(float));
    aq_snapshot_unref(snapshot);

    snapshot = NULL;
    assert_fails_without_memory(aq_snapshot_create_exact(&spec, &snapshot));
    spec.layer_count = UINT32_MAX;
    assert_int_equal(aq_snapshot_create_exact(&spec, &snapshot), AQ_E_INVALID);
    assert_null(snapshot);
}

TEST(what_is_edited_is_what_is_viewed)
{
    aq_snapshot *snapshot = snapshot_of();
    aq_snapshot_layer_data data;
    for (uint32_t i = 0; i < 3; i++) {
        aq_snapshot_layer_edit(snapshot, i, &data);
        memset(data.weights, (int)i + 1, snapshot->layers[i].sizes.weights_bytes);
        data.bias[snapshot->spec.layers[i].outputs - 1] = (float)i + 0.5f;
        assert_int_equal(data.scale == NULL, mixed[i] == AQ_FORMAT_F32);
        assert_int_equal(data.sum == NULL, mixed[i] == AQ_FORMAT_F32);
    }
    aq_snapshot_layer_edit(snapshot, 2, &data);
    data.scale[1] = 0.25f;
    data.sum[0] = -7;
    for (uint32_t i = 0; i < 3; i++) {
        const uint8_t *weights = snapshot->layers[i].weights;
        assert_int_equal(weights[0], i + 1);
        assert_int_equal(weights[snapshot->layers[i].sizes.weights_bytes - 1], i + 1);
        assert_true(snapshot->layers[i].bias[snapshot->spec.layers[i].outputs - 1] ==
                    (float)i + 0.5f);
    }
    assert_true(snapshot->layers[2].scale[1] == 0.25f);
    assert_int_equal(snapshot->layers[2].sum[0], -7);
    aq_snapshot_unref(snapshot);
}

TEST(sizes_count_what_travels)
{
    aq_snapshot *snapshot = snapshot_of();
    size_t int8_layers = (4 * 8 + 12 * 8) + (9 * 2 + 12 * 2);
    size_t f32_layer = 4 * (8 * 9 + 9);
    assert_int_equal(aq_snapshot_tensor_bytes(snapshot), int8_layers + f32_layer);
    assert_int_equal(aq_snapshot_tensor_bytes_f32(snapshot), 4 * (5 * 8 + 9 * 9 + 10 * 2));
    aq_snapshot_unref(snapshot);
}

TEST(what_cannot_be_is_not_created)
{
    const uint32_t unknown[] = {AQ_FORMAT_F32, AQ_FORMAT_COUNT + 1, AQ_FORMAT_F32};
    aq_net_spec spec = spec_of(4, 8, 2), broken = spec_of(4, 8, 2);
    aq_snapshot *snapshot = NULL;
    assert_int_equal(aq_snapshot_create(&spec, unknown, NULL, &snapshot), AQ_E_VERSION);
    broken.layers[1].inputs = 7;
    assert_int_equal(aq_snapshot_create(&broken, mixed, NULL, &snapshot), AQ_E_INVALID);
    broken.layer_count = 1000;
    assert_int_equal(aq_snapshot_create(&broken, mixed, NULL, &snapshot), AQ_E_INVALID);
    assert_null(snapshot);
}

TEST(a_network_past_the_limit_is_too_big)
{
    const uint32_t formats[] = {AQ_FORMAT_F32, AQ_FORMAT_F32};
    const uint32_t hidden[] = {8192}; /* 256 MiB, and a bias */
    aq_net_spec spec;
    aq_snapshot *snapshot = NULL;
    assert_int_equal(aq_net_spec_init_mlp(8192, hidden, 1, 2, AQ_ACTIVATION_RELU, &spec, NULL), 0);
    assert_int_equal(aq_snapshot_create(&spec, formats, NULL, &snapshot), AQ_E_TOO_BIG);
    assert_null(snapshot);
}

TEST(a_snapshot_is_one_allocation_and_may_fail)
{
    aq_net_spec spec = spec_of(4, 8, 2);
    aq_snapshot *snapshot = NULL;
    uint64_t before = aq_memory_allocation_count();
    assert_fails_without_memory(aq_snapshot_create(&spec, mixed, NULL, &snapshot));
    assert_null(snapshot);
    assert_int_equal(aq_snapshot_create(&spec, mixed, NULL, &snapshot), 0);
    assert_true(aq_memory_allocation_count() == before + 2);
    aq_snapshot_unref(snapshot);
    aq_snapshot_unref(NULL);
}

enum { THREADS = 4, ROUNDS = 2000 };

static void *hold_and_release(void *argument)
{
    aq_snapshot *snapshot = argument;
    for (int i = 0; i < ROUNDS; i++) {
        aq_snapshot_ref(snapshot);
        assert_int_equal(snapshot->version, 9);
        aq_snapshot_unref(snapshot);
    }
    aq_snapshot_unref(snapshot);
    return NULL;
}

TEST(references_are_counted_between_threads)
{
    aq_snapshot *snapshot = snapshot_of();
    pthread_t threads[THREADS];
    snapshot->version = 9;
    for (int i = 0; i < THREADS; i++) {
        aq_snapshot *held = aq_snapshot_ref(snapshot);
        assert_int_equal(pthread_create(&threads[i], NULL, hold_and_release, held), 0);
    }
    aq_snapshot_unref(snapshot);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
}

TEST(a_shared_snapshot_cannot_be_edited)
{
    aq_snapshot *snapshot = snapshot_of();
    aq_snapshot_layer_data data;
    int status;
    aq_snapshot_ref(snapshot);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL); /* not cmocka's handler */
        close(STDERR_FILENO);
        aq_snapshot_layer_edit(snapshot, 0, &data);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    aq_snapshot_unref(snapshot);
    aq_snapshot_layer_edit(snapshot, 0, &data); /* one owner again */
    aq_snapshot_unref(snapshot);
}

TEST(formats_have_names)
{
    assert_string_equal(aq_format_name(AQ_FORMAT_F32), "fp32");
    assert_string_equal(aq_format_name(AQ_FORMAT_INT8_CHANNEL), "int8");
    assert_string_equal(aq_format_name(AQ_FORMAT_MIXED), "mixed");
    assert_string_equal(aq_format_name(UINT32_MAX), "unknown");
}
