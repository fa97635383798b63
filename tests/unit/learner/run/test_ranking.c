/*
 * Which version is the best: what leads, what takes its place, and what more episodes make of it.
 */
#include "learner/run/ranking.h"
#include "tests/support/test.h"

static aq_evaluation_result made(uint64_t version, double mean, bool confirmed)
{
    return (aq_evaluation_result){.version = version,
                                  .episodes = 10,
                                  .return_mean = mean,
                                  .return_std = 2,
                                  .confirmed = confirmed};
}

TEST(a_screening_leads_until_a_better_one_was_confirmed)
{
    const struct {
        aq_evaluation_result best;
        double mean;
        bool leads;
    } rows[] = {
        {{0}, -500, true},
        {made(1, 100, false), 50, true}, /* that may have been luck */
        {made(1, 100, true), 101, true},
        {made(1, 100, true), 100, false},
    };
    EACH_ROW(i, rows) {
        const aq_evaluation_result screening = made(2, rows[i].mean, false);
        assert_int_equal(aq_ranking_leads(&rows[i].best, &screening), rows[i].leads);
    }
}

TEST(fresh_episodes_of_the_best_take_its_luck_away)
{
    aq_evaluation_result best = {0};
    const aq_evaluation_result lucky = made(1, 100, true), more = made(1, 70, true);
    const aq_evaluation_result other = made(2, 90, true);
    assert_true(aq_ranking_take(&best, &lucky, false));
    assert_false(aq_ranking_take(&best, &other, false));
    assert_true(aq_ranking_take(&best, &more, false));
    assert_int_equal(best.episodes, 20);
    assert_near(best.return_mean, 85, 1e-9);
    /* Of 10 at each of two means 30 apart: 2 x 9 x 4 + 900 x 100 / 20 over 19. */
    assert_near(best.return_std, sqrt(4572.0 / 19), 1e-9);
    assert_true(aq_ranking_take(&best, &other, false));
    assert_int_equal(best.version, 2);
}

TEST(what_an_older_checkpoint_brought_is_replaced_by_fresh_episodes)
{
    aq_evaluation_result best = {.version = 1, .return_mean = 100, .confirmed = true};
    const aq_evaluation_result more = made(1, 70, true);
    assert_true(aq_ranking_take(&best, &more, false));
    assert_true(best.return_mean == 70 && best.return_std == 2 && best.episodes == 10);
}
