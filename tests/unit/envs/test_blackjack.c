/*
 * Blackjack against the rules of Gymnasium's, solved here by dynamic programming over the cards
 * that may come: what the best policy earns is known, and playing it earns that.
 */
#include "envs/text/blackjack.h"
#include "tests/support/test.h"
#include "tests/unit/envs/env_lane.h"

enum { STICK, HIT, GOAL = 21, BUST = 22, DEALER_STANDS = 17, CARDS = 10, HARD = 32 };

typedef struct rules {
    bool is_sab, pays_naturals;
} rules;

static double chance_of(int card)
{
    return card == 10 ? 4.0 / 13 : 1.0 / 13;
}

static int sum_of(int hard, bool ace)
{
    return ace && hard + 10 <= GOAL ? hard + 10 : hard;
}

/* The chances of what the dealer comes to, 17 to 21 or more, from a hand. */
static void deal(int hard, bool ace, int cards, double chance, double out[BUST + 1])
{
    const int sum = sum_of(hard, ace);
    if (cards >= 2 && sum >= DEALER_STANDS) {
        out[sum > GOAL ? BUST : sum] += chance;
        return;
    }
    for (int card = 1; card <= CARDS; card++) {
        deal(hard + card, ace || card == 1, cards + 1, chance * chance_of(card), out);
    }
}

static double dealer[CARDS + 1][BUST + 1];

static double stick_value(int sum, int open)
{
    double value = dealer[open][BUST];
    for (int other = DEALER_STANDS; other <= GOAL; other++) {
        value += dealer[open][other] * (sum > other ? 1 : sum < other ? -1 : 0);
    }
    return value;
}

static double best_value(int hard, bool ace, int open);

static double hit_value(int hard, bool ace, int open)
{
    double value = 0;
    for (int card = 1; card <= CARDS; card++) {
        const bool has_ace = ace || card == 1;
        value +=
            chance_of(card) *
            (sum_of(hard + card, has_ace) > GOAL ? -1 : best_value(hard + card, has_ace, open));
    }
    return value;
}

static double kept[HARD][2][CARDS + 1];

static double best_value(int hard, bool ace, int open)
{
    double *value = &kept[hard][ace][open];
    if (isnan(*value)) {
        *value = fmax(stick_value(sum_of(hard, ace), open), hit_value(hard, ace, open));
    }
    return *value;
}

/* With a natural one sticks, by any of the rules. */
static double natural_value(rules by, int open)
{
    const double other = open == 1 ? 4.0 / 13 : open == 10 ? 1.0 / 13 : 0; /* is a natural, too */
    const double draw = by.is_sab ? other : dealer[open][GOAL];
    return (1 - draw) * (!by.is_sab && by.pays_naturals ? 1.5 : 1);
}

static void solve(void)
{
    memset(dealer, 0, sizeof(dealer));
    for (int open = 1; open <= CARDS; open++) {
        deal(open, open == 1, 1, 1, dealer[open]);
    }
    for (size_t i = 0; i < sizeof(kept) / sizeof(double); i++) {
        ((double *)kept)[i] = NAN;
    }
}

static double game_value(rules by)
{
    double value = 0;
    for (int open = 1; open <= CARDS; open++) {
        for (int a = 1; a <= CARDS; a++) {
            for (int b = 1; b <= CARDS; b++) {
                const bool ace = a == 1 || b == 1;
                const double chance = chance_of(open) * chance_of(a) * chance_of(b);
                value += chance * (sum_of(a + b, ace) == GOAL ? natural_value(by, open)
                                                              : best_value(a + b, ace, open));
            }
        }
    }
    return value;
}

/* Mean return of playing as was found to be best. The number of what is seen says it all but for
 * aces that count as 1, which change nothing. */
static double play(const char *name, rules by, int hands)
{
    const aq_env *env = env_lane_open(name);
    uint8_t *state = aq_alloc(1, env->class->state_bytes);
    aq_rng rng = rng_of(7, 0);
    double sum = 0;
    for (int n = 0; n < hands; n++) {
        int32_t seen;
        enum aq_step_end end = AQ_STEP_GOES_ON;
        env->class->reset(env->params, state, &rng, &seen);
        const int shown = seen / 2 % 11;
        const bool wins = by.is_sab && seen / 22 == GOAL && shown > 1 && shown < 10;
        float reward = 0;
        while (end == AQ_STEP_GOES_ON) {
            const bool soft = seen % 2;
            const int open = seen / 2 % 11, total = seen / 22, hard = soft ? total - 10 : total;
            const int32_t action =
                hit_value(hard, soft, open) > stick_value(total, open) ? HIT : STICK;
            end = env->class->step(env->params, state, &rng, &action, &seen, &reward);
            sum += (double)reward;
        }
        assert_true(!wins || reward == 1.0f); /* whatever the dealer draws to: it has no natural */
    }
    aq_free(state);
    return sum / hands;
}

TEST(the_best_policy_earns_what_is_known)
{
    static const struct {
        const char *task;
        rules by;
        double value;
    } rows[] = {{"gym:Blackjack-v1", {true, false}, -0.0431},
                {"gym:Blackjack-v1?sab=no", {false, false}, -0.0466},
                {"gym:Blackjack-v1?sab=no&natural=yes", {false, true}, -0.0257}};
    const int hands = (int)test_rounds(200000);
    solve();
    EACH_ROW(i, rows) {
        assert_near(game_value(rows[i].by), rows[i].value, 1e-4);
        assert_near(play(rows[i].task, rows[i].by, hands), rows[i].value, 4 * 0.96 / sqrt(hands));
    }
}
