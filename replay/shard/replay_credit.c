/*
 * Two walks over the roster: what is outstanding in all, then who gets how much of the rest.
 */
#include "replay/shard/replay_credit.h"

#include "common/base/assert.h"
#include "replay/shard/replay_demand.h"

#define ANSWER_INTERVAL_MIN_NS      (2 * AQ_NS_PER_MS)
#define ANSWER_INTERVAL_MAX_NS      (100 * AQ_NS_PER_MS)
#define ANSWER_INTERVAL_PER_LIVE_NS (200 * AQ_NS_PER_US)

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

uint64_t aq_replay_credit_outstanding(const aq_replay_actor *actor)
{
    return actor->granted > actor->received ? actor->granted - actor->received : 0;
}

void aq_replay_credit_grant(aq_replay_actor *actor, uint64_t steps)
{
    actor->granted = most_of(actor->granted, actor->received) + steps;
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
    const uint64_t before = aq_replay_credit_outstanding(actor);
    /* Still more than that was granted by an earlier incarnation of this shard, and was assumed to
     * have come. */
    actor->received = least_of(actor->received + fresh, actor->granted + credit->lanes);
    actor->brought += fresh;
    aq_replay_demand_received(credit, actor, now_ns, fresh, before);
}

bool aq_replay_credit_is_live(const aq_replay_actor *actor, int64_t now_ns)
{
    return actor->polled && now_ns - actor->polled_ns < AQ_CREDIT_LIVE_NS;
}

/* No progress for too long while the learner waits: what is outstanding is not expected any
 * more. */
static bool is_stuck(const aq_replay_credit *credit, const aq_replay_actor *actor, int64_t now_ns,
                     bool learner_waits)
{
    uint64_t steps = aq_replay_credit_outstanding(actor);
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

static bool is_newcomer(const aq_replay_actor *actor)
{
    return actor->brought == 0;
}

/* What is held and is expected to come. */
typedef struct shares {
    uint64_t taken;
    uint64_t by_newcomers; /* of it */
    uint64_t workers;      /* live actors that have brought something */
} shares;

static shares count_shares(aq_replay_credit *credit, bool learner_waits, aq_replay_roster *roster,
                           int64_t now_ns)
{
    shares sum = {0};
    credit->live = 0;
    for (size_t i = 0; i < aq_replay_roster_count(roster); i++) {
        aq_replay_actor *actor = aq_replay_roster_at(roster, i);
        if (!aq_replay_credit_is_live(actor, now_ns)) {
            continue;
        }
        credit->live++;
        if (is_stuck(credit, actor, now_ns, learner_waits)) {
            actor->brought = 0;
        } else if (!is_newcomer(actor)) {
            sum.taken += aq_replay_credit_outstanding(actor);
            sum.workers++;
        } else if (now_ns - actor->progress_ns < AQ_CREDIT_PATIENCE_NS) {
            sum.taken += aq_replay_credit_outstanding(actor);
            sum.by_newcomers += aq_replay_credit_outstanding(actor);
        }
    }
    return sum;
}

void aq_replay_credit_share(aq_replay_credit *credit, const aq_credit_supply *supply,
                            aq_replay_roster *roster, int64_t now_ns)
{
    if (supply->is_paced) {
        aq_replay_demand_share(credit, supply->headroom, roster, now_ns);
        return;
    }
    const uint64_t headroom = supply->headroom;
    const size_t count = aq_replay_roster_count(roster);
    const shares sum = count_shares(credit, supply->learner_waits, roster, now_ns);
    if (credit->live == 0 || sum.taken >= headroom) {
        return;
    }
    uint64_t free_steps = headroom - sum.taken;
    /* Not more than is always allowed while the learner waits, or a wait for a whole portion could
     * be a wait for ever. */
    const uint64_t lanes = least_of(credit->lane_steps, supply->width);
    const uint64_t portion = most_of(headroom / most_of(sum.workers, 1), lanes);
    const uint64_t for_newcomers = sum.workers > 0 ? most_of(headroom / 4, lanes) : headroom;
    uint64_t by_newcomers = sum.by_newcomers;
    size_t start = credit->turn < count ? credit->turn : 0;
    for (size_t i = 0; i < count && free_steps > 0; i++) {
        size_t at = (start + i) % count;
        aq_replay_actor *actor = aq_replay_roster_at(roster, at);
        if (!aq_replay_credit_is_live(actor, now_ns)) {
            continue;
        }
        const uint64_t held = aq_replay_credit_outstanding(actor);
        const uint64_t to_lanes = credit->lane_steps > held ? credit->lane_steps - held : 0;
        uint64_t give = to_lanes, least;
        if (!is_stuck(credit, actor, now_ns, supply->learner_waits)) {
            give = lack(credit, held, least_of(portion, most_of(lanes, actor->brought)), &least);
            give = is_newcomer(actor) ? least_of(give, to_lanes) : give;
            if (is_newcomer(actor) && by_newcomers > 0 && by_newcomers + give > for_newcomers) {
                continue;
            }
            if (give > 0 && free_steps < least) {
                break; /* it is this one's turn: those who ask for less must not get all there is */
            }
            give = least_of(give, free_steps);
        }
        if (give > 0) {
            aq_replay_credit_grant(actor, give);
            actor->progress_ns = now_ns;
            free_steps -= least_of(give, free_steps);
            by_newcomers += is_newcomer(actor) ? give : 0;
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
