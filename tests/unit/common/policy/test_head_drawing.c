/*
 * Heads that draw: what is so for each of them, whatever it draws.
 */
#include "common/policy/draw_source.h"
#include "common/policy/gaussian.h"
#include "tests/support/test.h"
#include "tests/unit/common/policy/head_kit.h"

enum { OUTPUTS = 4, ARRAYS_MAX = 64, NOISE_MAX = 64, DRAWS = 20000 };

/* A head at one observation; and the same a little further on. */
typedef struct drawing {
    aq_net_spec spec;
    aq_space space;
    aq_head_terms terms;
    float outputs[OUTPUTS], arrays[ARRAYS_MAX];
    uint32_t array_count;
} drawing;

static bool make(uint32_t head, uint64_t seed, drawing *made)
{
    aq_rng rng = rng_of(head, seed);
    const aq_head *of = aq_head_of(head_kit_number(head));
    if (of == NULL || of->drawing == NULL) {
        return false;
    }
    assert_int_equal(
        aq_net_spec_init_mlp(3, NULL, 0, OUTPUTS, AQ_ACTIVATION_RELU, &made->spec, NULL), 0);
    if (!head_kit_fit(head, &made->spec, &made->space)) {
        assert_true(head >= HEAD_KIT_ROW);
        return false;
    }
    made->array_count = (uint32_t)aq_net_spec_array_values(&made->spec);
    assert_true(made->array_count <= ARRAYS_MAX);
    fill_range(made->outputs, OUTPUTS, -1.0, 1.0, &rng);
    fill_range(made->arrays, ARRAYS_MAX, -0.9, 0.9, &rng);
    made->terms = (aq_head_terms){
        .head = of, .action = &made->space, .width = OUTPUTS, .arrays = made->arrays};
    return true;
}

#define FOR_EACH_DRAWING(one)                                                                      \
    for (uint32_t head = 1; head < HEAD_KIT_END; head++)                                           \
        if (make(head, 1, one))

typedef struct drawn {
    float action[OUTPUTS], numbers[OUTPUTS];
    float log_prob;
    aq_head_draw draw;
} drawn;

static void draw_one(const drawing *from, uint64_t number, drawn *made)
{
    const aq_head_drawing *how = from->terms.head->drawing;
    float noise[NOISE_MAX];
    const uint32_t count = how->noise_count(&from->terms);
    assert_true(count <= NOISE_MAX);
    aq_draw_noise(how, &(aq_draw_at){.key = 77, .draw = number, .lane = 3, .octaves = 1}, count,
                  noise);
    made->log_prob = how->draw(&from->terms, from->outputs, noise, made->action, made->numbers);
    made->draw = (aq_head_draw){made->action, made->numbers};
}

static double entropy_of(const drawing *at, const drawn *got)
{
    float d_outputs[OUTPUTS] = {0}, d_arrays[ARRAYS_MAX] = {0};
    return at->terms.head->drawing->slopes(&at->terms, at->outputs, &got->draw,
                                           (aq_head_scales){0.0f, 0.0f},
                                           &(aq_head_slope){d_outputs, d_arrays});
}

TEST(a_draw_has_the_log_probability_that_is_computed_of_it)
{
    drawing one;
    FOR_EACH_DRAWING(&one)
    {
        for (uint64_t i = 0; i < 100; i++) {
            drawn got;
            draw_one(&one, i, &got);
            const float again =
                one.terms.head->drawing->log_prob(&one.terms, one.outputs, &got.draw);
            assert_memory_equal(&again, &got.log_prob, sizeof(again));
        }
    }
}

/* E[log p] = -entropy where the density is of what is drawn, and E[exp(slope of log p)] is known
 * from nothing: so it is the mean of -log p that is looked at. */
TEST(the_entropy_is_the_mean_of_minus_log_probability)
{
    drawing one;
    FOR_EACH_DRAWING(&one)
    {
        drawn got;
        double sum = 0;
        if (head == AQ_HEAD_SQUASHED) {
            continue; /* its entropy is that of the numbers before tanh */
        }
        for (uint64_t i = 0; i < DRAWS; i++) {
            draw_one(&one, i, &got);
            sum -= (double)got.log_prob / DRAWS;
        }
        assert_near(sum, entropy_of(&one, &got), 0.03);
    }
}

