/*
 * An experience message owns its chunks' references and its array, and gives both back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/experience/experience.h"

static void test_an_empty_message_can_be_dropped(void **state)
{
    aq_experience experience = {.seq = 3};
    (void)state;
    aq_experience_fini(&experience);
    assert_int_equal(experience.seq, 0);
    aq_experience_fini(&experience);
}

static void test_dropping_a_message_drops_its_references(void **state)
{
    const aq_chunk_layout layout = {
        .obs_bytes = 4, .action_bytes = 4, .n_step = 1, .length_max = 4, .choice_count = 2};
    aq_experience experience = {.chunk_count = 3};
    aq_chunk *kept = NULL;
    (void)state;
    experience.chunks = aq_alloc(4, sizeof(*experience.chunks));
    assert_non_null(experience.chunks);
    for (uint32_t i = 0; i < 2; i++) { /* a message half built has empty places */
        assert_int_equal(aq_chunk_create(&layout, 4, &experience.chunks[i]), 0);
    }
    kept = aq_chunk_ref(experience.chunks[0]);
    aq_experience_fini(&experience);
    assert_null(experience.chunks);
    assert_int_equal(experience.chunk_count, 0);
    assert_int_equal(kept->references, 1);
    aq_chunk_unref(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_empty_message_can_be_dropped),
        cmocka_unit_test(test_dropping_a_message_drops_its_references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
