/*
 * Two walks over the roster: what is outstanding in all, then who gets how much of the rest.
 */
#include "replay/shard/replay_credit.h"

#include "common/base/assert.h"

#define ANSWER_INTERVAL_MIN_NS      (2 * AQ_NS_PER_MS)
#define ANSWER_INTERVAL_MAX_NS      (100 * AQ_NS_PER_MS)
#define ANSWER_INTERVAL_PER_LIVE_NS (200 * AQ_NS_PER_US)

enum { PACE_MEAN_OF = 8 };

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void aq_replay_credit_init(aq_replay_credit *credit, const aq_run_settings *settings)
{
    const uint64_t lanes = aq_run_settings_lanes(settings);
    const uint64_t chunk_length = aq_run_settings_chunk_length(settings);
    *credit = (aq_replay_credit){
        .lanes = lanes,
        .rest_steps = lanes * settings->n_step - 1,
        .least_steps = most_of(chunk_length, lanes),
        .chunk_steps = chunk_length,
        .lane_steps = chunk_length * lanes,
        .was_asked = true, /* so the clock of demand begins as the other one */
    };
    AQ_ASSERT(credit->lane_steps >= 1);
}

static uint64_t outstanding(const aq_replay_actor *actor)
{
    return actor->granted > actor->received ? actor->granted - actor->received : 0;
}

/* Whole steps of all environments: a rest takes no part. */
static uint64_t usable(const aq_replay_credit *credit, const aq_replay_actor *actor)
{
    const uint64_t steps = outstanding(actor);
    return steps - steps % credit->lanes;
}

/* The time by a clock that stands still while nothing is missing. */
static int64_t demand_ns(const aq_replay_credit *credit, int64_t now_ns)
{
    return now_ns - credit->unasked_ns;
}

void aq_replay_credit_called(aq_replay_actor *actor, int64_t now_ns, uint64_t known_granted)
{
    AQ_ASSERT(known_granted <= AQ_CREDIT_COUNT_MAX);
    actor->polled = true;
    actor->polled_ns = now_ns;
    if (known_granted > actor->granted) {
        /* How much of it was spent is not known here. All of it is the guess that heals itself, as
         * aq_replay_credit_received ignores what still comes of it. */
        actor->received += known_granted - actor->granted;
        actor->granted = known_granted;
    }
}

uint64_t aq_replay_credit_overdraft(const aq_replay_credit *credit)
{
    return credit->lane_steps + credit->chunk_steps;
}

void aq_replay_credit_acknowledged(aq_replay_actor *actor, uint64_t steps)
{
    AQ_ASSERT(steps <= AQ_CREDIT_COUNT_MAX);
    actor->received = most_of(actor->received, steps);
}

static void owe(const aq_replay_credit *credit, aq_replay_actor *actor, int64_t now_ns)
{
    actor->owed = actor->granted;
    actor->owing_ns = demand_ns(credit, now_ns);
}

void aq_replay_credit_received(const aq_replay_credit *credit, aq_replay_actor *actor,
                               int64_t now_ns, uint64_t fresh)
{
    const int64_t took_ns = demand_ns(credit, now_ns) - actor->progress_ns;
    const int64_t before_ns = actor->pace_ns - actor->pace_ns / PACE_MEAN_OF;
    if (fresh > 0 && outstanding(actor) > 0) {
        actor->pace_ns = took_ns > before_ns ? took_ns : before_ns;
        actor->pace_ns = actor->pace_ns > 0 ? actor->pace_ns : 1;
    }
    actor->progress_ns = demand_ns(credit, now_ns);
    /* Still more than that was granted by an earlier incarnation of this shard, and was assumed to
     * have come. */
    actor->received = least_of(actor->received + fresh, actor->granted + credit->lanes);
    if (actor->received + credit->lanes > actor->owed) {
        owe(credit, actor, now_ns);
    }
    actor->is_late = actor->is_late && (fresh == 0 || usable(credit, actor) > 0);
}

static bool is_live(const aq_replay_actor *actor, int64_t now_ns)
{
    return actor->polled && now_ns - actor->polled_ns < AQ_CREDIT_LIVE_NS;
}

/* No progress for too long while the learner waits: what is outstanding is not expected any more.
 * */
static bool is_stuck(const aq_replay_credit *credit, const aq_replay_actor *actor, int64_t now_ns,
                     bool learner_waits)
{
    uint64_t steps = outstanding(actor);
    int64_t patience_ns = steps < credit->lane_steps ? AQ_CREDIT_PATIENCE_NS : AQ_CREDIT_LIVE_NS;
    return steps > 0 && learner_waits && now_ns - actor->progress_ns >= patience_ns;
}

