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
    const uint64_t lanes = settings->config.actor.envs;
    const uint64_t chunk_length = settings->config.replay.chunk_length;
    *credit = (aq_replay_credit){
        .lanes = lanes,
        .rest_steps = lanes * settings->n_step - 1,
        .least_steps = most_of(chunk_length, lanes),
        .chunk_steps = chunk_length,
        .lane_steps = chunk_length * lanes,
    };
    AQ_ASSERT(credit->lane_steps >= 1);
}

static uint64_t outstanding(const aq_replay_actor *actor)
{
    return actor->granted > actor->received ? actor->granted - actor->received : 0;
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

void aq_replay_credit_received(const aq_replay_credit *credit, aq_replay_actor *actor,
                               int64_t now_ns, uint64_t fresh)
{
    const int64_t took_ns = now_ns - actor->progress_ns;
    const int64_t before_ns = actor->pace_ns - actor->pace_ns / PACE_MEAN_OF;
    if (outstanding(actor) > 0) {
        actor->pace_ns = took_ns > before_ns ? took_ns : before_ns;
    }
    actor->progress_ns = now_ns;
    /* Still more than that was granted by an earlier incarnation of this shard, and was assumed to
     * have come. */
    actor->received = least_of(actor->received + fresh, actor->granted + credit->lanes);
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

/* Whole steps of all environments: a rest takes no part. */
static uint64_t usable(const aq_replay_credit *credit, const aq_replay_actor *actor)
{
    const uint64_t steps = outstanding(actor);
    return steps - steps % credit->lanes;
}

static bool is_late(const aq_replay_credit *credit, const aq_replay_actor *actor, int64_t now_ns)
{
    int64_t patience_ns = AQ_CREDIT_LATE_TIMES * actor->pace_ns;
    if (actor->pace_ns == 0) {
        patience_ns = AQ_CREDIT_LIVE_NS;
    } else if (patience_ns < AQ_CREDIT_PATIENCE_NS) {
        patience_ns = AQ_CREDIT_PATIENCE_NS;
    } else if (patience_ns > AQ_CREDIT_LATE_NS_MAX) {
        patience_ns = AQ_CREDIT_LATE_NS_MAX;
    }
    return usable(credit, actor) > 0 && now_ns - actor->progress_ns >= patience_ns;
}

/* Those who are counted on: the live ones that are not late, or all live ones. */
typedef struct counted_on {
    bool with_late;
    uint64_t count;
    uint64_t held; /* by them; where all are late, as if they held nothing */
} counted_on;

static counted_on count_on(aq_replay_credit *credit, const aq_replay_roster *roster, int64_t now_ns)
{
    counted_on others = {.with_late = false};
    credit->live = 0;
    for (size_t i = 0; i < aq_replay_roster_count(roster); i++) {
        const aq_replay_actor *actor = aq_replay_roster_at(roster, i);
        if (is_live(actor, now_ns)) {
            credit->live++;
            if (!is_late(credit, actor, now_ns)) {
                others.count++;
                others.held += usable(credit, actor);
            }
        }
    }
    if (others.count == 0) {
        others.with_late = true;
        others.count = credit->live;
    }
    return others;
}

static uint64_t round_up(uint64_t steps, uint64_t to)
{
    return (steps + to - 1) / to * to;
}

/* Everybody who is counted on is filled up to one level, by turns where that takes more than is
 * missing. */
static void share_demand(aq_replay_credit *credit, uint64_t missing, aq_replay_roster *roster,
                         int64_t now_ns)
{
    const counted_on those = count_on(credit, roster, now_ns);
    if (those.count == 0 || those.held >= missing) {
        return;
    }
    const size_t count = aq_replay_roster_count(roster);
    const uint64_t level = round_up((missing + those.count - 1) / those.count, credit->lanes);
    const size_t start = credit->turn < count ? credit->turn : 0;
    uint64_t left = missing - those.held;
    for (size_t i = 0; i < count && left > 0; i++) {
        aq_replay_actor *actor = aq_replay_roster_at(roster, (start + i) % count);
        const bool late = is_late(credit, actor, now_ns);
        if (!is_live(actor, now_ns) || (late && !those.with_late)) {
            continue;
        }
        const uint64_t held = late ? 0 : usable(credit, actor);
        const uint64_t wanted = level > held ? level - held : 0;
        const uint64_t give = round_up(least_of(wanted, left), credit->lanes);
        if (give > 0) {
            const uint64_t rest = late ? 0 : outstanding(actor) - held;
            actor->granted = most_of(actor->granted, actor->received) + give - rest;
            actor->progress_ns = now_ns;
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
