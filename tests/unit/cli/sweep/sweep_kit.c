/*
 * For tests of sweeps: see sweep_kit.h.
 */
#include "tests/unit/cli/sweep/sweep_kit.h"

#include "cli/sweep/report/sweep_json.h"
#include "common/base/parse.h"
#include "tests/support/file_kit.h"

int __wrap_fdatasync(int file);
int __wrap_fsync(int file);

int __wrap_fdatasync(int file)
{
    (void)file;
    return 0;
}

int __wrap_fsync(int file)
{
    (void)file;
    return 0;
}

void sweep_spec(const char *yaml, aq_sweep_spec *ret_spec)
{
    assert_succeeds(aq_sweep_spec_read("s.yaml", yaml, strlen(yaml), ret_spec, &refusal));
}

void sweep_found(const char *dir, const char *yaml)
{
    sweep_found_with(dir, yaml, true);
}

void sweep_found_with(const char *dir, const char *yaml, bool is_resumed)
{
    static aq_sweep_spec spec;
    const aq_sweep_plan plan = {.steps = 1000, .is_resumed = is_resumed, .least_return = 20};
    aq_buffer *text = buffer_up_to(AQ_SWEEP_SPEC_BYTES_MAX);
    sweep_spec(yaml, &spec);
    assert_int_equal(aq_buffer_append(text, yaml, strlen(yaml)), 0);
    assert_succeeds(aq_sweep_desk_found(dir, &spec, text, &plan, 0, &refusal));
}

void sweep_hire(sweep_hand *hand, const char *dir, const char *name)
{
    *hand = (sweep_hand){0};
    assert_succeeds(aq_sweep_desk_open(dir, name, &hand->desk, &refusal));
    assert_succeeds(aq_sweep_presence_create(dir, name, &hand->presence, &refusal));
}

void sweep_dismiss(sweep_hand *hand)
{
    aq_sweep_presence_destroy(hand->presence);
    aq_sweep_desk_close(hand->desk);
    *hand = (sweep_hand){0};
}

static aq_sweep_outcome outcome_of(const aq_sweep_study *study, size_t run)
{
    const aq_sweep_stage *stage = &study->stages[study->runs[run].stage];
    const double steps = (double)aq_sweep_study_steps(study, stage->rung);
    double rate = 1e-3, batch = 32;
    aq_sweep_outcome outcome = {0};
    if (stage->kind != AQ_SWEEP_GIVEN) {
        assert_int_equal(aq_parse_f64(stage->point.values[0], &rate), 0);
        assert_int_equal(aq_parse_f64(stage->point.values[1], &batch), 0);
    }
    const double off = log10(rate) + 3;
    for (int i = 0; i < AQ_SWEEP_FIGURE_COUNT; i++) {
        outcome.figures[i] = steps;
    }
    outcome.figures[AQ_SWEEP_RETURN] =
        100 - 40 * off * off - log2(batch) + steps / 1e4 + (double)(study->runs[run].seed % 3) / 10;
    outcome.is_failed = batch >= 256;
    return outcome;
}

bool sweep_step(sweep_hand *hand, int64_t now_ns)
{
    const aq_sweep_now now = {(double)now_ns / 1e9, now_ns};
    if (hand->is_busy) {
        const aq_sweep_outcome outcome = outcome_of(aq_sweep_desk_study(hand->desk), hand->run);
        hand->is_busy = false;
        assert_succeeds(
            aq_sweep_desk_report(hand->desk, now, hand->run, hand->attempt, &outcome, &refusal));
        return true;
    }
    aq_sweep_errand errand;
    assert_succeeds(
        aq_sweep_desk_claim(hand->desk, now, &errand, &hand->run, &hand->attempt, &refusal));
    hand->is_busy = errand == AQ_SWEEP_RUN_IT;
    hand->is_over = errand == AQ_SWEEP_OVER;
    return hand->is_busy;
}

void sweep_all(const char *dir, size_t count, uint64_t seed)
{
    sweep_hand hands[HANDS_MAX];
    static unsigned hired; /* nobody has the name of another */
    aq_rng rng = rng_of(seed, 0);
    int64_t now_ns = 0;
    for (size_t i = 0; i < count; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "hand-%u", ++hired);
        sweep_hire(&hands[i], dir, name);
    }
    while (!hands[0].is_over) {
        (void)sweep_step(&hands[aq_rng_below(&rng, count)], now_ns += AQ_NS_PER_MS);
    }
    for (size_t i = 0; i < count; i++) {
        sweep_dismiss(&hands[i]);
    }
}

/* Behind what is of its run and those before, within the round, which begins at `begin`. */
static size_t place_of(json_t *events, size_t begin, const json_t *event)
{
    const json_int_t run = json_integer_value(json_object_get(event, "run"));
    size_t at = json_array_size(events);
    while (at > begin &&
           json_integer_value(json_object_get(json_array_get(events, at - 1), "run")) > run) {
        at--;
    }
    return at;
}

json_t *sweep_events(const char *dir)
{
    static const char *const of_workers[] = {"time_s", "n", "worker"};
    char line[1 << 16];
    json_t *events = cli_json(json_array());
    size_t begin = 0;
    FILE *file = fopen(file_in(dir, "journal.jsonl"), "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        json_t *event = json_loads(line + 9, 0, NULL);
        assert_non_null(event);
        EACH_ROW(i, of_workers) {
            (void)json_object_del(event, of_workers[i]);
        }
        const bool is_of_run = json_object_get(event, "run") != NULL;
        (void)json_array_insert_new(
            events, is_of_run ? place_of(events, begin, event) : json_array_size(events), event);
        begin = is_of_run ? begin : json_array_size(events);
    }
    (void)fclose(file);
    return events;
}

json_t *sweep_says(const char *dir)
{
    aq_sweep_desk *desk;
    aq_sweep_summary summary;
    assert_succeeds(aq_sweep_desk_open(dir, "", &desk, &refusal));
    assert_int_equal(aq_sweep_summary_make(aq_sweep_desk_study(desk), "D", &summary), 0);
    json_t *json = cli_json(aq_sweep_json(&summary));
    (void)json_object_del(json, "wall_s");
    aq_sweep_summary_fini(&summary);
    aq_sweep_desk_close(desk);
    return json;
}