/* E_p[p' / p] = 1 for any other p': so the density adds up to 1, with what squashing does to it. */
TEST(densities_add_up_to_one)
{
    drawing one;
    FOR_EACH_DRAWING(&one)
    {
        drawing other = one;
        double sum = 0;
        for (int i = 0; i < OUTPUTS; i++) {
            other.outputs[i] += i % 2 == 0 ? 0.1f : -0.05f;
        }
        other.terms.action = &other.space;
        other.terms.arrays = other.arrays;
        for (uint64_t i = 0; i < DRAWS; i++) {
            drawn got;
            draw_one(&one, i, &got);
            sum += exp((double)one.terms.head->drawing->log_prob(&other.terms, other.outputs,
                                                                 &got.draw) -
                       (double)got.log_prob) /
                   DRAWS;
        }
        assert_near(sum, 1.0, 0.03);
    }
}

TEST(divergence_is_zero_from_itself_and_more_from_others)
{
    drawing one;
    FOR_EACH_DRAWING(&one)
    {
        const aq_head_drawing *how = one.terms.head->drawing;
        drawing other = one;
        other.outputs[0] += 0.3f;
        assert_near(how->kl(&one.terms, one.outputs, &one.terms, one.outputs), 0.0, 1e-12);
        assert_true(how->kl(&one.terms, one.outputs, &one.terms, other.outputs) > 1e-4);
    }
}

/* Rounding may say so of deviations that are next to the same. */
TEST(no_divergence_is_below_zero)
{
    drawing one;
    assert_true(make(AQ_HEAD_SQUASHED, 1, &one));
    const aq_head_drawing *how = one.terms.head->drawing;
    memset(one.outputs, 0, sizeof(one.outputs));
    drawing other = one;
    other.outputs[OUTPUTS - 1] = 1e-9f;
    assert_true(how->kl(&one.terms, one.outputs, &one.terms, other.outputs) >= 0.0);
    other.outputs[0] = NAN;
    assert_true(isnan(how->kl(&one.terms, one.outputs, &one.terms, other.outputs)));
}

/* What is drawn of several choices is what each would be by itself, from its own noise. */
TEST(several_choices_are_drawn_each_by_itself)
{
    const aq_head_drawing *how = aq_head_of(AQ_HEAD_CATEGORICAL)->drawing;
    const float outputs[] = {0.3f, -0.2f, 0.9f, 0.1f, -0.5f}, noise[] = {0.7f, 0.2f};
    aq_space row, lone[2] = {{0}};
    int32_t choices[2], own[2];
    float sum = 0;
    aq_space_init_choices(&row, 2, (uint32_t[]){3, 2});
    const aq_head_terms terms = {.action = &row, .width = 5};
    assert_int_equal(how->noise_count(&terms), 2);
    for (uint32_t i = 0; i < 2; i++) {
        aq_space_init_discrete(&lone[i], 3 - i);
        sum += how->draw(&(aq_head_terms){.action = &lone[i], .width = 3 - i}, outputs + 3 * i,
                         &noise[i], &own[i], NULL);
    }
    const float log_prob = how->draw(&terms, outputs, noise, choices, NULL);
    assert_memory_equal(choices, own, sizeof(own));
    assert_near((double)log_prob, (double)sum, 1e-6);
}

/* ---- gradients ------------------------------------------------------------------------------ */

enum of { LOG_PROB, ENTROPY, KL, FUNCTIONS };

static double value_of(enum of which, const drawing *at, const drawing *from, const drawn *got)
{
    const aq_head_drawing *how = at->terms.head->drawing;
    switch (which) {
    case LOG_PROB:
        return (double)how->log_prob(&at->terms, at->outputs, &got->draw);
    case ENTROPY:
        return entropy_of(at, got);
    default:
        return how->kl(&from->terms, from->outputs, &at->terms, at->outputs);
    }
}

/* gSDE's features have no gradient through the variance, but for a divergence's: where they move,
 * deviations make up for it. */
