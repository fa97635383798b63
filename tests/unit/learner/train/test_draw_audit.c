/*
 * The audit of draws: what an actor drew is found again to the last bit, and whatever is otherwise
 * is noticed.
 */
#include "common/experience/column_catalog.h"
#include "common/policy/draw_source.h"
#include "common/sys/cpu.h"
#include "learner/train/draw_audit.h"
#include "quantizer/engine/engine.h"
#include "tests/support/test.h"
#include "tests/unit/learner/learner_kit.h"

enum { ROWS = 16, STEPS = 4, PLACES = ROWS * STEPS, VERSION = 7, NOISE_MAX = 8 };
enum { GROUPS = 500, AT_ONCE = 32 };

typedef struct audit_desk {
    learner_kit kit;
    aq_layout layout;
    aq_publication made; /* VERSION */
    aq_batch *group;     /* of its draws */
    float *log_prob;
    aq_draw_audit *audit; /* of all rows */
    aq_audit_counts counts;
} audit_desk;

static void init_layout(audit_desk *desk)
{
    aq_column column;
    assert_int_equal(aq_layout_init(&desk->kit.schema, 1, STEPS, &desk->layout, NULL), 0);
    assert_int_equal(aq_column_find("log_prob", &desk->kit.schema, &column), 0);
    assert_int_equal(aq_layout_record(&desk->layout, &column, 1, NULL), 0);
}

/* As actors of this version do, which the rows say they are of. */
static void draw_all(audit_desk *desk, aq_snapshot *by)
{
    aq_batch *group = desk->group;
    const aq_head_terms terms = aq_snapshot_terms(by);
    const aq_head_drawing *drawing = terms.head->drawing;
    const uint32_t count = drawing->noise_count(&terms);
    aq_engine *engine = NULL;
    float noise[NOISE_MAX];
    assert_in_range(count, 1, NOISE_MAX);
    assert_int_equal(aq_engine_create(by, 1, aq_cpu_flags(), &engine, NULL), 0);
    for (uint32_t place = 0; place < PLACES; place++) {
        float *obs = (float *)(void *)group->obs + (place + place / STEPS) * KIT_INPUTS;
        fill_range(obs, KIT_INPUTS, -1, 1, &desk->kit.rng);
        aq_draw_noise(drawing, &(aq_draw_at){.key = 9, .lane = place, .octaves = 1}, count, noise);
        desk->log_prob[place] = drawing->draw(&terms, aq_engine_step(engine, obs, NULL, 1), noise,
                                              group->action + place * group->action_bytes, NULL);
        group->version[place] = VERSION;
    }
    aq_engine_destroy(engine);
}

static void audit_desk_setup(audit_desk *desk)
{
    learner_kit_init(&desk->kit, 5);
    desk->kit.meta.head = AQ_HEAD_CATEGORICAL;
    init_layout(desk);
    learner_kit_publication(&desk->kit, VERSION, AQ_FORMAT_INT8_CHANNEL, &desk->made);
    assert_int_equal(aq_batch_create(&desk->layout, STEPS, ROWS, &desk->group), 0);
    desk->group->rows = ROWS;
    for (uint32_t row = 0; row < ROWS; row++) {
        desk->group->length[row] = STEPS;
    }
    desk->log_prob = (float *)(void *)desk->group->columns[AQ_BATCH_RECORDED].bytes;
    draw_all(desk, desk->made.snapshot);
    assert_int_equal(aq_draw_audit_create(1, &desk->kit.schema, &desk->layout, &desk->audit), 0);
    aq_draw_audit_published(desk->audit, desk->made.snapshot);
}

static void audit_desk_teardown(audit_desk *desk)
{
    aq_draw_audit_destroy(desk->audit);
    aq_batch_destroy(desk->group);
    aq_publication_fini(&desk->made);
    learner_kit_fini(&desk->kit);
}

