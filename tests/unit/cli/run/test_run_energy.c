/*
 * energy.json as the command line reads it, and the line that it makes of it.
 */
#include "cli/run/run_energy.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

static const char good[] =
    "{\"format\": 1, \"source\": \"model\", \"wall_s\": 10.0, \"cpu_s\": 14.0, \"energy_j\": "
    "2500.0,"
    " \"idle_j\": 12.5, \"roles\": {\"learner\": {\"cpu_s\": 10.0, \"energy_j\": 1500.0},"
    " \"actor\": {\"cpu_s\": 3.0, \"energy_j\": 750.0},"
    " \"evaluator\": {\"cpu_s\": 0, \"energy_j\": 0},"
    " \"replay\": {\"cpu_s\": 1.0, \"energy_j\": 250.0}},"
    " \"carbon\": {\"carbon_g\": 0.25, \"g_per_kwh\": 360.0}, \"model\": {\"energy_j\": 2600.0}, "
    "\"later\": {}}";

static int read_text(void **state, const char *text, aq_run_energy *energy, aq_error *error)
{
    file_put_text(cli_path(state, "energy.json"), text);
    return aq_run_energy_read(*state, energy, error);
}

TEST_IN_FOLDER(what_a_run_took_is_read)
{
    aq_run_energy energy;
    assert_int_equal(read_text(state, good, &energy, NULL), 0);
    assert_string_equal(energy.source, "model");
    assert_true(energy.cpu_s == 14 && energy.energy_j == 2500 && energy.model_j == 2600);
    assert_true(energy.idle_j == 12.5 && energy.carbon_g == 0.25);
    assert_true(energy.role_j[0] == 1500 && energy.role_j[1] == 750);
    assert_true(energy.role_j[2] == 0 && energy.role_cpu_s[3] == 1);
}

TEST_IN_FOLDER(the_line_names_the_source)
{
    aq_run_energy energy;
    char line[AQ_ENERGY_LINE_MAX];
    assert_int_equal(read_text(state, good, &energy, NULL), 0);
    assert_string_equal(aq_run_energy_line(&energy, line),
                        "2.5 kJ by a model of processor time, and 12.5 J idle; learner 60 %, "
                        "actors 30 %, evaluators 0 %, replay 10 %; 0.25 gCO2");
    strcpy(energy.source, "rapl");
    energy.energy_j = 3.21e6;
    assert_says(aq_run_energy_line(&energy, line), "3.21 MJ by rapl, and 12.5 J idle");
    energy.energy_j = 999.6;
    assert_says(aq_run_energy_line(&energy, line), "1 kJ by rapl");
}

TEST(a_run_that_took_nothing_has_no_shares)
{
    aq_run_energy energy = {.source = "model"};
    char line[AQ_ENERGY_LINE_MAX];
    assert_says(aq_run_energy_line(&energy, line), "0 J by");
    assert_says(line, "learner -");
}

TEST_IN_FOLDER(a_run_without_the_file_is_told_apart)
{
    aq_run_energy energy;
    assert_int_equal(aq_run_energy_read(*state, &energy, NULL), AQ_E_NOT_FOUND);
}

TEST_IN_FOLDER(a_file_that_is_something_else_is_refused)
{
    static const char *const texts[] = {
        "",
        "[1]",
        "{\"source\": \"model\"}",
        "{\"source\": \"a-long-source\", \"wall_s\": 1.0, \"cpu_s\": 1.0, \"energy_j\": 1.0,"
        " \"idle_j\": 1.0, \"roles\": {}, \"carbon\": {\"carbon_g\": 1.0}}",
        "{\"source\": \"model\", \"wall_s\": 1.0, \"cpu_s\": 1.0, \"energy_j\": -1.0,"
        " \"idle_j\": 1.0, \"roles\": {}, \"carbon\": {\"carbon_g\": 1.0}}",
        "{\"source\": \"model\", \"wall_s\": 1.0, \"cpu_s\": 1.0, \"energy_j\": 1.0,"
        " \"idle_j\": 1.0, \"roles\": {}, \"carbon\": {\"carbon_g\": 1.0}}",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        aq_run_energy energy = {.cpu_s = 77};
        assert_refused(read_text(state, texts[i], &energy, &refusal), AQ_E_CORRUPT, "energy.json");
        assert_true(energy.cpu_s == 77);
    }
}
