/*
 * Limit loops do the work that they are timed for: every byte that is read counts.
 */
#include "bench/kernels/limit_contender.h"
#include "common/sys/cpu.h"
#include "quantizer/kernels/qkernels.h"
#include "tests/support/test.h"

enum { BYTES = 5 * AQ_LIMIT_READ_STEP };

/* The loops of the index-th rung that this processor has; NULL past the last. */
static const aq_limit_loops *loops_at(uint32_t index)
{
    const aq_qkernels *rung;
    for (uint32_t i = 0; (rung = aq_qkernels_rung(i)) != NULL; i++) {
        if ((rung->cpu_flags & ~aq_cpu_flags()) == 0 && index-- == 0) {
            return aq_limit_loops_of(rung->name);
        }
    }
    return NULL;
}

/* Also where the parts of a reading in parts are not as long as the whole. */
TEST(no_byte_is_left_out_by_any_reader)
{
    const aq_limit_loops *loops;
    unsigned char *bytes = aq_alloc(1, BYTES);
    assert_non_null(bytes);
    for (uint32_t i = 0; (loops = loops_at(i)) != NULL; i++) {
        for (size_t k = 0; k < AQ_LIMIT_READERS; k++) {
            const aq_limit_reader *reader = &loops->readers[k];
            assert_true(reader->read(bytes, BYTES) == 0);
            for (size_t at = 0; at < BYTES; at++) {
                bytes[at] = 1;
                if (reader->read(bytes, BYTES) == 0) {
                    fail_msg("%s, %s: byte %zu is not read", loops->rung, reader->name, at);
                }
                bytes[at] = 0;
            }
        }
    }
    aq_free(bytes);
}

TEST(every_rung_multiplies)
{
    const aq_limit_loops *loops;
    for (uint32_t i = 0; (loops = loops_at(i)) != NULL; i++) {
        assert_true(loops->dot_operations > 0);
        assert_true(loops->fma_operations > 0);
        assert_true(loops->dot(100) != loops->dot(200));
        assert_true(loops->fma(100) != loops->fma(200));
    }
}

TEST(an_unknown_rung_has_the_loops_of_plain_c)
{
    assert_string_equal(aq_limit_loops_of("altivec")->rung, "scalar");
}

TEST(contenders_run_their_loops)
{
    aq_contender contenders[AQ_LIMIT_READERS];
    aq_limit_reading readings[AQ_LIMIT_READERS];
    aq_limit_multiplying multiplying = {.loop = aq_limit_loops_of("scalar")->dot};
    unsigned char *bytes = aq_limit_memory(BYTES);
    assert_non_null(bytes);
    bytes[0] = 0;
    aq_limit_readings_init(aq_limit_loops_of("scalar"), bytes, BYTES, readings);
    aq_limit_reading_contenders(readings, contenders);
    for (size_t i = 0; i < AQ_LIMIT_READERS; i++) {
        contenders[i].run(contenders[i].self);
        assert_true(readings[i].sum != 0);
    }
    const aq_contender last = aq_limit_multiplying_contender(&multiplying);
    last.run(last.self);
    assert_true(multiplying.sum != 0);
    aq_free(bytes);
}

TEST(the_limit_is_the_fastest_reader)
{
    double us[1 + AQ_LIMIT_READERS] = {0.5, 4.0, 3.0, 2.0, 5.0};
    const aq_paired_times times = {.count = 1 + AQ_LIMIT_READERS, .rounds = 1, .us = us};
    assert_true(aq_limit_reading_us(&times, 1) == 2.0);
}
