/*
 * The float passes against the mathematics library and against sums in double, within their stated
 * bounds, and each width of vector against the others, bit by bit.
 */
#include "common/sys/cpu.h"
#include "quantizer/kernels/float_passes.h"
#include "tests/support/test.h"

enum { COUNT = 1024, RUNGS_MAX = 8 };
static const double unit = 0x1p-24;

/* Those that this processor has; returns how many. */
static size_t rungs_here(const aq_float_passes *rungs[RUNGS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; aq_float_passes_rung(i) != NULL; i++) {
        if ((aq_float_passes_rung(i)->cpu_flags & ~aq_cpu_flags()) == 0) {
            assert_true(count < RUNGS_MAX);
            rungs[count++] = aq_float_passes_rung(i);
        }
    }
    assert_string_equal(rungs[count - 1]->name, "generic");
    return count;
}

static void activate(uint32_t activation, float *values, size_t count)
{
    const aq_float_rows rows = {.values = values, .stride = count, .rows = 1};
    aq_float_passes_select(aq_cpu_flags())->activate(activation, &rows, count);
}

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* ---- activation functions ------------------------------------------------------------------- */

static double one_place(double value)
{
    const float magnitude = fabsf((float)value);
    return (double)nextafterf(magnitude, INFINITY) - (double)magnitude;
}

static double exact_elu(double x)
{
    return x > 0.0 ? x : expm1(x);
}

static void check_value(float x, float y, double (*exact)(double))
{
    if (isnan(x)) {
        assert_true(isnan(y));
    } else if (isinf(x)) {
        assert_true((double)y == exact((double)x));
    } else {
        const double wanted = exact((double)x);
        assert_true(fabs((double)y - wanted) <= AQ_ACTIVATE_ULP * one_place(wanted));
    }
}

/* Every 4099th float there is: 2^20 of them. */
static void check_everywhere(uint32_t activation, double (*exact)(double))
{
    float x[COUNT];
    float y[COUNT];
    uint32_t bits = 0;
    for (uint32_t block = 0; block < (1u << 20) / COUNT; block++) {
        for (int i = 0; i < COUNT; i++, bits += 4099) {
            x[i] = from_bits(bits);
        }
        memcpy(y, x, sizeof(x));
        activate(activation, y, COUNT);
        for (int i = 0; i < COUNT; i++) {
            check_value(x[i], y[i], exact);
        }
    }
}

TEST(tanh_is_within_its_bound_everywhere)
{
    check_everywhere(AQ_ACTIVATION_TANH, tanh);
}

TEST(elu_is_within_its_bound_everywhere)
{
    check_everywhere(AQ_ACTIVATION_ELU, exact_elu);
}

TEST(tanh_stays_within_1_and_is_odd)
{
    for (int i = 0; i <= 4000; i++) {
        float pair[2] = {(float)i * 0.005f, (float)i * -0.005f};
        activate(AQ_ACTIVATION_TANH, pair, 2);
        assert_true(pair[0] <= 1.0f);
        assert_true(pair[0] == -pair[1]);
    }
}

TEST(nan_and_infinities)
{
    float tanhs[] = {NAN, INFINITY, -INFINITY, -0.0f};
    float elus[] = {NAN, INFINITY, -INFINITY, 0.0f};
    float relus[] = {NAN, INFINITY, -INFINITY, -1.0f};
    activate(AQ_ACTIVATION_TANH, tanhs, 4);
    activate(AQ_ACTIVATION_ELU, elus, 4);
    activate(AQ_ACTIVATION_RELU, relus, 4);
    assert_true(isnan(tanhs[0]));
    assert_true(tanhs[1] == 1.0f);
    assert_true(tanhs[2] == -1.0f);
    assert_true(tanhs[3] == 0.0f && signbit(tanhs[3]));
    assert_true(isnan(elus[0]));
    assert_true(isinf(elus[1]));
    assert_true(elus[2] == -1.0f);
    assert_true(elus[3] == 0.0f);
    assert_true(isnan(relus[0]));
    assert_true(isinf(relus[1]));
    assert_true(relus[2] == 0.0f && relus[3] == 0.0f);
}

