/*
 * Sequence places: each step of each sequence has one of its own, and those of a step lie together.
 */
#include "learner/nn/sequence_places.h"
#include "tests/support/test.h"

enum { STEPS = 6, SEQUENCES = 5 };

static void lay_out(void *places, aq_arrays *at)
{
    aq_sequence_places_lay_out(places, STEPS, at);
}

TEST(the_longest_comes_first_and_steps_lie_together)
{
    static const uint32_t lengths[SEQUENCES] = {2, 5, 1, 5, 3};
    static const uint32_t active[STEPS + 1] = {5, 4, 3, 2, 2};
    static aq_sequence_places places;
    bool is_taken[2 + 5 + 1 + 5 + 3] = {false};
    void *arrays = aq_arrays_make(lay_out, &places);
    at_end(aq_free, arrays);
    for (int round = 0; round < 2; round++) { /* it begins anew */
        memset(is_taken, 0, sizeof(is_taken));
        aq_sequence_places_begin(&places);
        EACH_ROW(i, lengths) {
            aq_sequence_places_add(&places, lengths[i]);
        }
        aq_sequence_places_close(&places);
        assert_int_equal(places.steps, 5);
        assert_memory_equal(places.active, active, sizeof(active));
        EACH_ROW(i, lengths) {
            uint32_t place = aq_sequence_places_take(&places, lengths[i]), first = 0;
            for (uint32_t t = 0; t < lengths[i]; place += active[t], first += active[t], t++) {
                assert_true(place >= first && place < first + active[t] && !is_taken[place]);
                is_taken[place] = true;
            }
        }
    }
}
