/*
 * Sharing on demand: see replay_demand.h.
 */
#include "replay/shard/replay_demand.h"

enum { PACE_MEAN_OF = 8 };

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Whole steps of all environments: a rest takes no part. */
static uint64_t usable(const aq_replay_credit *credit, const aq_replay_actor *actor)
{
    const uint64_t steps = aq_replay_credit_outstanding(actor);
    return steps - steps % credit->lanes;
}

/* The time by a clock that stands still while nothing is missing. */
static int64_t demand_ns(const aq_replay_credit *credit, int64_t now_ns)
{
    return now_ns - credit->unasked_ns;
}

static void owe(const aq_replay_credit *credit, aq_replay_actor *actor, int64_t now_ns)
{
    actor->owed = actor->granted;
    actor->owing_ns = demand_ns(credit, now_ns);
}

void aq_replay_demand_received(const aq_replay_credit *credit, aq_replay_actor *actor,
                               int64_t now_ns, uint64_t fresh, uint64_t before)
{
    const int64_t took_ns = demand_ns(credit, now_ns) - actor->progress_ns;
    const int64_t before_ns = actor->pace_ns - actor->pace_ns / PACE_MEAN_OF;
    if (fresh > 0 && before > 0) {
        actor->pace_ns = took_ns > before_ns ? took_ns : before_ns;
        actor->pace_ns = actor->pace_ns > 0 ? actor->pace_ns : 1;
    }
    actor->progress_ns = demand_ns(credit, now_ns);
    if (actor->received + credit->lanes > actor->owed) {
        owe(credit, actor, now_ns);
    }
    actor->is_late = actor->is_late && (fresh == 0 || usable(credit, actor) > 0);
}

static bool is_newcomer(const aq_replay_actor *actor)
{
    return actor->pace_ns == 0;
}

/* `others_wait`: somebody else has brought all that it was granted. */
static bool is_overdue(const aq_replay_credit *credit, const aq_replay_actor *actor, int64_t now_ns,
                       bool others_wait)
{
    int64_t patience_ns = AQ_DEMAND_LATE_TIMES * actor->pace_ns;
    patience_ns = patience_ns < AQ_CREDIT_PATIENCE_NS ? AQ_CREDIT_PATIENCE_NS : patience_ns;
    patience_ns = patience_ns > AQ_DEMAND_LATE_NS_MAX ? AQ_DEMAND_LATE_NS_MAX : patience_ns;
    return usable(credit, actor) > 0 &&
           (demand_ns(credit, now_ns) - actor->progress_ns >= patience_ns ||
            (others_wait && demand_ns(credit, now_ns) - actor->owing_ns >= AQ_DEMAND_LATE_NS_MAX));
}

/* Those who are counted on: the live ones that are not late; newcomers where there is nobody
 * else. */
typedef struct counted_on {
    uint64_t count;
    uint64_t held; /* by them */
    bool are_newcomers;
} counted_on;

static counted_on count_on(aq_replay_credit *credit, aq_replay_roster *roster, int64_t now_ns)
{
    counted_on workers = {0};
    counted_on newcomers = {.are_newcomers = true};
    bool others_wait = false;
    const size_t count = aq_replay_roster_count(roster);
    for (size_t i = 0; i < count; i++) {
        const aq_replay_actor *actor = aq_replay_roster_at(roster, i);
        others_wait = others_wait || (aq_replay_credit_is_live(actor, now_ns) && !actor->is_late &&
                                      !is_newcomer(actor) && usable(credit, actor) == 0);
    }
    credit->live = 0;
    for (size_t i = 0; i < count; i++) {
        aq_replay_actor *actor = aq_replay_roster_at(roster, i);
        if (aq_replay_credit_is_live(actor, now_ns)) {
            credit->live++;
            actor->is_late = actor->is_late || is_overdue(credit, actor, now_ns, others_wait);
            counted_on *those = is_newcomer(actor) ? &newcomers : &workers;
            those->count += !actor->is_late;
            those->held += actor->is_late ? 0 : usable(credit, actor);
        }
    }
    return workers.count > 0 ? workers : newcomers;
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
    const uint64_t rest = aq_replay_credit_outstanding(actor) - held;
    aq_replay_credit_grant(actor, steps - rest);
    if (held == 0 || actor->is_late) {
        actor->progress_ns = demand_ns(credit, now_ns);
        owe(credit, actor, now_ns);
    }
}

/* What a live actor is granted that nobody counts on: a step, when it holds none, and where nobody
 * at all is counted on, another when it has brought none for long. */
static uint64_t chance(const aq_replay_credit *credit, const aq_replay_actor *actor, int64_t now_ns,
                       bool is_last_hope)
{
    const bool is_due =
        is_last_hope && demand_ns(credit, now_ns) - actor->progress_ns >= AQ_CREDIT_LIVE_NS;
    return usable(credit, actor) == 0 || is_due ? credit->lanes : 0;
}

/* Everybody who is counted on is filled up to one level, newcomers to a step; by turns where that
 * takes more than is missing. */
void aq_replay_demand_share(aq_replay_credit *credit, uint64_t missing, aq_replay_roster *roster,
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
    const uint64_t among = those.count > 0 ? those.count : 1;
    const uint64_t level = round_up((missing + among - 1) / among, credit->lanes);
    uint64_t left = missing > those.held ? missing - those.held : 0;
    for (size_t i = 0; i < count; i++) {
        aq_replay_actor *actor = aq_replay_roster_at(roster, (start + i) % count);
        if (!aq_replay_credit_is_live(actor, now_ns)) {
            continue;
        }
        if (actor->is_late || (is_newcomer(actor) && !those.are_newcomers)) {
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
