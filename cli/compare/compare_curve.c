/*
 * Compare curve: see compare_curve.h.
 */
#include "cli/compare/compare_curve.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/run/run_lines.h"
#include "cli/text/command.h"
#include "common/base/parse.h"

/* By role and state: for people, and in metrics.jsonl below "time", with "_s" behind it. */
static const aq_compare_state_words states[AQ_TIME_STATES] = {
    [AQ_TIME_ACTOR_INFERENCE] = {"actors", "inference", "inference"},
    [AQ_TIME_ACTOR_ENVIRONMENT] = {"actors", "environment", "environment"},
    [AQ_TIME_ACTOR_WAITING] = {"actors", "waiting", "waiting for replay"},
    [AQ_TIME_ACTOR_OTHER] = {"actors", "other", "the rest: gradients, packing, sending, idle"},
    [AQ_TIME_LEARNER_TRAINING] = {"learner", "training", "training"},
    [AQ_TIME_LEARNER_EXCHANGE] = {"learner", "exchange", "exchanging gradients"},
    [AQ_TIME_LEARNER_WAITING] = {"learner", "waiting", "waiting for samples"},
    [AQ_TIME_LEARNER_PUBLISHING] = {"learner", "publishing", "handing policies over"},
    [AQ_TIME_STAGE_QUANTIZING] = {"learner", "quantizing", "quantizing and publishing (beside)"},
    [AQ_TIME_REPLAY_INSERTING] = {"replay", "inserting", "steps came"},
    [AQ_TIME_REPLAY_SAMPLING] = {"replay", "sampling", "samples given"},
};

const aq_compare_state_words *aq_compare_state_at(int state)
{
    return &states[state];
}

/* Of a rank of the learner, in seconds. */
typedef struct rank_time {
    double waiting; /* or exchanging */
    double all;
} rank_time;

/* Runs from before there was an exchange have none. */
static rank_time rank_time_of(const json_t *rank)
{
    const double exchange = aq_json_number_of(rank, "exchange_s");
    const double waiting =
        aq_json_number_of(rank, "waiting_s") + (isfinite(exchange) ? exchange : 0);
    return (rank_time){.waiting = waiting,
                       .all = waiting + aq_json_number_of(rank, "training_s") +
                              aq_json_number_of(rank, "publishing_s")};
}

/* What a learner tells of its own life. */
typedef struct life_figures {
    double states[AQ_TIME_STATES];
    double actor_steps;
    rank_time ranks[AQ_CURVE_RANKS];
    uint64_t behind[AQ_CURVE_BINS];
} life_figures;

/* A run may have several lives. */
typedef struct life_times {
    life_figures now;    /* newest; 0 before any */
    life_figures before; /* of lives that have ended */
} life_times;

static double time_of(const json_t *times, int state)
{
    char key[32];
    (void)snprintf(key, sizeof(key), "%s_s", states[state].key);
    return aq_json_number_of(json_object_get(times, states[state].role), key);
}

/* Whether the run was gone on with, or its learner died. */
static bool begins_anew(const life_times *life, const json_t *times)
{
    double before = 0, now = 0;
    for (int i = 0; i < AQ_TIME_STATES; i++) {
        const double seconds = time_of(times, i);
        if (strcmp(states[i].role, "learner") == 0 && isfinite(seconds)) {
            before += life->now.states[i];
            now += seconds;
        }
    }
    return now < before;
}

static void end_life(life_times *life)
{
    const life_figures *now = &life->now;
    life_figures *before = &life->before;
    for (int i = 0; i < AQ_TIME_STATES; i++) {
        before->states[i] += now->states[i];
    }
    for (int i = 0; i < AQ_CURVE_RANKS; i++) {
        before->ranks[i].waiting += now->ranks[i].waiting;
        before->ranks[i].all += now->ranks[i].all;
    }
    for (int i = 0; i < AQ_CURVE_BINS; i++) {
        before->behind[i] += now->behind[i];
    }
    before->actor_steps += now->actor_steps;
    life->now = (life_figures){0};
}

static void take_ranks(aq_compare_curve *curve, life_times *life, const json_t *learner)
{
    const json_t *others = json_object_get(learner, "other_ranks");
    for (size_t i = 0; i < AQ_CURVE_RANKS; i++) {
        const rank_time told = rank_time_of(i == 0 ? learner : json_array_get(others, i - 1));
        if (told.all > 0) { /* not of a rank that there is not */
            const rank_time *before = &life->before.ranks[i];
            life->now.ranks[i] = told;
            curve->rank_waits[i] = (before->waiting + told.waiting) / (before->all + told.all);
        }
    }
}

