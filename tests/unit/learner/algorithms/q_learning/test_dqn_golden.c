/*
 * Ten steps against an independent implementation in double precision: tools/golden_dqn.py wrote
 * what goes in and what must come out, and says what the records mean.
 *
 *   test_dqn_golden FILE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <math.h>

#include "common/base/parse.h"
#include "tests/support/test.h"
#include "tests/unit/learner/agent_kit.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { LINE_MAX_BYTES = 16384, NUMBERS_MAX = 2048, STEPS = 10, CASES = 4 };

/* What single precision may differ by after ten steps. */
static const double tolerance = 1e-5;

static const char golden_path[] = AQ_GOLDEN_DIR "/learner/dqn_10_steps.txt";

typedef struct reader {
    FILE *file;
    char line[LINE_MAX_BYTES];
    double numbers[NUMBERS_MAX];
    size_t count;
} reader;

/* The next record, which must be of this kind; returns what follows the kind. */
static const char *next_text(reader *r, const char *kind)
{
    size_t length = strlen(kind);

    do {
        if (fgets(r->line, sizeof(r->line), r->file) == NULL) {
            fail_msg("the file ends where '%s' should be", kind);
        }
    } while (r->line[0] == '#');
    assert_non_null(strchr(r->line, '\n'));
    *strchr(r->line, '\n') = '\0';
    if (strncmp(r->line, kind, length) != 0) {
        fail_msg("'%.20s' where '%s' should be", r->line, kind);
    }
    return r->line[length] == ',' ? r->line + length + 1 : "";
}

/* The same, for a record of numbers. */
static const double *next_numbers(reader *r, const char *kind)
{
    char *at = r->line + (next_text(r, kind) - r->line);

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

static void near(const reader *r, const float *got, size_t count, const char *what)
{
    assert_int_equal(r->count, count);
    for (size_t i = 0; i < count; i++) {
        if (!(fabs(got[i] - r->numbers[i]) <= tolerance)) {
            fail_msg("%s %zu: %.9g, not %.9g", what, i, (double)got[i], r->numbers[i]);
        }
    }
}

typedef struct golden_case {
    aq_run_config config;
    aq_schema schema;
    uint32_t rows;
} golden_case;

static void read_case(reader *r, golden_case *ret_case)
{
    static const char *const activations[] = {"relu", "tanh", "elu"};
    aq_run_config *config = &ret_case->config;
    const double *numbers;
    const char *text;

    fixture_config(config);
    next_text(r, "case");
    numbers = next_numbers(r, "net");
    fixture_schema((uint32_t)numbers[0], (uint32_t)numbers[1], &ret_case->schema);
    ret_case->rows = (uint32_t)numbers[2];
    config->learner.batch_size = ret_case->rows;
    text = next_text(r, "hidden");
    assert_int_equal(aq_text_set(config->learner.hidden, AQ_RUN_TEXT_MAX, text), 0);
    text = next_text(r, "activation");
    config->learner.activation = 0;
    while (strcmp(activations[config->learner.activation], text) != 0) {
        config->learner.activation++;
        assert_true(config->learner.activation < 3);
    }
    numbers = next_numbers(r, "adam");
    config->learner.learning_rate = numbers[0];
    config->learner.adam_epsilon = numbers[1];
    numbers = next_numbers(r, "loss");
    config->learner.huber_delta = numbers[0];
    config->learner.gradient_clip = numbers[1];
    config->learner.target_period = (uint64_t)numbers[2];
}

static void read_batch(reader *r, aq_batch *batch, uint32_t inputs)
{
    next_floats(r, "obs", fixture_obs(batch), (size_t)batch->rows * inputs);
    next_floats(r, "next_obs", fixture_next_obs(batch), (size_t)batch->rows * inputs);
    next_numbers(r, "action");
    assert_int_equal(r->count, batch->rows);
    for (uint32_t i = 0; i < batch->rows; i++) {
        fixture_set_action(batch, i, (int32_t)r->numbers[i]);
    }
    next_floats(r, "reward", batch->reward, batch->rows);
    next_floats(r, "bootstrap", batch->bootstrap, batch->rows);
    next_floats(r, "weight", batch->weight, batch->rows);
}

static void check_case(reader *r)
{
    aq_agent *algorithm;
    kept_state s;
    aq_batch *batch;
    golden_case c;

    read_case(r, &c);
    algorithm = fixture_algorithm(&c.config, &c.schema, 1);
    batch = fixture_batch(&c.schema, c.rows);
    s = agent_state(algorithm);
    next_floats(r, "parameters", s.parameters, s.count);
    memcpy(s.target, s.parameters, s.count * sizeof(float));
    agent_resume_at(algorithm, 0);
    for (int step = 0; step < STEPS; step++) {
        aq_update_report stats;

        read_batch(r, batch, c.schema.obs.shape[0]);
        assert_int_equal(aq_agent_train(algorithm, batch, &stats), 0);
        next_numbers(r, "step");
        assert_int_equal(r->count, 3);
        assert_near(stats.metrics[METRIC_LOSS], r->numbers[0], tolerance);
        assert_near(stats.metrics[METRIC_Q_MEAN], r->numbers[1], tolerance);
        assert_near(stats.metrics[METRIC_GRADIENT_NORM], r->numbers[2], tolerance);
    }
    next_numbers(r, "online");
    near(r, s.parameters, s.count, "online");
    next_numbers(r, "target");
    near(r, s.target, s.count, "target");
    aq_agent_destroy(algorithm);
    aq_batch_destroy(batch);
}

TEST(ten_steps_agree_with_the_reference)
{
    static reader r;

    r.file = fopen(golden_path, "r");
    assert_non_null(r.file);
    for (int i = 0; i < CASES; i++) {
        check_case(&r);
    }
    assert_null(fgets(r.line, sizeof(r.line), r.file));
    fclose(r.file);
}
