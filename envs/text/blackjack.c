/*
 * The dealer draws when the player sticks, and the card that lies hidden is one of those: as cards
 * do not depend on one another, nobody can tell.
 */
#include "envs/text/blackjack.h"

#include <math.h>

enum { STICK, HIT, ACTIONS };
enum { ACE = 1, TEN = 10, RANKS = 13, ACE_MORE = 10, GOAL = 21, DEALER_STANDS = 17 };
enum { SUMS = 32, CARDS = 11, STATES = SUMS * CARDS * 2 };

#define NATURAL_PAYS 1.5f

typedef struct hand {
    uint32_t hard; /* sum, with aces as 1 */
    uint32_t cards;
    bool has_ace;
} hand;

typedef struct blackjack {
    bool is_sab, pays_naturals;
} blackjack;

typedef struct blackjack_state {
    hand player, dealer; /* the dealer's open card alone */
} blackjack_state;

/* ---- hands ---------------------------------------------------------------------------------- */

static void take_card(hand *h, aq_rng *rng)
{
    const uint32_t rank = 1 + (uint32_t)aq_rng_below(rng, RANKS);
    h->hard += rank < TEN ? rank : TEN;
    h->has_ace = h->has_ace || rank == ACE;
    h->cards++;
}

static bool is_soft(const hand *h)
{
    return h->has_ace && h->hard + ACE_MORE <= GOAL;
}

static uint32_t sum_of(const hand *h)
{
    return is_soft(h) ? h->hard + ACE_MORE : h->hard;
}

static bool is_natural(const hand *h)
{
    return h->cards == 2 && sum_of(h) == GOAL;
}

/* ---- the task ------------------------------------------------------------------------------- */

static int open_task(void *params, aq_env_opening *opening, aq_error *error)
{
    blackjack *rules = params;
    int rc = aq_env_option_bool(opening->options, "sab", &rules->is_sab, error);
    if (rc == 0) {
        rc = aq_env_option_bool(opening->options, "natural", &rules->pays_naturals, error);
    }
    return rc;
}

static void schema(const void *params, aq_schema *ret_schema)
{
    (void)params;
    aq_space_init_discrete(&ret_schema->obs, STATES);
    aq_space_init_discrete(&ret_schema->action, ACTIONS);
}

static void observe(const void *params, const void *state, void *obs)
{
    const blackjack_state *s = state;
    (void)params;
    const uint32_t seen = (sum_of(&s->player) * CARDS + s->dealer.hard) * 2 + is_soft(&s->player);
    *(int32_t *)obs = (int32_t)seen;
}

static bool reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    blackjack_state *s = state;
    *s = (blackjack_state){0};
    take_card(&s->dealer, rng);
    take_card(&s->player, rng);
    take_card(&s->player, rng);
    observe(params, s, obs);
    return true;
}

/* The player sticks with a hand that is not lost. */
static float settle(const blackjack *rules, const hand *player, hand dealer, aq_rng *rng)
{
    while (dealer.cards < 2 || sum_of(&dealer) < DEALER_STANDS) {
        take_card(&dealer, rng);
    }
    const uint32_t of_player = sum_of(player), of_dealer = sum_of(&dealer);
    if (rules->is_sab && is_natural(player) && !is_natural(&dealer)) {
        return 1.0f;
    }
    if (of_dealer > GOAL || of_player > of_dealer) {
        const bool pays_more = rules->pays_naturals && is_natural(player); /* not sab: see above */
        return pays_more ? NATURAL_PAYS : 1.0f;
    }
    return of_player == of_dealer ? 0.0f : -1.0f;
}

static enum aq_step_end step(const void *params, void *state, aq_rng *rng, const void *action,
                             void *obs, float *reward)
{
    blackjack_state *s = state;
    bool is_over = true;
    if (*(const int32_t *)action == HIT) {
        take_card(&s->player, rng);
        is_over = sum_of(&s->player) > GOAL;
        *reward = is_over ? -1.0f : 0.0f;
    } else {
        *reward = settle(params, &s->player, s->dealer, rng);
    }
    observe(params, s, obs);
    return is_over ? AQ_STEP_TERMINATED : AQ_STEP_GOES_ON;
}

/* Two bars of 21 places: the dealer's card above, the player's sum below, with what an ace adds in
 * the ace's colour; the sum of a hand that is lost is as long as fits. */
static void draw(const void *params, const void *state, aq_canvas *canvas)
{
    enum { ROWS = 5, OF_DEALER = 1, OF_PLAYER = 3 };
    const blackjack_state *s = state;
    const uint32_t sum = sum_of(&s->player);
    const aq_colour felt = {30, 90, 60}, place = {24, 74, 49}, card = {235, 235, 230},
                    ace = {240, 190, 60}, lost = {190, 50, 60};
    (void)params;
    aq_canvas_fill(canvas, felt);
    for (uint32_t i = 0; i < GOAL; i++) {
        aq_canvas_cell(canvas, ROWS, GOAL, OF_DEALER, i,
                       i >= s->dealer.hard     ? place
                       : s->dealer.hard == ACE ? ace
                                               : card);
        aq_canvas_cell(canvas, ROWS, GOAL, OF_PLAYER, i,
                       i >= sum              ? place
                       : sum > GOAL          ? lost
                       : i >= s->player.hard ? ace
                                             : card);
    }
}

const aq_env_class aq_blackjack_v1 = {
    .name = "gym:Blackjack-v1",
    .summary = "Play a hand of cards against a dealer; a table of states.",
    .options = "sab, natural",
    .reward_threshold = NAN,
    .params_bytes = sizeof(blackjack),
    .state_bytes = sizeof(blackjack_state),
    .defaults = &(const blackjack){.is_sab = true},
    .open = open_task,
    .schema = schema,
    .reset = reset,
    .step = step,
    .observe = observe,
    .draw = draw,
};
