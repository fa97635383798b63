/*
 * Pools forward and back on every rung against plain loops: values with ties, channels that are no
 * whole vector, patches beyond the edge.
 */
#include "common/sys/cpu.h"
#include "learner/nn/train_layers.h"
#include "tests/support/test.h"

enum { ROWS = 2, IMAGE_MAX = 2048 };

typedef struct stand {
    aq_layer_spec spec;
    float x[ROWS * IMAGE_MAX], d[ROWS * IMAGE_MAX];
    float want_out[ROWS * IMAGE_MAX], want_x[ROWS * IMAGE_MAX];
} stand;

/* Where the first of the greatest values is. */
static size_t greatest(const stand *s, size_t row, uint32_t o)
{
    const aq_conv_shape *of = &s->spec.conv;
    const uint32_t c = o % of->channels, pixel = o / of->channels, width = aq_conv_out_width(of);
    size_t best = SIZE_MAX;
    for (uint32_t tap = 0; tap < of->kernel * of->kernel; tap++) {
        const int64_t y = (int64_t)(pixel / width * of->stride + tap / of->kernel) - of->padding;
        const int64_t x = (int64_t)(pixel % width * of->stride + tap % of->kernel) - of->padding;
        const size_t at = row * s->spec.inputs + (size_t)(y * of->width + x) * of->channels + c;
        if (y >= 0 && y < of->height && x >= 0 && x < of->width &&
            (best == SIZE_MAX || s->x[at] > s->x[best])) {
            best = at;
        }
    }
    return best;
}

static void fill(const aq_conv_shape *shape, stand *s)
{
    aq_rng rng = rng_of(31, shape->channels);
    memset(s, 0, sizeof(*s));
    s->spec = aq_layer_pool(shape, AQ_ACTIVATION_NONE);
    assert_true(s->spec.inputs <= IMAGE_MAX && s->spec.outputs <= IMAGE_MAX);
    for (size_t i = 0; i < (size_t)ROWS * s->spec.inputs; i++) {
        s->x[i] = (float)aq_rng_below(&rng, 7) - 3.0f;
    }
    for (size_t row = 0; row < ROWS; row++) {
        for (uint32_t o = 0; o < s->spec.outputs; o++) {
            const size_t best = greatest(s, row, o), at = row * s->spec.outputs + o;
            s->d[at] = (float)aq_rng_below(&rng, 9) - 4.0f;
            s->want_out[at] = s->x[best];
            s->want_x[best] += s->d[at];
        }
    }
}

static void check(const stand *s)
{
    static float out[ROWS * IMAGE_MAX], d[ROWS * IMAGE_MAX], d_x[ROWS * IMAGE_MAX];
    const aq_train_kind *kind = aq_train_kind_of(&s->spec);
    const aq_train_layer layer = {.spec = &s->spec, .x = {s->x}, .out = out};
    const aq_train_gradient gradient = {
        .d = d, .d_x = {d_x}, .wants_d_x = {true}, .counted_rows = 1};
    memset(d_x, 0x7f, sizeof(d_x));
    memcpy(d, s->d, sizeof(d));
    kind->forward(&layer, ROWS);
    assert_memory_equal(out, s->want_out, (size_t)ROWS * s->spec.outputs * sizeof(*out));
    kind->backward(&layer, &gradient, ROWS);
    for (size_t i = 0; i < (size_t)ROWS * s->spec.inputs; i++) {
        assert_true(d_x[i] == s->want_x[i]);
    }
}

TEST(every_rung_does_what_plain_loops_do)
{
    static const aq_conv_shape shapes[] = {
        {9, 8, 16, 16, 3, 2, 1},   {7, 5, 3, 3, 2, 1, 0},   {4, 6, 33, 33, 3, 1, 2},
        {11, 11, 1, 1, 1, 1, 0},   {6, 6, 40, 40, 5, 3, 4}, {1, 1, 20, 20, 3, 2, 1},
        {10, 10, 17, 17, 2, 4, 1},
    };
    static const uint32_t masks[] = {UINT32_MAX, ~(uint32_t)AQ_CPU_AVX512, 0};
    static stand s;
    EACH_ROW(i, shapes) {
        fill(&shapes[i], &s);
        for (size_t k = 0; k < 3; k++) {
            aq_cpu_set_mask(masks[k]);
            check(&s);
            aq_cpu_set_mask(UINT32_MAX);
        }
    }
}