static void take_times(aq_compare_curve *curve, life_times *life, const json_t *times)
{
    if (begins_anew(life, times)) {
        end_life(life);
    }
    take_ranks(curve, life, json_object_get(times, "learner"));
    const double steps = aq_json_number_of(json_object_get(times, "actors"), "env_steps");
    if (isfinite(steps)) {
        life->now.actor_steps = steps;
        curve->actor_steps = life->before.actor_steps + steps;
    }
    for (int i = 0; i < AQ_TIME_STATES; i++) {
        const double seconds = time_of(times, i);
        if (isfinite(seconds)) {
            life->now.states[i] = seconds;
            curve->states[i] = life->before.states[i] + seconds;
        }
    }
}

/* What progress lines have of the last second, and the curve the mean of. */
enum { SECOND_STALENESS, SECOND_NOISE, SECOND_COSINE, SECOND_EXCHANGED, SECOND_FIGURES };

static const char *const second_keys[SECOND_FIGURES] = {"staleness", "noise_scale",
                                                        "gradient_cosine", "exchange_bytes"};

typedef struct curve_reader {
    aq_compare_curve *curve;
    life_times life;
    double told_s; /* when the last line of progress was; NaN: none yet */
    double sums[SECOND_FIGURES];
    double seconds[SECOND_FIGURES]; /* that those stand for */
    double ranks;
} curve_reader;

/* Progress and end say the same things of the run as a whole; the last of them counts. */
static void take_totals(curve_reader *reader, const json_t *line)
{
    aq_compare_curve *curve = reader->curve;
    const double wall_s = aq_json_number_of(line, "wall_s");
    curve->lost_s += curve->wall_s > wall_s ? curve->wall_s - wall_s : 0;
    curve->wall_s = wall_s;
    curve->env_steps = (double)aq_json_count_of(line, "env_steps");
    curve->learner_steps = (double)aq_json_count_of(line, "learner_steps");
    curve->policy_versions = (double)aq_json_count_of(line, "policy_versions");
    curve->policy_fallbacks = (double)aq_json_count_of(line, "policy_fallbacks");
    curve->broadcast_bytes = (double)aq_json_count_of(line, "broadcast_bytes");
    curve->broadcast_bytes_fp32 = (double)aq_json_count_of(line, "broadcast_bytes_fp32");
    take_times(curve, &reader->life, json_object_get(line, "time"));
}

static void take_end(curve_reader *reader, const json_t *line)
{
    aq_compare_curve *curve = reader->curve;
    const char *state = json_string_value(json_object_get(line, "state"));
    char end[sizeof(curve->end)] = "";
    if (aq_text_set(end, sizeof(end), state ? state : "") < 0) {
        return; /* longer than any state: the line is broken */
    }
    memcpy(curve->end, end, sizeof(end));
    take_totals(reader, line);
    curve->gap = aq_json_number_of(json_object_get(line, "precision_gap"), "mean");
}

/* Noise goes over decades, so its logarithm is what is added up. Of an old run not every
 * second has a line: one stands for all since the one before. */
static void take_second(curve_reader *reader, const json_t *line)
{
    const double wall_s = aq_json_number_of(line, "wall_s");
    const double seconds = fmax(1, round(wall_s - reader->told_s));
    reader->told_s = isfinite(wall_s) ? wall_s : reader->told_s;
    const double ranks = aq_json_number_of(line, "ranks");
    reader->ranks = isfinite(ranks) ? ranks : reader->ranks;
    for (int i = 0; i < SECOND_FIGURES; i++) {
        const double told = aq_json_number_of(line, second_keys[i]);
        const double value = i == SECOND_NOISE ? log(told) : told;
        if (isfinite(value)) {
            reader->sums[i] += seconds * value;
            reader->seconds[i] += seconds;
        }
    }
}

static double mean_second(const curve_reader *reader, int figure)
{
    return reader->seconds[figure] > 0 ? reader->sums[figure] / reader->seconds[figure]
                                       : (double)NAN;
}

static void take_behind(aq_compare_curve *curve, life_times *life, const json_t *bins)
{
    const size_t count = json_array_size(bins);
    if (count == 0) {
        return;
    }
    memset(life->now.behind, 0, sizeof(life->now.behind));
    for (size_t i = 0; i < count; i++) {
        const json_int_t rows = json_integer_value(json_array_get(bins, i));
        life->now.behind[i < AQ_CURVE_BINS ? i : AQ_CURVE_BINS - 1] +=
            rows > 0 ? (uint64_t)rows : 0;
    }
    for (size_t i = 0; i < AQ_CURVE_BINS; i++) {
        curve->behind[i] = life->before.behind[i] + life->now.behind[i];
    }
}