TEST(none_leaves_values_alone)
{
    float values[] = {-1.0f, 2.0f};
    activate(AQ_ACTIVATION_NONE, values, 2);
    assert_true(values[0] == -1.0f && values[1] == 2.0f);
}

/* Vector lanes and the values left over must not differ, nor the widths of vectors. */
TEST(a_value_does_not_depend_on_its_place)
{
    const aq_float_passes *rungs[RUNGS_MAX];
    const size_t rung_count = rungs_here(rungs);
    for (size_t r = 0; r < rung_count; r++) {
        for (uint32_t activation = AQ_ACTIVATION_RELU; activation <= AQ_ACTIVATION_ELU;
             activation++) {
            for (size_t count = 1; count <= 37; count++) {
                float values[37];
                for (size_t i = 0; i < count; i++) {
                    values[i] = (float)i * 0.37f - 5.0f;
                }
                const aq_float_rows rows = {.values = values, .stride = count, .rows = 1};
                rungs[r]->activate(activation, &rows, count);
                for (size_t i = 0; i < count; i++) {
                    float alone = (float)i * 0.37f - 5.0f;
                    activate(activation, &alone, 1);
                    assert_memory_equal(&alone, &values[i], sizeof(alone));
                }
            }
        }
    }
}

TEST(what_is_between_the_rows_is_left_alone)
{
    float values[] = {1.0f, 1.0f, 7.0f, 1.0f, 1.0f, 7.0f};
    const aq_float_rows rows = {.values = values, .stride = 3, .rows = 2};
    aq_float_passes_select(aq_cpu_flags())->activate(AQ_ACTIVATION_TANH, &rows, 2);
    assert_true(values[0] < 0.8f && values[1] < 0.8f && values[3] < 0.8f && values[4] < 0.8f);
    assert_true(values[2] == 7.0f && values[5] == 7.0f);
}

/* ---- norm ----------------------------------------------------------------------------------- */

typedef struct norm_case {
    float x[3 * COUNT], gain[COUNT], bias[COUNT], y[3 * COUNT];
} norm_case;

/* float_passes.h says how near. */
static void check_norm_row(const norm_case *own, const float *x, const float *y, size_t width)
{
    double sum = 0.0, magnitudes = 0.0, squares = 0.0;
    for (size_t i = 0; i < width; i++) {
        sum += (double)x[i];
        magnitudes += fabs((double)x[i]);
    }
    const double mean = sum / (double)width;
    for (size_t i = 0; i < width; i++) {
        squares += ((double)x[i] - mean) * ((double)x[i] - mean);
    }
    const double deviation = sqrt(squares / (double)width + (double)AQ_NORM_EPSILON);
    const double k = (double)(width / AQ_FLOAT_LANES) + 5.0;
    const double d = k * unit * magnitudes / (double)width / deviation;
    for (size_t i = 0; i < width; i++) {
        const double g = (double)own->gain[i];
        const double b = (double)own->bias[i];
        const double z = ((double)x[i] - mean) / deviation;
        const double bound =
            fabs(g) * (d + fabs(z) * (k * unit + d * d)) + 8.0 * unit * (fabs(g * z) + fabs(b));
        assert_near((double)y[i], (g * z + b), bound);
    }
}

static void check_norm(norm_case *own, const aq_float_passes *passes, size_t width)
{
    const aq_const_rows x = {.values = own->x, .stride = COUNT};
    const aq_float_rows y = {.values = own->y, .stride = COUNT, .rows = 3};
    passes->norm(&x, width, own->gain, own->bias, &y);
    for (size_t row = 0; row < 3; row++) {
        check_norm_row(own, own->x + row * COUNT, own->y + row * COUNT, width);
    }
}

