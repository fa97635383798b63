/*
 * Ten steps of each algorithm against PyTorch's, in double precision:
 * tests/golden/learner/make_torch_10_steps.py wrote what goes in and what must come out, and says
 * what the records mean. Also with threads.
 */
#include "common/experience/column_catalog.h"
#include "common/policy/torso.h"
#include "learner/algorithms/on_policy/on_policy.h"
#include "tests/support/config_kit.h"
#include "tests/support/test.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { LINE_MAX_BYTES = 32768, NUMBERS_MAX = 4096, STEPS = 10 };

typedef struct reader {
    FILE *file;
    double tolerance; /* what a case may differ by after ten steps */
    char line[LINE_MAX_BYTES];
    bool is_kept; /* the line was looked at only */
    double numbers[NUMBERS_MAX];
    size_t count;
} reader;

/* The next line; "" at the end. */
static const char *look(reader *r)
{
    while (!r->is_kept) {
        if (fgets(r->line, sizeof(r->line), r->file) == NULL) {
            r->line[0] = '\0';
        } else {
            assert_non_null(strchr(r->line, '\n'));
            *strchr(r->line, '\n') = '\0';
        }
        r->is_kept = r->line[0] != '#';
    }
    return r->line;
}

static bool is_next(reader *r, const char *kind)
{
    const size_t length = strlen(kind);
    const char *line = look(r);
    return strncmp(line, kind, length) == 0 && line[length] == ',';
}

/* What follows the kind of the next record, which must be this one. */
static const char *next_text(reader *r, const char *kind)
{
    if (!is_next(r, kind)) {
        fail_msg("'%.20s' where '%s' should be", r->line, kind);
    }
    r->is_kept = false;
    return r->line + strlen(kind) + 1;
}

static const double *next_numbers(reader *r, const char *kind)
{
    const char *at = next_text(r, kind);
    r->count = 0;
    while (*at != '\0') {
        char *end;
        assert_true(r->count < NUMBERS_MAX);
        r->numbers[r->count++] = strtod(at, &end);
        assert_ptr_not_equal(at, end);
        at = *end == ',' ? end + 1 : end;
    }
    return r->numbers;
}

static void next_floats(reader *r, const char *kind, float *out, size_t count)
{
    next_numbers(r, kind);
    assert_int_equal(r->count, count);
    for (size_t i = 0; i < count; i++) {
        out[i] = (float)r->numbers[i];
    }
}

static void near(reader *r, const char *kind, const float *got, size_t count)
{
    next_numbers(r, kind);
    assert_int_equal(r->count, count);
    for (size_t i = 0; i < count; i++) {
        if (!(fabs((double)got[i] - r->numbers[i]) <= r->tolerance)) {
            fail_msg("%s %zu: %.9g, not %.9g", kind, i, (double)got[i], r->numbers[i]);
        }
    }
}

/* What is seen may be a picture. */
static void read_picture(reader *r, aq_space *space)
{
    if (is_next(r, "picture")) {
        const double *sides = next_numbers(r, "picture");
        space->rank = 3;
        for (uint32_t i = 0; i < 3; i++) {
            space->shape[i] = (uint32_t)sides[i];
        }
        space->bound_count = 1;
    }
}

static void read_counts(reader *r, aq_space *space)
{
    uint32_t counts[AQ_BOUNDS_MAX];
    if (strncmp(look(r), "choices,", 8) == 0) {
        const double *numbers = next_numbers(r, "choices");
        for (uint32_t i = 0; i < r->count; i++) {
            counts[i] = (uint32_t)numbers[i];
        }
        aq_space_init_choices(space, (uint32_t)r->count, counts);
    }
}

static aq_schema read_schema(reader *r, uint32_t *ret_rows)
{
    const double *task = next_numbers(r, "task");
    float low[AQ_BOUNDS_MAX], high[AQ_BOUNDS_MAX];
    aq_schema schema = {0};
    assert_true(r->count == 3 || r->count == 5);
    for (uint32_t i = 0; i < AQ_BOUNDS_MAX; i++) {
        low[i] = -100.0f;
        high[i] = 100.0f;
    }
    aq_space_init_box(&schema.obs, (uint32_t)task[0], low, high);
    *ret_rows = (uint32_t)task[2];
    if (r->count == 3) {
        aq_space_init_discrete(&schema.action, (uint32_t)task[1]);
        read_picture(r, &schema.obs);
        read_counts(r, &schema.action);
        return schema;
    }
    for (uint32_t i = 0; i < AQ_BOUNDS_MAX; i++) {
        low[i] = (float)task[3];
        high[i] = (float)task[4];
    }
    aq_space_init_box(&schema.action, (uint32_t)task[1], low, high);
    return schema;
}

static void read_choices(reader *r, aq_batch *batch)
{
    next_numbers(r, "action");
    int32_t *choices = (int32_t *)(void *)batch->action;
    assert_int_equal(r->count * sizeof(*choices), batch->rows * batch->steps * batch->action_bytes);
    for (uint32_t i = 0; i < r->count; i++) {
        choices[i] = (int32_t)r->numbers[i];
    }
}

