/*
 * An experience message owns its chunks' references and its array, and gives both back.
 */
#include "common/experience/experience.h"
#include "tests/support/chunks.h"
#include "tests/support/test.h"

TEST(an_empty_message_can_be_dropped)
{
    aq_experience experience = {.seq = 3};
    aq_experience_fini(&experience);
    assert_int_equal(experience.seq, 0);
    aq_experience_fini(&experience);
}

TEST(dropping_a_message_drops_its_references)
{
    const aq_layout layout = chunk_layout(1, 2, 1, 4);
    aq_experience experience = {.chunk_count = 3};
    aq_chunk *kept = NULL;
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
