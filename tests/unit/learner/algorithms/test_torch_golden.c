/*
 * Ten steps of each algorithm against PyTorch's: tests/golden/learner/make_torch_10_steps.py wrote
 * what goes in and what must come out, and says what the records mean. Also with two threads.
 *
 *   test_torch_golden FILE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <math.h>

#include "tests/support/test.h"
#include "tests/unit/learner/agent_kit.h"

enum { LINE_MAX_BYTES = 32768, NUMBERS_MAX = 4096, STEPS = 10, CASES = 7 };

/* What single precision may differ by after ten steps: Adam's first ones are as long for a gradient
 * of almost nothing as for any other. */
static const double tolerance = 2e-5;

static const char golden_path[] = AQ_GOLDEN_DIR "/learner/torch_10_steps.txt";

typedef struct reader {
    FILE *file;
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

/* What follows the kind of the next record, which must be this one. */
static const char *next_text(reader *r, const char *kind)
{
    const size_t length = strlen(kind);
    const char *line = look(r);

    if (strncmp(line, kind, length) != 0 || line[length] != ',') {
        fail_msg("'%.20s' where '%s' should be", line, kind);
    }
    r->is_kept = false;
    return line + length + 1;
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
        if (!(fabs((double)got[i] - r->numbers[i]) <= tolerance)) {
            fail_msg("%s %zu: %.9g, not %.9g", kind, i, (double)got[i], r->numbers[i]);
        }
    }
}

static void read_schema(reader *r, aq_schema *schema, uint32_t *ret_rows)
{
    const double *task = next_numbers(r, "task");
    float low[AQ_BOUNDS_MAX], high[AQ_BOUNDS_MAX];

    assert_true(r->count == 3 || r->count == 5);
    memset(schema, 0, sizeof(*schema));
    for (uint32_t i = 0; i < AQ_BOUNDS_MAX; i++) {
        low[i] = -100.0f;
        high[i] = 100.0f;
    }
    aq_space_init_box(&schema->obs, (uint32_t)task[0], low, high);
    *ret_rows = (uint32_t)task[2];
    if (r->count == 3) {
        aq_space_init_discrete(&schema->action, (uint32_t)task[1]);
        return;
    }
    for (uint32_t i = 0; i < AQ_BOUNDS_MAX; i++) {
        low[i] = (float)task[3];
        high[i] = (float)task[4];
    }
    aq_space_init_box(&schema->action, (uint32_t)task[1], low, high);
}

static void read_batch(reader *r, const aq_schema *schema, aq_batch *batch)
{
    const size_t obs = (size_t)batch->rows * aq_space_elements(&schema->obs);

    next_floats(r, "obs", (float *)(void *)batch->obs, obs);
    next_floats(r, "next_obs", (float *)(void *)batch->next_obs, obs);
    if (schema->action.kind == AQ_SPACE_BOX) {
        next_floats(r, "action", (float *)(void *)batch->action,
                    batch->rows * aq_space_elements(&schema->action));
    } else {
        next_numbers(r, "action");
        for (uint32_t i = 0; i < batch->rows; i++) {
            const int32_t action = (int32_t)r->numbers[i];
            memcpy(batch->action + i * sizeof(action), &action, sizeof(action));
        }
    }
    next_floats(r, "reward", batch->reward, batch->rows);
    next_floats(r, "bootstrap", batch->bootstrap, batch->rows);
    next_floats(r, "weight", batch->weight, batch->rows);
}

static void check_case(reader *r, uint64_t threads)
{
    const aq_algorithm_class *class = aq_algorithm_find(next_text(r, "case"));
    aq_agent *algorithm = NULL;
    kept_state s;
    aq_layout layout;
    aq_batch *batch = NULL;
    aq_run_config config;
    aq_schema schema;
    uint32_t rows;

    assert_non_null(class);
    aq_settings_init(aq_run_config_table(), &config);
    while (strncmp(look(r), "set,", 4) == 0) {
        assert_int_equal(
            aq_settings_assign(aq_run_config_table(), next_text(r, "set"), &config, NULL), 0);
    }
    read_schema(r, &schema, &rows);
    config.learner.batch_size = rows;
    config.learner.threads = threads;
    assert_int_equal(agent_try(class, &config, &schema, 1, &algorithm, NULL), 0);
    assert_int_equal(aq_layout_init(&schema, 1, 2, &layout, NULL), 0);
    assert_int_equal(aq_batch_create(&layout, 0, rows, &batch), 0);
    batch->rows = rows;
    s = agent_state(algorithm);
    next_floats(r, "parameters", s.parameters, s.count);
    memcpy(s.target, s.parameters, s.count * sizeof(float));
    agent_resume_at(algorithm, 0);
    for (int step = 0; step < STEPS; step++) {
        aq_update_report stats;

        read_batch(r, &schema, batch);
        assert_int_equal(aq_agent_train(algorithm, batch, &stats), 0);
        const float got[] = {(float)stats.metrics[METRIC_LOSS], (float)stats.metrics[METRIC_Q_MEAN],
                             (float)stats.metrics[METRIC_GRADIENT_NORM]};
        near(r, "step", got, 3);
        near(r, "priority", batch->priority, rows);
    }
    near(r, "online", s.parameters, s.count);
    near(r, "target", s.target, s.count);
    aq_agent_destroy(algorithm);
    aq_batch_destroy(batch);
}

static void check_all(uint64_t threads)
{
    static reader r;

    r.is_kept = false;
    r.file = fopen(golden_path, "r");
    assert_non_null(r.file);
    for (int i = 0; i < CASES; i++) {
        check_case(&r, threads);
    }
    assert_string_equal(look(&r), "");
    (void)fclose(r.file);
}

TEST(ten_steps_agree_with_pytorch)
{
    check_all(1);
}

TEST(threads_that_share_a_batch_agree_with_pytorch)
{
    check_all(2);
    check_all(3);
}
