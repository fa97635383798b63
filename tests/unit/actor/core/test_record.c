/*
 * Recorded columns at an actor: who claims which, and where their values come to stand.
 */
#include "actor/core/record.h"
#include "tests/support/test.h"
#include "tests/unit/actor/core_kit.h"

enum { LANES = 3 };

static aq_run_settings two_columns(void)
{
    aq_run_settings settings = kit_settings();
    settings.recorded[0] = (aq_column){"noise", AQ_DTYPE_F32, AQ_PER_STEP, 8, {0}, {0}};
    settings.recorded[1] = (aq_column){"hidden", AQ_DTYPE_U8, AQ_PER_BOUNDARY, 3, {0}, {0}};
    settings.recorded_count = 2;
    return settings;
}

TEST(what_was_claimed_stands_behind_the_standard_columns)
{
    const aq_run_settings settings = two_columns();
    aq_record record;
    assert_int_equal(aq_record_init(&record, &settings, LANES), 0);
    const uint8_t *hidden = aq_record_claim(&record, "hidden", 3);
    const uint8_t *noise = aq_record_claim(&record, "noise", 8);
    assert_int_equal(aq_record_check(&record, NULL), 0);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        aq_step_values values = {.terminated = false};
        aq_record_put(&record, lane, &values);
        assert_ptr_equal(values.of[AQ_COLUMNS_STANDARD], noise + lane * 8);
        assert_ptr_equal(values.of[AQ_COLUMNS_STANDARD + 1], hidden + lane * 3);
    }
    aq_record_fini(&record);
}

TEST(what_nobody_claims_cannot_be_recorded)
{
    const aq_run_settings settings = two_columns();
    aq_record record;
    assert_int_equal(aq_record_init(&record, &settings, LANES), 0);
    assert_null(aq_record_claim(&record, "reward", 4)); /* the run does not record it */
    assert_null(aq_record_claim(&record, "noise", 4));  /* the run records something else */
    assert_non_null(aq_record_claim(&record, "hidden", 3));
    assert_refused(aq_record_check(&record, &refusal), AQ_E_UNSUPPORTED,
                   "this actor cannot record 'noise'");
    aq_record_fini(&record);
}

TEST(a_record_survives_every_failed_allocation)
{
    const aq_run_settings settings = two_columns();
    int rc;
    EACH_ALLOCATION_FAILS(rc) {
        aq_record record;
        rc = aq_record_init(&record, &settings, LANES);
        aq_record_fini(&record);
    }
}