TEST(norm_is_within_its_bound_and_the_same_on_every_rung)
{
    static norm_case own, first;
    static const double scales[] = {1.0, 1e-4, 1e4};
    static const size_t widths[] = {1, 2, 15, 16, 17, 31, 64, 100, 255, COUNT};
    const aq_float_passes *rungs[RUNGS_MAX];
    const size_t rung_count = rungs_here(rungs);
    aq_rng rng = rng_of(11, 0);
    fill_normal(own.gain, COUNT, 1.0, &rng);
    fill_normal(own.bias, COUNT, 1.0, &rng);
    for (size_t s = 0; s < 3; s++) {
        fill_normal(own.x, sizeof(own.x) / sizeof(own.x[0]), scales[s], &rng);
        for (size_t i = 0; i < COUNT; i++) {
            own.x[COUNT + i] += 50.0f; /* a mean far from 0 */
        }
        EACH_ROW(w, widths) {
            for (size_t r = 0; r < rung_count; r++) {
                check_norm(&own, rungs[r], widths[w]);
                first = r == 0 ? own : first;
                assert_memory_equal(own.y, first.y, sizeof(own.y));
            }
        }
    }
}

TEST(norm_of_equal_values_is_the_bias)
{
    float x[20], gain[20], bias[20], y[20];
    const aq_const_rows in = {.values = x, .stride = 20};
    const aq_float_rows out = {.values = y, .stride = 20, .rows = 1};
    for (int i = 0; i < 20; i++) {
        x[i] = 3.0f;
        gain[i] = 2.0f;
        bias[i] = (float)i;
    }
    aq_float_passes_select(aq_cpu_flags())->norm(&in, 20, gain, bias, &out);
    assert_memory_equal(y, bias, sizeof(y));
}

/* ---- heads ---------------------------------------------------------------------------------- */

enum { HEAD_MAX = 40 * 101 };

typedef struct head_case {
    float x[HEAD_MAX], y[HEAD_MAX];
} head_case;

static void check_dueling(const head_case *own, uint32_t choices, uint32_t atoms)
{
    for (uint32_t k = 0; k < atoms; k++) {
        double sum = 0.0, magnitudes = 0.0;
        for (uint32_t c = 0; c < choices; c++) {
            sum += (double)own->x[(1 + c) * atoms + k];
            magnitudes += fabs((double)own->x[(1 + c) * atoms + k]);
        }
        for (uint32_t c = 0; c < choices; c++) {
            const double value = (double)own->x[k];
            const double advantage = (double)own->x[(1 + c) * atoms + k];
            const double wanted = value + advantage - sum / choices;
            const double bound =
                (choices + 3.0) * unit * (fabs(value) + fabs(advantage) + magnitudes / choices);
            assert_near((double)own->y[c * atoms + k], wanted, bound);
        }
    }
}

TEST(dueling_is_within_its_bound_and_the_same_on_every_rung)
{
    static head_case own, first;
    static const uint32_t shapes[][2] = {{1, 1}, {2, 1}, {18, 1}, {6, 51}, {3, 17}, {37, 101}};
    const aq_float_passes *rungs[RUNGS_MAX];
    const size_t rung_count = rungs_here(rungs);
    aq_rng rng = rng_of(12, 0);
    fill_normal(own.x, HEAD_MAX, 10.0, &rng);
    EACH_ROW(s, shapes) {
        const aq_head_shape head = {.choices = shapes[s][0], .atoms = shapes[s][1]};
        const aq_const_rows x = {.values = own.x};
        const aq_float_rows y = {.values = own.y, .stride = 0, .rows = 1};
        for (size_t r = 0; r < rung_count; r++) {
            rungs[r]->dueling(&x, &head, &y);
            check_dueling(&own, head.choices, head.atoms);
            first = r == 0 ? own : first;
            assert_memory_equal(own.y, first.y, sizeof(own.y));
        }
    }
}