static void read_batch(reader *r, const aq_schema *schema, aq_batch *batch)
{
    const size_t obs = (size_t)batch->rows * aq_space_elements(&schema->obs);
    next_floats(r, "obs", fixture_obs(batch), obs);
    next_floats(r, "next_obs", fixture_next_obs(batch), obs);
    if (schema->action.kind == AQ_SPACE_BOX) {
        next_floats(r, "action", (float *)(void *)batch->action,
                    batch->rows * aq_space_elements(&schema->action));
    } else {
        read_choices(r, batch);
    }
    next_floats(r, "reward", batch->reward, batch->rows);
    next_floats(r, "bootstrap", batch->bootstrap, batch->rows);
    next_floats(r, "weight", batch->weight, batch->rows);
}

static void read_sequences(reader *r, const aq_schema *schema, uint32_t state, aq_batch *batch)
{
    const size_t steps = (size_t)batch->rows * batch->steps;
    next_numbers(r, "length");
    for (uint32_t i = 0; i < batch->rows; i++) {
        batch->length[i] = (uint32_t)r->numbers[i];
    }
    next_floats(r, "obs", fixture_obs(batch),
                (steps + batch->rows) * aq_space_elements(&schema->obs));
    next_floats(r, "reward", batch->reward, steps);
    next_floats(r, "bootstrap", batch->bootstrap, steps);
    if (schema->action.kind == AQ_SPACE_BOX) {
        next_floats(r, "drawn", fixture_column(batch, "drawn"),
                    steps * aq_space_elements(&schema->action));
    } else {
        read_choices(r, batch);
    }
    if (is_next(r, "weight")) {
        next_floats(r, "weight", batch->weight, batch->rows);
    }
    if (is_next(r, "log_prob")) {
        next_floats(r, "log_prob", fixture_column(batch, "log_prob"), steps);
    }
    if (is_next(r, AQ_STATE_COLUMN)) {
        next_floats(r, AQ_STATE_COLUMN, fixture_column(batch, AQ_STATE_COLUMN),
                    (steps + batch->rows) * state);
    }
}

/* Everything that an update tells, or of values what all their algorithms tell. */
static void check_step(reader *r, const aq_update_report *report, bool has_values)
{
    static const int told[] = {METRIC_LOSS, METRIC_Q_MEAN, METRIC_GRADIENT_NORM};
    float got[AQ_ON_POLICY_METRICS];
    const size_t count = has_values ? 3 : AQ_ON_POLICY_METRICS;
    for (size_t i = 0; i < count; i++) {
        got[i] = (float)report->metrics[has_values ? (size_t)told[i] : i];
    }
    near(r, "step", got, count);
}

static const aq_algorithm_class *class_named(const char *name)
{
    for (size_t i = 0; i < aq_algorithm_count(); i++) {
        if (strcmp(aq_algorithm_at(i)->name, name) == 0) {
            return aq_algorithm_at(i);
        }
    }
    return NULL;
}

static void check_case(reader *r, double tolerance, uint64_t threads)
{
    const aq_algorithm_class *class = class_named(next_text(r, "case"));
    uint32_t rows;
    assert_non_null(class);
    const bool has_groups = class->needs.update == AQ_UPDATES_BY_GROUP;
    aq_run_config config = config_defaults();
    while (is_next(r, "set")) {
        assert_succeeds(
            aq_settings_assign(aq_run_config_table(), next_text(r, "set"), &config, NULL));
    }
    r->tolerance = tolerance;
    if (is_next(r, "tolerance")) {
        r->tolerance = *next_numbers(r, "tolerance");
    }
    const aq_schema schema = read_schema(r, &rows);
    const uint32_t length = (uint32_t)config.replay.sequence_length;
    const uint32_t state = aq_torso_state(config.learner.torso);
    config.learner.batch_size = rows;
    config.learner.group_steps = has_groups ? rows * length : 0;
    config.learner.threads = threads;
    aq_agent *algorithm = agent_of(class, &config, &schema, 1);
    aq_batch *batch = fixture_remembered(&schema, class->needs.columns, state, length, rows);
    const kept_state s = agent_state(algorithm);
    next_floats(r, "parameters", s.parameters, s.count);
    if (s.target_count > 0) {
        const size_t from = s.target_count == s.count ? 0 : aq_agent_policy(algorithm)->count;
        memcpy(s.target, s.parameters + from, s.target_count * sizeof(float));
    }
    agent_resume_at(algorithm, 0);
    for (int step = 0; step < STEPS; step++) {
        if (length > 0) {
            read_sequences(r, &schema, state, batch);
        } else {
            read_batch(r, &schema, batch);
        }
        const aq_update_report report = agent_train(algorithm, batch);
        check_step(r, &report, class->metrics.rows != aq_on_policy_metrics);
        if (is_next(r, "priority")) {
            near(r, "priority", batch->priority, rows);
        }
    }
    near(r, "online", s.parameters, s.count);
    if (s.target_count > 0) {
        near(r, "target", s.target, s.target_count);
    }
}

/* Adam's first steps are as long for a gradient of almost nothing as for any other. */
TEST(ten_steps_agree_with_pytorch_on_any_number_of_threads)
{
    enum { CASES = 57 };
    static reader r;
    for (uint64_t threads = 1; threads <= 3; threads++) {
        r.is_kept = false;
        r.file = fopen(AQ_GOLDEN_DIR "/learner/torch_10_steps.txt", "r");
        assert_non_null(r.file);
        for (int i = 0; i < CASES; i++) {
            check_case(&r, 2e-5, threads);
        }
        assert_string_equal(look(&r), "");
        (void)fclose(r.file);
    }
}