/* What one actor that holds so much lacks of `target`; 0 when that is not worth a message, which
 * takes `*ret_least` at least. Who has nothing left to spend may hold much and still be unable to
 * make a step, so it is to have a step of all its environments on top. */
static uint64_t lack(const aq_replay_credit *credit, uint64_t held, uint64_t target,
                     uint64_t *ret_least)
{
    bool broke = held <= credit->rest_steps;
    uint64_t goal = broke ? most_of(target, held + credit->least_steps) : target;
    uint64_t least = broke ? credit->least_steps : most_of(target / 4, 1);
    *ret_least = least_of(least, target);
    return goal >= held + *ret_least ? goal - held : 0;
}

/* ---- on demand ----------------------------------------------------------------------------- */

static bool is_newcomer(const aq_replay_actor *actor)
{
    return actor->pace_ns == 0;
}

/* `others_wait`: somebody else has brought all that it was granted. */
static bool is_overdue(const aq_replay_credit *credit, const aq_replay_actor *actor, int64_t now_ns,
                       bool others_wait)
{
    int64_t patience_ns = AQ_CREDIT_LATE_TIMES * actor->pace_ns;
    patience_ns = patience_ns < AQ_CREDIT_PATIENCE_NS ? AQ_CREDIT_PATIENCE_NS : patience_ns;
    patience_ns = patience_ns > AQ_CREDIT_LATE_NS_MAX ? AQ_CREDIT_LATE_NS_MAX : patience_ns;
    return usable(credit, actor) > 0 &&
           (demand_ns(credit, now_ns) - actor->progress_ns >= patience_ns ||
            (others_wait && demand_ns(credit, now_ns) - actor->owing_ns >= AQ_CREDIT_LATE_NS_MAX));
}

/* Those who are counted on: the live ones that are not late. */
typedef struct counted_on {
    uint64_t count;
    uint64_t held; /* by them */
} counted_on;

static counted_on count_on(aq_replay_credit *credit, aq_replay_roster *roster, int64_t now_ns)
{
    counted_on those = {0};
    bool others_wait = false;
    const size_t count = aq_replay_roster_count(roster);
    for (size_t i = 0; i < count; i++) {
        const aq_replay_actor *actor = aq_replay_roster_at(roster, i);
        others_wait = others_wait || (is_live(actor, now_ns) && !actor->is_late &&
                                      !is_newcomer(actor) && usable(credit, actor) == 0);
    }
    credit->live = 0;
    for (size_t i = 0; i < count; i++) {
        aq_replay_actor *actor = aq_replay_roster_at(roster, i);
        if (is_live(actor, now_ns)) {
            credit->live++;
            actor->is_late = actor->is_late || is_overdue(credit, actor, now_ns, others_wait);
            those.count += !actor->is_late;
            those.held += actor->is_late ? 0 : usable(credit, actor);
        }
    }
    return those;
}

static uint64_t round_up(uint64_t steps, uint64_t to)
{
    return (steps + to - 1) / to * to;
}

/* A rest that makes no whole step is made whole, or is a part of the grant. */
static void grant(const aq_replay_credit *credit, aq_replay_actor *actor, int64_t now_ns,
                  uint64_t steps)
{
    const uint64_t held = usable(credit, actor);
    const uint64_t rest = outstanding(actor) - held;
    actor->granted = most_of(actor->granted, actor->received) + steps - rest;
    if (held == 0 || actor->is_late) {
        actor->progress_ns = demand_ns(credit, now_ns);
        owe(credit, actor, now_ns);
    }
}

/* What a live actor that is late is granted, nobody counting on it: a step, when it holds none, and
 * where nobody is counted on, another when it has brought none for long. */
static uint64_t chance(const aq_replay_credit *credit, const aq_replay_actor *actor, int64_t now_ns,
                       bool is_last_hope)
{
    const bool is_due =
        is_last_hope && demand_ns(credit, now_ns) - actor->progress_ns >= AQ_CREDIT_LIVE_NS;
    return usable(credit, actor) == 0 || is_due ? credit->lanes : 0;
}

/* Everybody who is counted on is filled up to one level, and who has never brought anything to a
 * step; by turns where that takes more than is missing. */