static void check_categorical(const head_case *own, const aq_head_shape *head, const float *atoms)
{
    const double largest = fmax(fabs((double)head->low), fabs((double)head->high));
    const double bound = (head->atoms / 8.0 + 24.0) * unit * largest;
    for (uint32_t c = 0; c < head->choices; c++) {
        const float *logit = own->x + (size_t)c * head->atoms;
        double greatest = -INFINITY, weight = 0.0, value = 0.0;
        for (uint32_t k = 0; k < head->atoms; k++) {
            greatest = fmax(greatest, (double)logit[k]);
        }
        for (uint32_t k = 0; k < head->atoms; k++) {
            const double e = exp((double)logit[k] - greatest);
            weight += e;
            value += e * (double)atoms[k];
        }
        assert_near((double)own->y[c], value / weight, bound);
    }
}

TEST(categorical_is_within_its_bound_and_the_same_on_every_rung)
{
    static head_case own, first;
    static const uint32_t shapes[][2] = {{1, 2}, {6, 51}, {18, 16}, {4, 101}, {3, 1024}};
    static const double scales[] = {0.01, 1.0, 30.0, 1e4};
    const aq_float_passes *rungs[RUNGS_MAX];
    const size_t rung_count = rungs_here(rungs);
    float atoms[AQ_NET_ATOMS_MAX];
    aq_rng rng = rng_of(13, 0);
    for (size_t i = 0; i < 20; i++) {
        const uint32_t *shape = shapes[i % 5];
        const aq_head_shape head = {
            .choices = shape[0], .atoms = shape[1], .low = -10.0f, .high = 10.0f};
        const aq_const_rows x = {.values = own.x};
        const aq_float_rows y = {.values = own.y, .stride = 0, .rows = 1};
        fill_normal(own.x, HEAD_MAX, scales[i / 5], &rng);
        for (uint32_t k = 0; k < head.atoms; k++) {
            atoms[k] = aq_head_atom(&head, k);
        }
        for (size_t r = 0; r < rung_count; r++) {
            rungs[r]->categorical(&x, &head, atoms, &y);
            check_categorical(&own, &head, atoms);
            first = r == 0 ? own : first;
            assert_memory_equal(own.y, first.y, sizeof(own.y));
        }
    }
}

TEST(logits_that_are_not_finite)
{
    const aq_head_shape head = {.choices = 4, .atoms = 3, .low = -1.0f, .high = 1.0f};
    const float atoms[] = {-1.0f, 0.0f, 1.0f};
    const float logits[] = {-INFINITY, -INFINITY, 0.0f, 0.0f, NAN,  0.0f,
                            NAN,       0.0f,      0.0f, 0.0f, 0.0f, INFINITY};
    float values[4];
    const aq_const_rows x = {.values = logits, .stride = 12};
    const aq_float_rows y = {.values = values, .stride = 4, .rows = 1};
    aq_float_passes_select(aq_cpu_flags())->categorical(&x, &head, atoms, &y);
    assert_true(values[0] == 1.0f);
    assert_true(isnan(values[1]) && isnan(values[2]) && isnan(values[3]));
}

/* ---- levels, and the choice ----------------------------------------------------------------- */

TEST(levels_are_summed_on_every_rung)
{
    static uint8_t levels[100000];
    const aq_float_passes *rungs[RUNGS_MAX];
    const size_t rung_count = rungs_here(rungs);
    memset(levels, 255, sizeof(levels));
    for (size_t r = 0; r < rung_count; r++) {
        assert_int_equal(rungs[r]->level_sum(levels, 0), 0);
        assert_int_equal(rungs[r]->level_sum(levels, 33), 33 * 255);
        assert_int_equal(rungs[r]->level_sum(levels + 1, sizeof(levels) - 1), 99999 * 255);
    }
}

TEST(a_processor_without_vectors_gets_the_generic_ones)
{
    assert_string_equal(aq_float_passes_select(0)->name, "generic");
    for (size_t i = 0; aq_float_passes_rung(i) != NULL; i++) {
        const aq_float_passes *passes = aq_float_passes_rung(i);
        assert_ptr_equal(aq_float_passes_select(passes->cpu_flags), passes);
    }
}