static void hold_variance(drawing *moved, const drawing *as)
{
    const uint32_t elements = (uint32_t)aq_space_elements(&as->space);
    for (uint32_t i = 0; i < elements; i++) {
        float *deviations = moved->arrays + as->array_count - (elements - i) * OUTPUTS;
        const double is = aq_gaussian_element(&moved->terms, moved->outputs, i).deviation;
        const double was = aq_gaussian_element(&as->terms, as->outputs, i).deviation;
        for (int h = 0; h < OUTPUTS; h++) {
            deviations[h] *= (float)(was / is);
        }
    }
}

static void check_slope(uint32_t head, enum of which, const drawing *one, const drawing *from,
                        const drawn *got)
{
    const aq_head_drawing *how = one->terms.head->drawing;
    float d_outputs[OUTPUTS] = {0}, d_arrays[ARRAYS_MAX] = {0};
    const aq_head_slope slope = {d_outputs, d_arrays};
    const float scale = 2.0f;
    if (which == KL) {
        how->kl_slope(&from->terms, from->outputs, &one->terms, one->outputs, scale, &slope);
    } else {
        const aq_head_scales scales = {which == LOG_PROB ? scale : 0.0f,
                                       which == ENTROPY ? scale : 0.0f};
        (void)how->slopes(&one->terms, one->outputs, &got->draw, scales, &slope);
    }
    for (uint32_t i = 0; i < OUTPUTS + one->array_count; i++) {
        const float apart = 1.0f / 256;
        drawing more = *one, less = *one;
        const bool is_output = i < OUTPUTS;
        *(is_output ? &more.outputs[i] : &more.arrays[i - OUTPUTS]) += apart;
        *(is_output ? &less.outputs[i] : &less.arrays[i - OUTPUTS]) -= apart;
        more.terms.arrays = more.arrays;
        less.terms.arrays = less.arrays;
        if (head == AQ_HEAD_GSDE && is_output && which != KL) {
            hold_variance(&more, one);
            hold_variance(&less, one);
        }
        const double expected =
            (value_of(which, &more, from, got) - value_of(which, &less, from, got)) /
            (2 * (double)apart);
        const float found = is_output ? d_outputs[i] : d_arrays[i - OUTPUTS];
        assert_near((double)(found / scale), expected, 2e-3 * (1 + fabs(expected)));
    }
}

TEST(gradients_agree_with_finite_differences)
{
    drawing one, from;
    FOR_EACH_DRAWING(&one)
    {
        assert_true(make(head, 2, &from));
        from.terms.action = &one.space;
        for (uint64_t i = 0; i < 20; i++) {
            drawn got;
            draw_one(&one, i, &got);
            check_slope(head, LOG_PROB, &one, &from, &got);
            check_slope(head, ENTROPY, &one, &from, &got);
            check_slope(head, KL, &one, &from, &got);
        }
    }
}

/* Down the slope, as learners go, a deviation that was held returns, and goes no further. */
TEST(a_deviation_beyond_a_bound_comes_back)
{
    static const struct {
        float log_deviation, entropy; /* how often its gradient is added */
        bool leads_back;
    } rows[] = {{2.5f, 1, true}, {2.5f, -1, false}, {-5.5f, -1, true}, {-5.5f, 1, false}};
    for (uint32_t head = AQ_HEAD_GAUSSIAN; head <= AQ_HEAD_SQUASHED; head++) {
        EACH_ROW(k, rows) {
            drawing one;
            drawn got;
            float d_outputs[OUTPUTS] = {0}, d_arrays[ARRAYS_MAX] = {0};
            assert_true(make(head, 1, &one));
            const uint32_t elements = aq_head_elements(&one.terms);
            const bool is_array = head == AQ_HEAD_GAUSSIAN;
            float *held = is_array ? one.arrays : one.outputs + elements;
            for (uint32_t i = 0; i < elements; i++) {
                held[i] = rows[k].log_deviation;
            }
            draw_one(&one, 1, &got);
            (void)one.terms.head->drawing->slopes(&one.terms, one.outputs, &got.draw,
                                                  (aq_head_scales){0, rows[k].entropy},
                                                  &(aq_head_slope){d_outputs, d_arrays});
            for (uint32_t i = 0; i < elements; i++) {
                const float slope = is_array ? d_arrays[i] : d_outputs[elements + i];
                assert_float_equal(slope, rows[k].leads_back ? rows[k].entropy : 0.0f, 0.0f);
            }
        }
    }
}

