/*
 * Limit loops do the work that they are timed for: every byte that is read counts.
 */
#include "bench/kernels/limit_contender.h"
#include "common/sys/cpu.h"
#include "quantizer/kernels/qkernels.h"
#include "tests/support/test.h"

enum { BYTES = 4 * AQ_LIMIT_READ_STEP };

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

TEST(no_byte_is_left_out)
{
    const aq_limit_loops *loops;
    unsigned char *bytes = aq_alloc(1, BYTES);
    assert_non_null(bytes);
    for (uint32_t i = 0; (loops = loops_at(i)) != NULL; i++) {
        assert_true(loops->read(bytes, BYTES) == 0);
        for (size_t at = 0; at < BYTES; at++) {
            bytes[at] = 1;
            if (loops->read(bytes, BYTES) == 0) {
                fail_msg("%s: byte %zu is not read", loops->rung, at);
            }
            bytes[at] = 0;
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
    aq_limit_multiplying multiplying = {.loop = aq_limit_loops_of("scalar")->dot};
    aq_limit_reading reading = {.loops = aq_limit_loops_of("scalar"), .bytes = BYTES};
    unsigned char *bytes = aq_limit_memory(BYTES);
    assert_non_null(bytes);
    bytes[0] = 0;
    reading.memory = bytes;
    const aq_contender first = aq_limit_reading_contender(&reading);
    const aq_contender second = aq_limit_multiplying_contender(&multiplying);
    first.run(first.self);
    second.run(second.self);
    assert_true(reading.sum != 0);
    assert_true(multiplying.sum != 0);
    aq_free(bytes);
}