/* Of a step, wherever shards have it: what a start has read back, and what is beyond
 * replay.memory_bytes, lies in mapped files, which bytes_per_step leaves out. */
static double row_bytes_of(const json_t *replay)
{
    const double stored = aq_json_number_of(replay, "stored");
    const double bytes = aq_json_number_of(replay, "bytes");
    return stored > 0 && bytes > 0 ? bytes / stored : aq_json_number_of(replay, "bytes_per_step");
}

/* What the learner tells of shards and actors, as of now. */
static void take_members(aq_compare_curve *curve, const json_t *line)
{
    const double row_bytes = row_bytes_of(json_object_get(line, "replay"));
    const double actors = aq_json_number_of(line, "actors");
    if (row_bytes > 0) { /* not known before there are any */
        curve->row_bytes = row_bytes;
    }
    if (actors > 0) {
        curve->actors = actors;
    }
}

static void take_event(curve_reader *reader, const char *event, const json_t *line)
{
    aq_compare_curve *curve = reader->curve;
    if (strcmp(event, "end") == 0) {
        take_end(reader, line);
    } else if (strcmp(event, "progress") == 0) {
        take_totals(reader, line);
        take_second(reader, line);
        take_members(curve, line);
        take_behind(curve, &reader->life,
                    json_object_get(json_object_get(line, "replay_use"), "staleness"));
        curve->end[0] = '\0'; /* it was resumed */
    }
}

static int take_line(void *user, const char *text)
{
    json_t *line = json_loads(text, 0, NULL);
    const char *event = json_string_value(json_object_get(line, "event"));
    if (event) {
        take_event(user, event, line);
    }
    json_decref(line);
    return 0;
}

aq_compare_curve aq_compare_curve_none(void)
{
    aq_compare_curve curve = {.wall_s = NAN,
                              .actor_steps = NAN,
                              .gap = NAN,
                              .staleness = NAN,
                              .noise_scale = NAN,
                              .gradient_cosine = NAN,
                              .gradient_bytes = NAN,
                              .row_bytes = NAN,
                              .actors = NAN};
    for (int i = 0; i < AQ_TIME_STATES; i++) {
        curve.states[i] = NAN;
    }
    for (int i = 0; i < AQ_CURVE_RANKS; i++) {
        curve.rank_waits[i] = NAN;
    }
    return curve;
}

int aq_compare_curve_read(const char *folder, aq_compare_curve *ret_curve, aq_error *error)
{
    aq_compare_curve curve = aq_compare_curve_none();
    curve_reader reader = {.curve = &curve, .ranks = 1, .told_s = NAN};
    static const char *const quantity = "return";
    int rc = aq_run_lines_read(folder, take_line, &reader, error);
    rc = rc != 0 ? rc : aq_run_series_read(folder, &quantity, 1, &curve.returns, error);
    if (rc != 0) {
        return rc;
    }
    curve.staleness = mean_second(&reader, SECOND_STALENESS);
    curve.noise_scale = exp(mean_second(&reader, SECOND_NOISE));
    curve.gradient_cosine = mean_second(&reader, SECOND_COSINE);
    curve.gradient_bytes = reader.ranks * mean_second(&reader, SECOND_EXCHANGED);
    *ret_curve = curve;
    return 0;
}

void aq_compare_curve_fini(aq_compare_curve *curve)
{
    aq_run_series_fini(&curve->returns);
    *curve = (aq_compare_curve){0};
}

size_t aq_compare_curve_crossing(const aq_compare_curve *curve, double threshold)
{
    for (size_t i = AQ_RUNNING_WINDOW - 1; i < curve->returns.count; i++) {
        double sum = 0; /* anew at each point: a running sum would carry its rounding along */
        for (size_t j = i + 1 - AQ_RUNNING_WINDOW; j <= i; j++) {
            sum += curve->returns.points[j].value;
        }
        if (sum / AQ_RUNNING_WINDOW >= threshold) {
            return i;
        }
    }
    return curve->returns.count;
}

double aq_compare_curve_final(const aq_compare_curve *curve)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = curve->returns.count; i-- > 0;) {
        if (count > 0 && curve->returns.points[i].env_steps < 0.9 * curve->env_steps) {
            break;
        }
        sum += curve->returns.points[i].value;
        count++;
    }
    return count > 0 ? sum / (double)count : (double)NAN;
}
