/*
 * Run verdict: see run_verdict.h.
 */
#include "learner/run/run_verdict.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/base/parse.h"
#include "common/base/plain_text.h"

/* A side that waits more than this share of the time is the faster one by far. */
#define WAITS_MUCH 0.3

/* A learner younger than this has every right to stand still for a moment. */
#define SETTLED_S 60.0

enum { FIGURE_MAX = 32 };

static void add(aq_verdict *verdict, enum aq_verdict_level level, const char *format, ...)
    AQ_PRINTF(3, 4);

/* A trouble may name a path, which need not be UTF-8, and JSON takes nothing else. */
static void add(aq_verdict *verdict, enum aq_verdict_level level, const char *format, ...)
{
    if (verdict->note_count == AQ_VERDICT_NOTES_MAX) {
        return;
    }
    aq_verdict_note *note = &verdict->notes[verdict->note_count++];
    char text[sizeof(note->text)];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    (void)aq_plain_text(note->text, sizeof(note->text), text);
    note->level = level;
    verdict->level = level > verdict->level ? level : verdict->level;
}

static const char *count_text(char room[FIGURE_MAX], uint64_t count)
{
    return aq_text_count(room, FIGURE_MAX, (double)count);
}

static const char *time_text(char room[FIGURE_MAX], double seconds)
{
    return aq_text_duration(room, FIGURE_MAX, seconds);
}

static const char *return_text(char room[FIGURE_MAX], double value)
{
    return aq_text_return(room, FIGURE_MAX, value, 1);
}

static int percent(double share)
{
    return (int)lround(100 * share);
}

/* ---- the headline --------------------------------------------------------------------------- */

static const char *const trend_texts[] = {
    [AQ_TREND_UNKNOWN] = "",
    [AQ_TREND_RISING] = ", rising",
    [AQ_TREND_LEVEL] = ", level",
    [AQ_TREND_FALLING] = ", falling",
};

static void say_training(const aq_run_facts *facts, char *text, size_t size)
{
    char now[FIGURE_MAX], threshold[FIGURE_MAX];
    if (!isfinite(facts->return_now)) {
        (void)snprintf(text, size, "Training; no return has been measured %s",
                       isfinite(facts->return_best) ? "since the learner was started" : "yet");
    } else if (isfinite(facts->threshold)) {
        (void)snprintf(text, size, "Training: return %s, solved at %s%s",
                       return_text(now, facts->return_now),
                       return_text(threshold, facts->threshold), trend_texts[facts->trend]);
    } else {
        (void)snprintf(text, size, "Training: return %s%s", return_text(now, facts->return_now),
                       trend_texts[facts->trend]);
    }
}

static void say_running(const aq_run_facts *facts, char *text, size_t size)
{
    char stored[FIGURE_MAX], needed[FIGURE_MAX];
    if (facts->shards == 0) {
        (void)snprintf(text, size, "Waiting for a replay shard to join");
    } else if (facts->learner_steps > 0) {
        say_training(facts, text, size);
    } else if (facts->actors == 0 && !facts->offline) {
        (void)snprintf(text, size, "Waiting for an actor to join");
    } else if (facts->stored < facts->needed) {
        (void)snprintf(text, size, "Gathering experience: %s of %s steps before training begins",
                       count_text(stored, facts->stored), count_text(needed, facts->needed));
    } else {
        (void)snprintf(text, size, "About to train");
    }
}

static void say_ended(const aq_run_facts *facts, char *text, size_t size)
{
    char took[FIGURE_MAX], steps[FIGURE_MAX], best[FIGURE_MAX];
    const char *how = facts->state == AQ_RUN_SOLVED   ? "Solved"
                      : facts->state == AQ_RUN_BUDGET ? "Ended at its limit"
                      : facts->state == AQ_RUN_STOPPED
                          ? "Stopped"
                          : "Diverged: losses were not finite any more";
    int length = snprintf(text, size, "%s, after %s and %s environment steps", how,
                          time_text(took, facts->wall_s), count_text(steps, facts->env_steps));
    if (isfinite(facts->return_best) && length > 0 && (size_t)length < size) {
        (void)snprintf(text + length, size - (size_t)length, "; best return %s%s",
                       return_text(best, facts->return_best),
                       facts->best_is_fresh ? "" : " (screening)");
    }
}

/* ---- notes ---------------------------------------------------------------------------------- */

static void note_members(const aq_run_facts *facts, aq_verdict *verdict)
{
    if (facts->shards < facts->shards_wanted) {
        add(verdict, facts->shards == 0 ? AQ_VERDICT_BAD : AQ_VERDICT_ATTENTION,
            "%" PRIu32 " of %" PRIu32 " replay shards are here.", facts->shards,
            facts->shards_wanted);
    }
    if (facts->actors == 0 && !facts->offline) {
        add(verdict, AQ_VERDICT_BAD, "No actor is here: no new experience comes.");
    }
    if (facts->evaluators == 0) {
        add(verdict, AQ_VERDICT_ATTENTION,
            "No evaluator is here: returns are not measured, and the run cannot be solved.");
    }
    if (facts->silent > 0) {
        add(verdict, AQ_VERDICT_ATTENTION, "%" PRIu32 " %s silent; see the members below.",
            facts->silent, facts->silent == 1 ? "member is" : "members are");
    }
    if (facts->trouble != NULL) {
        add(verdict, AQ_VERDICT_BAD, "The learner cannot keep or publish what it learns: %s.",
            facts->trouble);
    }
    if (facts->stuck > 0) {
        add(verdict, AQ_VERDICT_BAD,
            "%" PRIu32 " replay %s cannot write to its disk and acknowledges nothing.",
            facts->stuck, facts->stuck == 1 ? "shard" : "shards");
    }
}