/* gSDE's are held nowhere: what is drawn could not be. */
TEST(gsde_draws_with_the_deviation_that_it_tells)
{
    drawing one;
    assert_true(make(AQ_HEAD_GSDE, 1, &one));
    for (float times = 0.001f; times < 2000.0f; times *= 1000) {
        drawing other = one;
        double sum = 0;
        drawn got;
        const uint32_t elements = aq_head_elements(&one.terms);
        for (uint32_t i = one.array_count - elements * OUTPUTS; i < one.array_count; i++) {
            other.arrays[i] *= times;
        }
        other.terms.action = &other.space;
        other.terms.arrays = other.arrays;
        for (uint64_t i = 0; i < DRAWS; i++) {
            draw_one(&other, i, &got);
            sum -= (double)got.log_prob / DRAWS;
        }
        /* its least variance counts where deviations are next to nothing */
        assert_near(sum, entropy_of(&other, &got), times < 1 ? 0.5 * elements : 0.03);
    }
}

/* ---- noise ---------------------------------------------------------------------------------- */

TEST(noise_is_a_function_of_key_environment_and_draw)
{
    const aq_head_drawing *kinds[] = {aq_head_of(AQ_HEAD_CATEGORICAL)->drawing,
                                      aq_head_of(AQ_HEAD_GAUSSIAN)->drawing};
    for (size_t k = 0; k < 2; k++) {
        const aq_draw_at at = {.key = 1, .draw = 3, .lane = 2, .octaves = 1};
        const aq_draw_at others[] = {
            {.key = 2, .draw = 3, .lane = 2, .octaves = 1},
            {.key = 1, .draw = 3, .lane = 1, .octaves = 1},
            {.key = 1, .draw = 4, .lane = 2, .octaves = 1},
            {.key = 1, .draw = 3 + (UINT64_C(1) << 32), .lane = 2, .octaves = 1},
        };
        float first[7], again[7];
        aq_draw_noise(kinds[k], &at, 7, first);
        aq_draw_noise(kinds[k], &at, 7, again);
        assert_memory_equal(first, again, sizeof(first));
        for (int i = 0; i < 4; i++) {
            aq_draw_noise(kinds[k], &others[i], 7, again);
            assert_memory_not_equal(first, again, sizeof(first));
        }
    }
}

/* Of draws that are `apart`, by the definition: numbers held for 1, 2, 4, ... draws. */
static double shared_by(uint64_t apart, uint32_t octaves)
{
    double shared = 0;
    for (uint32_t octave = 0; octave < octaves; octave++) {
        shared += fmax(0.0, 1.0 - (double)apart / (double)(UINT64_C(1) << octave)) / octaves;
    }
    return shared;
}

TEST(octaves_are_numbers_that_are_held_for_twice_as_long_each)
{
    enum { WALK = 1 << 16 };
    static float walk[WALK][2];
    const aq_head_drawing *normal = aq_head_of(AQ_HEAD_GAUSSIAN)->drawing;
    const uint32_t octaves = 6;
    for (uint64_t draw = 0; draw < WALK; draw++) {
        aq_draw_noise(normal, &(aq_draw_at){.key = 1, .draw = draw, .octaves = octaves}, 2,
                      walk[draw]);
    }
    const uint64_t distances[] = {0, 1, 2, 5, 16, 31, 32, 100};
    for (size_t d = 0; d < sizeof(distances) / sizeof(distances[0]); d++) {
        double own = 0, others = 0;
        for (uint64_t draw = 0; draw + distances[d] < WALK; draw++) {
            own += (double)(walk[draw][0] * walk[draw + distances[d]][0]) / WALK;
            others += (double)(walk[draw][0] * walk[draw + distances[d]][1]) / WALK;
        }
        assert_near(own, shared_by(distances[d], octaves), 0.05);
        assert_near(others, 0, 0.05);
    }
}
