/*
 * Shard turns: see shard_turns.h.
 */
#include "learner/sampling/shard_turns.h"

#include <math.h>

#include "common/base/assert.h"

/* What a shard can be owed, or ahead, in requests. Whatever made it fall so far behind, asking
 * nobody else for longer than that would serve nobody. */
#define EARNED_MAX 64.0

void aq_shard_turn_init(aq_shard_turn *turn)
{
    *turn = (aq_shard_turn){.mass = NAN};
}

static bool is_known(const aq_shard_turn *turn)
{
    return !isnan(turn->mass);
}

/* What the turns come to, of those that take part. */
typedef struct field {
    bool heed_stalled; /* else all are stalled, which is as good as none */
    uint32_t open;
    uint32_t idle;   /* open, with nothing out */
    double mass;     /* of the known ones; 0: none has any */
    double stand_in; /* for a mass that is not known */
    double total;
} field;

static bool takes_part(const field *all, const aq_shard_turn *turn)
{
    return turn->open && !(all->heed_stalled && turn->stalled);
}

static double mass_of(const field *all, const aq_shard_turn *turn)
{
    return all->mass > 0 && is_known(turn) ? turn->mass : all->stand_in;
}

static field survey(const aq_shard_turn *turns, size_t count)
{
    field all = {.stand_in = 1};
    uint32_t known = 0;
    for (size_t i = 0; i < count; i++) {
        all.heed_stalled = all.heed_stalled || (turns[i].open && !turns[i].stalled);
        all.open += turns[i].open;
        all.idle += turns[i].open && turns[i].asked == 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (takes_part(&all, &turns[i]) && is_known(&turns[i])) {
            all.mass += turns[i].mass;
            known++;
        }
    }
    if (all.mass > 0) {
        all.stand_in = all.mass / known;
    }
    for (size_t i = 0; i < count; i++) {
        all.total += takes_part(&all, &turns[i]) ? mass_of(&all, &turns[i]) : 0;
    }
    return all;
}

static size_t find_due(const aq_shard_turn *turns, size_t count, const field *all)
{
    size_t due = count;
    double most = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (!takes_part(all, &turns[i])) {
            continue;
        }
        if (!is_known(&turns[i]) && turns[i].asked == 0) {
            return i;
        }
        double earned = turns[i].earned + mass_of(all, &turns[i]) / all->total;
        if (earned > most) {
            most = earned;
            due = i;
        }
    }
    return due;
}

static double bounded(double earned)
{
    return fmax(-EARNED_MAX, fmin(EARNED_MAX, earned));
}

size_t aq_shard_turns_next(aq_shard_turn *turns, size_t count, uint32_t requests_max)
{
    field all = survey(turns, count);
    size_t due = find_due(turns, count, &all);
    if (due == count) {
        return count;
    }
    uint32_t out = 0;
    for (size_t i = 0; i < count; i++) {
        out += turns[i].asked;
    }
    AQ_ASSERT(out < requests_max);
    uint32_t kept_free = all.idle - (turns[due].asked == 0);
    if (all.open <= requests_max && requests_max - out <= kept_free) {
        return count;
    }
    for (size_t i = 0; i < count; i++) {
        if (takes_part(&all, &turns[i])) {
            turns[i].earned = bounded(turns[i].earned + mass_of(&all, &turns[i]) / all.total);
        }
    }
    turns[due].earned = bounded(turns[due].earned - 1);
    turns[due].asked++;
    return due;
}

void aq_shard_turn_ended(aq_shard_turn *turn, bool brought)
{
    AQ_ASSERT(turn->asked > 0);
    turn->asked--;
    if (!brought) {
        turn->earned = bounded(turn->earned + 1);
    }
}