static void share_demand(aq_replay_credit *credit, uint64_t missing, aq_replay_roster *roster,
                         int64_t now_ns)
{
    credit->unasked_ns += credit->was_asked ? 0 : now_ns - credit->shared_ns;
    credit->shared_ns = now_ns;
    credit->was_asked = missing > 0;
    const counted_on those = count_on(credit, roster, now_ns);
    if (missing == 0) {
        return;
    }
    const size_t count = aq_replay_roster_count(roster);
    const size_t start = credit->turn < count ? credit->turn : 0;
    const uint64_t among = most_of(those.count, 1);
    const uint64_t level = round_up((missing + among - 1) / among, credit->lanes);
    uint64_t left = missing > those.held ? missing - those.held : 0;
    for (size_t i = 0; i < count; i++) {
        aq_replay_actor *actor = aq_replay_roster_at(roster, (start + i) % count);
        if (!is_live(actor, now_ns)) {
            continue;
        }
        if (actor->is_late) {
            const uint64_t steps = chance(credit, actor, now_ns, those.count == 0);
            if (steps > 0) {
                grant(credit, actor, now_ns, steps);
            }
            continue;
        }
        const uint64_t goal = is_newcomer(actor) ? credit->lanes : level;
        const uint64_t held = usable(credit, actor);
        const uint64_t wanted = goal > held ? goal - held : 0;
        const uint64_t give = round_up(least_of(wanted, left), credit->lanes);
        if (give > 0) {
            grant(credit, actor, now_ns, give);
            left -= least_of(give, left);
            credit->turn = (start + i) % count + 1;
        }
    }
}

/* ---- as far as there is room ---------------------------------------------------------------- */

void aq_replay_credit_share(aq_replay_credit *credit, const aq_credit_supply *supply,
                            aq_replay_roster *roster, int64_t now_ns)
{
    if (supply->is_paced) {
        share_demand(credit, supply->headroom, roster, now_ns);
        return;
    }
    bool learner_waits = supply->learner_waits;
    uint64_t headroom = supply->headroom;
    size_t count = aq_replay_roster_count(roster);
    uint64_t taken = 0;
    credit->live = 0;
    for (size_t i = 0; i < count; i++) {
        const aq_replay_actor *actor = aq_replay_roster_at(roster, i);
        if (is_live(actor, now_ns)) {
            credit->live++;
            taken += is_stuck(credit, actor, now_ns, learner_waits) ? 0 : outstanding(actor);
        }
    }
    if (credit->live == 0 || taken >= headroom) {
        return;
    }
    uint64_t free_steps = headroom - taken;
    /* Not more than is always allowed while the learner waits, or a wait for a whole portion could
     * be a wait for ever. */
    uint64_t lanes = least_of(credit->lane_steps, supply->width);
    uint64_t target = most_of(headroom / credit->live, lanes);
    size_t start = credit->turn < count ? credit->turn : 0;
    for (size_t i = 0; i < count && free_steps > 0; i++) {
        size_t at = (start + i) % count;
        aq_replay_actor *actor = aq_replay_roster_at(roster, at);
        if (!is_live(actor, now_ns)) {
            continue;
        }
        uint64_t held = outstanding(actor);
        uint64_t give, least;
        if (is_stuck(credit, actor, now_ns, learner_waits)) {
            give = held < credit->lane_steps ? credit->lane_steps - held : 0;
        } else {
            give = lack(credit, held, target, &least);
            if (give > 0 && free_steps < least) {
                break; /* it is this one's turn: those who ask for less must not get all there is */
            }
            give = least_of(give, free_steps);
        }
        if (give > 0) {
            actor->granted = most_of(actor->granted, actor->received) + give;
            actor->progress_ns = now_ns;
            free_steps -= least_of(give, free_steps);
            credit->turn = at + 1;
        }
    }
}

bool aq_replay_credit_due(const aq_replay_credit *credit, const aq_replay_actor *actor,
                          int64_t now_ns, uint64_t known_acknowledged, uint64_t known_granted)
{
    if (!actor->answered) {
        return true;
    }
    bool more_credit = actor->granted > known_granted;
    bool broke = known_granted <= actor->received + credit->rest_steps;
    if (more_credit && broke) {
        return true;
    }
    int64_t interval_ns = (int64_t)credit->live * ANSWER_INTERVAL_PER_LIVE_NS;
    if (interval_ns < ANSWER_INTERVAL_MIN_NS) {
        interval_ns = ANSWER_INTERVAL_MIN_NS;
    }
    if (interval_ns > ANSWER_INTERVAL_MAX_NS) {
        interval_ns = ANSWER_INTERVAL_MAX_NS;
    }
    if (now_ns - actor->answered_ns < interval_ns) {
        return false;
    }
    return more_credit || actor->sequence.acknowledged > known_acknowledged ||
           actor->sequence.gaps != actor->told_gaps;
}

void aq_replay_credit_answered(aq_replay_actor *actor, int64_t now_ns)
{
    actor->answered = true;
    actor->answered_ns = now_ns;
    actor->told_gaps = actor->sequence.gaps;
}