static void note_learner_waits(const aq_run_facts *facts, bool actors_wait, aq_verdict *verdict)
{
    const int share = percent(facts->learner_waits);
    if (actors_wait) {
        add(verdict, AQ_VERDICT_ATTENTION,
            "The learner waits for samples %d %% of the time and actors wait as well: answers are "
            "slow to come, and processors or the network too busy.",
            share);
    } else if (facts->waits_for == AQ_VERDICT_WAITS_FOR_ACTORS) {
        add(verdict, AQ_VERDICT_ATTENTION,
            "The learner waits for samples %d %% of the time: more actors would help.", share);
    } else {
        add(verdict, AQ_VERDICT_ATTENTION,
            "The learner waits for samples %d %% of the time, for answers under way: a faster "
            "network to the shards, or more of them, would help.",
            share);
    }
}

/* Who is the slower side. */
static void note_pace(const aq_run_facts *facts, aq_verdict *verdict)
{
    const bool learner_waits = facts->learner_waits >= WAITS_MUCH;
    const bool actors_wait = facts->actors_wait >= WAITS_MUCH;
    if (learner_waits) {
        note_learner_waits(facts, actors_wait, verdict);
    }
    if (actors_wait && !learner_waits) {
        add(verdict, AQ_VERDICT_NOTE,
            "Actors wait for the learner %d %% of the time: fewer would do%s.",
            percent(facts->actors_wait),
            facts->queue ? "" : ", or a lower replay.samples_per_insert");
    }
    if (!learner_waits && !actors_wait && isfinite(facts->learner_waits) &&
        isfinite(facts->actors_wait) && facts->learner_steps > 0) {
        add(verdict, AQ_VERDICT_GOOD, "Learner and actors keep pace with each other.");
    }
}

static void note_training(const aq_run_facts *facts, aq_verdict *verdict)
{
    if (facts->learner_steps > 0 && facts->uptime_s > SETTLED_S && facts->shards > 0 &&
        facts->learner_steps_per_s <= 0) {
        add(verdict, AQ_VERDICT_BAD, "No training step was made in the last minute.");
    }
    if (facts->trend == AQ_TREND_FALLING) {
        char best[FIGURE_MAX];
        add(verdict, AQ_VERDICT_ATTENTION, "Returns have been falling lately; the best was %s.",
            return_text(best, facts->return_best));
    }
}

static void note_findings(const aq_findings *findings, aq_verdict *verdict)
{
    for (size_t i = 0; i < findings->count; i++) {
        const aq_finding *finding = &findings->rows[i];
        add(verdict, AQ_VERDICT_ATTENTION, "%c%s; try %s.", toupper(finding->words[0]),
            finding->words + 1, finding->setting);
    }
}

/* Seconds to a limit; infinite without one, or without a pace. */
static double left_s(uint64_t done, uint64_t limit, double per_s)
{
    if (limit == 0 || limit <= done || !(per_s > 0)) {
        return INFINITY;
    }
    return (double)(limit - done) / per_s;
}

static void note_end(const aq_run_facts *facts, aq_verdict *verdict)
{
    char when[FIGURE_MAX];
    const double by_steps =
        left_s(facts->env_steps, facts->env_steps_limit, facts->env_steps_per_s);
    const double by_training =
        left_s(facts->learner_steps, facts->learner_steps_limit, facts->learner_steps_per_s);
    const double by_time =
        facts->wall_limit_s > 0 ? fmax(0, facts->wall_limit_s - facts->wall_s) : INFINITY;
    const double left = fmin(by_steps, fmin(by_training, by_time));
    if (left > 0 && isfinite(left)) {
        add(verdict, AQ_VERDICT_NOTE,
            "Unless solved before, it ends in about %s, at its limit of %s.", time_text(when, left),
            left == by_time    ? "time"
            : left == by_steps ? "environment steps"
                               : "learner steps");
    }
}

void aq_verdict_of(const aq_run_facts *facts, aq_verdict *ret_verdict)
{
    aq_verdict verdict = {.level = AQ_VERDICT_GOOD};
    if (facts->state == AQ_RUN_RUNNING) {
        say_running(facts, verdict.headline, sizeof(verdict.headline));
        note_members(facts, &verdict);
        note_training(facts, &verdict);
        note_findings(&facts->findings, &verdict);
        note_pace(facts, &verdict);
        note_end(facts, &verdict);
    } else {
        say_ended(facts, verdict.headline, sizeof(verdict.headline));
        note_findings(&facts->findings, &verdict);
        verdict.level = facts->state == AQ_RUN_DIVERGED ? AQ_VERDICT_BAD : verdict.level;
    }
    *ret_verdict = verdict;
}

const char *aq_verdict_level_name(enum aq_verdict_level level)
{
    static const char *const names[] = {
        [AQ_VERDICT_GOOD] = "good",
        [AQ_VERDICT_NOTE] = "note",
        [AQ_VERDICT_ATTENTION] = "attention",
        [AQ_VERDICT_BAD] = "bad",
    };
    return names[level];
}