/* At all groups; so many rows are looked at, less what waits for the next group. */
static void look(audit_desk *desk, double rows)
{
    desk->counts = (aq_audit_counts){0};
    for (int group = 0; group < GROUPS; group++) {
        aq_draw_audit_look(desk->audit, desk->group, &desk->counts);
    }
    assert_near((double)desk->counts.audited, rows, AT_ONCE);
}

TEST_IN(audit_desk, desk, draws_that_are_as_they_say_are_found_again)
{
    look(desk, GROUPS * PLACES);
    assert_int_equal(desk->counts.different, 0);
}

TEST_IN(audit_desk, desk, the_last_bit_counts)
{
    for (uint32_t place = 0; place < PLACES; place++) {
        uint32_t bits;
        memcpy(&bits, &desk->log_prob[place], sizeof(bits));
        bits ^= 1;
        memcpy(&desk->log_prob[place], &bits, sizeof(bits));
    }
    look(desk, GROUPS * PLACES);
    assert_int_equal(desk->counts.different, desk->counts.audited);
}

TEST_IN(audit_desk, desk, what_another_version_drew_is_noticed)
{
    aq_publication other;
    for (size_t i = 0; i < desk->kit.params.count; i++) {
        desk->kit.params.block[i] *= 1.1f;
    }
    learner_kit_publication(&desk->kit, VERSION + 1, AQ_FORMAT_INT8_CHANNEL, &other);
    draw_all(desk, other.snapshot);
    aq_publication_fini(&other);
    look(desk, GROUPS * PLACES);
    assert_in_range(desk->counts.different, desk->counts.audited / 2, desk->counts.audited);
}

TEST_IN(audit_desk, desk, rows_of_a_version_that_is_not_kept_are_not_audited)
{
    for (uint32_t version = 1; version <= 16; version++) {
        aq_publication made;
        learner_kit_publication(&desk->kit, VERSION + version, AQ_FORMAT_F32, &made);
        aq_draw_audit_published(desk->audit, made.snapshot);
        aq_publication_fini(&made);
    }
    look(desk, 0);
    assert_int_equal(desk->counts.audited + desk->counts.different, 0);
}

/* What follows the end of a sequence is no step, and what was acted at random was not drawn. */
TEST_IN(audit_desk, desk, of_what_was_drawn_the_share_is_audited)
{
    static const double shares[] = {0.01, 0.25, 1};
    uint32_t drawn = 0;
    for (uint32_t row = 0; row < ROWS; row++) {
        desk->group->length[row] = 1 + row % STEPS;
        desk->group->version[(size_t)row * STEPS] = row % 2 * VERSION;
        drawn += row % STEPS + row % 2;
    }
    EACH_ROW(i, shares) {
        aq_draw_audit_destroy(desk->audit);
        assert_int_equal(
            aq_draw_audit_create(shares[i], &desk->kit.schema, &desk->layout, &desk->audit), 0);
        aq_draw_audit_published(desk->audit, desk->made.snapshot);
        look(desk, shares[i] * GROUPS * drawn);
        assert_int_equal(desk->counts.different, 0);
    }
}

TEST_IN(audit_desk, desk, where_nothing_is_to_be_audited_there_is_none)
{
    aq_draw_audit *audit = desk->audit;
    assert_int_equal(aq_draw_audit_create(0, &desk->kit.schema, &desk->layout, &audit), 0);
    assert_null(audit);
    assert_int_equal(aq_draw_audit_create(1, &desk->kit.schema, &desk->kit.layout, &audit), 0);
    assert_null(audit); /* nobody says a log-probability */
    aq_draw_audit_published(NULL, desk->made.snapshot);
    aq_draw_audit_look(NULL, desk->group, &desk->counts);
    assert_int_equal(desk->counts.audited, 0);
    aq_draw_audit_destroy(NULL);
}

TEST_IN(audit_desk, desk, making_one_survives_every_failed_allocation)
{
    aq_draw_audit *audit;
    assert_made_despite_failures(audit,
                                 aq_draw_audit_create(1, &desk->kit.schema, &desk->layout, &audit));
    aq_draw_audit_destroy(audit);
}
