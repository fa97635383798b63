/*
 * The audit of draws across processors: what an actor drew on any rung of the kernels, a learner
 * finds again on each, to the last bit; for every head that draws, and weights of every format.
 */
#include "common/experience/column_catalog.h"
#include "common/policy/draw_source.h"
#include "common/sys/cpu.h"
#include "learner/train/draw_audit.h"
#include "tests/support/test.h"
#include "tests/unit/common/policy/head_kit.h"
#include "tests/unit/quantizer/quantizer_fixture.h"
#include "tests/unit/quantizer/random_policy.h"

enum { ROWS = 8, STEPS = 8, PLACES = ROWS * STEPS, LOOKS = 4, NOISE_MAX = NET_WIDTH_MAX };

/* Rows of the policy's task, with observations, of sequences that are all whole. */
static aq_batch *rows_of(const aq_snapshot *policy, uint64_t seed, aq_layout *ret_layout)
{
    static const char *const names[] = {"log_prob", "drawn"};
    const uint32_t count = policy->schema.action.kind == AQ_SPACE_BOX ? 2 : 1;
    aq_column columns[2];
    aq_batch *group = NULL;
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(aq_column_find(names[i], &policy->schema, &columns[i]), 0);
    }
    assert_int_equal(aq_layout_init(&policy->schema, 1, STEPS, ret_layout, NULL), 0);
    assert_int_equal(aq_layout_record(ret_layout, columns, count, NULL), 0);
    assert_int_equal(aq_batch_create(ret_layout, STEPS, ROWS, &group), 0);
    group->rows = ROWS;
    for (uint32_t row = 0; row < ROWS; row++) {
        group->length[row] = STEPS;
    }
    for (uint32_t place = 0; place < PLACES; place++) {
        group->version[place] = policy->version;
    }
    const size_t boundaries = (size_t)ROWS * (STEPS + 1);
    memcpy(group->obs, random_policy_observations(&policy->spec, seed, boundaries),
           boundaries * group->obs_bytes);
    return group;
}

/* As an actor on that rung does. */
static void draw_all(aq_snapshot *policy, uint32_t cpu_flags, aq_batch *group)
{
    const aq_head_terms terms = aq_snapshot_terms(policy);
    const aq_head_drawing *drawing = terms.head->drawing;
    const aq_batch_column *recorded = group->columns + AQ_BATCH_RECORDED;
    const size_t elements = drawing->gaussian != NULL ? aq_space_elements(terms.action) : 0;
    const uint32_t count = drawing->noise_count(&terms);
    float *log_prob = (float *)(void *)recorded[0].bytes;
    float *drawn = elements > 0 ? (float *)(void *)recorded[2].bytes : NULL;
    float noise[NOISE_MAX];
    aq_engine *engine = NULL;
    assert_in_range(count, 1, NOISE_MAX);
    assert_succeeds(aq_engine_create(policy, 1, cpu_flags, &engine, &refusal));
    for (size_t place = 0; place < PLACES; place++) {
        const void *obs = group->obs + (place + place / STEPS) * group->obs_bytes;
        const aq_draw_at at = {.key = 9, .lane = (uint32_t)place, .octaves = 1};
        aq_draw_noise(drawing, &at, count, noise);
        log_prob[place] = drawing->draw(&terms, aq_engine_step(engine, obs, NULL, 1), noise,
                                        group->action + place * group->action_bytes,
                                        drawn != NULL ? drawn + place * elements : NULL);
    }
    aq_engine_destroy(engine);
}

/* As a learner on that rung does. */
static void audit_all(aq_snapshot *policy, uint32_t cpu_flags, const aq_layout *layout,
                      const aq_batch *group)
{
    aq_draw_audit *audit = NULL;
    aq_audit_counts counts = {0};
    aq_cpu_set_mask(cpu_flags);
    assert_int_equal(aq_draw_audit_create(1, &policy->schema, layout, &audit), 0);
    aq_draw_audit_published(audit, policy);
    for (int look = 0; look < LOOKS; look++) {
        aq_draw_audit_look(audit, group, &counts);
    }
    aq_draw_audit_destroy(audit);
    aq_cpu_set_mask(UINT32_MAX);
    assert_true(counts.audited > (LOOKS - 1) * PLACES);
    assert_int_equal(counts.different, 0);
}

static void check(const aq_net_spec *spec, const random_policy_how *how)
{
    uint32_t rungs[QUANTIZER_RUNGS_MAX];
    const uint32_t count = quantizer_fixture_rungs(rungs);
    aq_snapshot *policy = random_policy_create(spec, how);
    aq_layout layout;
    aq_batch *group = rows_of(policy, how->seed, &layout);
    for (uint32_t actor = 0; actor < count; actor++) {
        draw_all(policy, rungs[actor], group);
        for (uint32_t learner = 0; learner < count; learner++) {
            audit_all(policy, rungs[learner], &layout, group);
        }
    }
    aq_batch_destroy(group);
}

static void check_all(uint32_t head, enum random_policy_net net)
{
    aq_net_spec fitted = random_policy_spec(net);
    aq_space space;
    if (!head_kit_fit(head, &fitted, &space)) {
        return;
    }
    const aq_net_spec spec = random_policy_spec(net);
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        check(&spec, &(random_policy_how){.seed = 100 * head + 10 * net + format,
                                          .format = format,
                                          .is_static =
                                              format % 2 == net % 2 && aq_format_is_integer(format),
                                          .head = head});
    }
}

/* Of dense layers and norms, as policies that draw are. */
TEST(what_any_rung_drew_every_rung_finds_again)
{
    for (uint32_t head = 1; head < HEAD_KIT_END; head++) {
        const aq_head *of = aq_head_of(head_kit_number(head));
        for (enum random_policy_net net = 0; of != NULL && of->drawing != NULL && net <= NET_NORM;
             net++) {
            check_all(head, net);
        }
    }
}
