/*
 * energy.json: what it says, taking a run up from it, and files that are something else.
 */
#include <jansson.h>

#include "learner/metrics/energy_file.h"
#include "tests/support/test.h"
#include "tests/unit/learner/run_dir_fixture.h"

static void assert_close(double value, double wanted)
{
    assert_near(value, wanted, 1e-9 * fmax(1, fabs(wanted)));
}

static aq_energy_reading reading_of(const char *source, double cpu_s)
{
    aq_energy_reading reading = {
        .machine = UINT64_C(0xfedcba9876543210), .cpus = 2, .wall_s = 10, .cpu_s = cpu_s};
    (void)snprintf(reading.processor, sizeof(reading.processor), "AMD EPYC 7763 64-Core");
    (void)snprintf(reading.source, sizeof(reading.source), "%s", source);
    if (source[0] != '\0') {
        reading.machine_j = 600;
        reading.dram_j = 50;
        reading.idle_j = 200;
        reading.measured_j = 30 * cpu_s;
    }
    return reading;
}

static aq_energy_ledger ledger_of(const char *source, double tdp_w)
{
    aq_energy_ledger ledger;
    aq_energy_reading learner = reading_of(source, 8), actor = reading_of(source, 2);
    aq_energy_ledger_init(&ledger, tdp_w);
    aq_energy_ledger_told(&ledger, 10 * AQ_NS_PER_S, UINT64_C(0x8000000000000001),
                          AQ_ENERGY_LEARNER, &learner);
    aq_energy_ledger_told(&ledger, 10 * AQ_NS_PER_S, 2, AQ_ROLE_ACTOR, &actor);
    return ledger;
}

static json_t *file_of(aq_energy_ledger *ledger, const aq_energy_carbon *carbon)
{
    char *text = aq_energy_file_text(ledger, carbon, 12.5);
    json_t *file = json_loads(text, 0, NULL);
    aq_energy_file_text_free(text);
    assert_non_null(file);
    return file;
}

/* "a.b.c" within the file. */
static const json_t *at(const json_t *file, const char *path)
{
    char copy[64];
    char *saved = NULL;
    (void)snprintf(copy, sizeof(copy), "%s", path);
    for (char *key = strtok_r(copy, ".", &saved); key; key = strtok_r(NULL, ".", &saved)) {
        file = json_is_array(file) ? json_array_get(file, (size_t)atoi(key))
                                   : json_object_get(file, key);
    }
    assert_non_null(file);
    return file;
}

static void assert_number(const json_t *file, const char *path, double wanted)
{
    assert_close(json_number_value(at(file, path)), wanted);
}

static void assert_text(const json_t *file, const char *path, const char *wanted)
{
    assert_string_equal(json_string_value(at(file, path)), wanted);
}

/* ---- what it says -------------------------------------------------------------------------- */

TEST(the_model_says_what_it_rests_on)
{
    aq_energy_ledger ledger = ledger_of("", 0);
    aq_energy_carbon carbon = aq_energy_carbon_of("deu", 0, 1.5);
    json_t *file = file_of(&ledger, &carbon);
    const double cpu_w = 280.0 / 128;
    assert_number(file, "format", 1);
    assert_text(file, "source", "model");
    assert_number(file, "wall_s", 12.5);
    assert_number(file, "cpu_s", 10);
    assert_number(file, "energy_j", 10 * 0.9 * cpu_w);
    assert_number(file, "idle_j", 10 * 0.1 * 2 * cpu_w);
    assert_number(file, "roles.learner.cpu_s", 8);
    assert_number(file, "roles.learner.energy_j", 8 * 0.9 * cpu_w);
    assert_number(file, "roles.actor.energy_j", 2 * 0.9 * cpu_w);
    assert_number(file, "roles.evaluator.energy_j", 0);
    assert_number(file, "roles.replay.cpu_s", 0);
    assert_number(file, "model.idle_share", 0.1);
    assert_true(json_is_null(at(file, "measured")));
    assert_text(file, "machines.0.machine", "fedcba9876543210");
    assert_text(file, "machines.0.processor", "AMD EPYC 7763 64-Core");
    assert_number(file, "machines.0.processors", 2);
    assert_number(file, "machines.0.tdp_w", 2 * cpu_w);
    assert_number(file, "carbon.g_per_kwh", 381);
    assert_number(file, "carbon.pue", 1.5);
    assert_number(file, "carbon.carbon_g", 9 * cpu_w / 3.6e6 * 381 * 1.5);
    assert_text(file, "carbon.country.code", "DEU");
    assert_number(file, "carbon.country.year", 2023);
    json_decref(file);
    aq_energy_ledger_fini(&ledger);
}

TEST(what_was_measured_adds_up)
{
    aq_energy_ledger ledger = ledger_of("rapl", 100);
    aq_energy_carbon carbon = aq_energy_carbon_of("WORLD", 250, 1);
    json_t *file = file_of(&ledger, &carbon);
    assert_text(file, "source", "rapl");
    assert_number(file, "energy_j", 300);
    assert_number(file, "idle_j", 200);
    assert_number(file, "measured.machines_j", 600);
    assert_number(file, "measured.dram_j", 50);
    assert_number(file, "measured.others_j", 600 - 300 - 200);
    assert_number(file, "model.energy_j", 10 * 0.9 * 50); /* beside it */
    assert_number(file, "model.idle_j", 10 * 0.1 * 100);
    assert_number(file, "carbon.g_per_kwh", 250);
    assert_true(json_is_null(at(file, "carbon.country"))); /* somebody gave the number */
    json_decref(file);
    aq_energy_ledger_fini(&ledger);
}

TEST(the_table_is_named_with_its_year)
{
    char text[AQ_CARBON_TEXT_MAX];
    aq_energy_carbon table = aq_energy_carbon_of("FRA", 0, 1);
    aq_energy_carbon given = aq_energy_carbon_of("FRA", 12, 1);
    assert_says(aq_energy_carbon_text(&table, text), "France, 2023 (Our World in Data");
    assert_string_equal(aq_energy_carbon_text(&given, text), "energy.carbon_intensity");
}

/* ---- taking it up -------------------------------------------------------------------------- */

static void write_file(run_dir *dir, aq_energy_ledger *ledger)
{
    aq_energy_carbon carbon = aq_energy_carbon_of("WORLD", 0, 1);
    char *text = aq_energy_file_text(ledger, &carbon, 10);
    assert_int_equal(aq_energy_file_write(dir->path, text, NULL), 0);
    aq_energy_file_text_free(text);
}

TEST_IN(run_dir, dir, a_run_goes_on_from_what_it_took)
{
    aq_energy_ledger before = ledger_of("rapl", 100), after;
    write_file(dir, &before);
    aq_energy_ledger_init(&after, 100);
    assert_int_equal(aq_energy_file_read(dir->path, &after, NULL), 0);
    aq_energy_totals one = aq_energy_ledger_totals(&before),
                     other = aq_energy_ledger_totals(&after);
    assert_string_equal(other.source, "rapl");
    assert_close(other.energy_j, one.energy_j);
    assert_close(other.idle_j, one.idle_j);
    assert_close(other.cpu_s, one.cpu_s);

    /* An actor that lived through it goes on from where it was; of a new one all counts. */
    aq_energy_reading old = reading_of("rapl", 3), fresh = reading_of("rapl", 1);
    aq_energy_ledger_told(&after, 0, 2, AQ_ROLE_ACTOR, &old);
    aq_energy_ledger_told(&after, 0, 3, AQ_ROLE_ACTOR, &fresh);
    assert_close(aq_energy_ledger_totals(&after).cpu_s, 10 + 1 + 1);
    assert_close(aq_energy_ledger_totals(&after).energy_j, 300 + 30 + 30);
    aq_energy_ledger_fini(&before);
    aq_energy_ledger_fini(&after);
}

/* Of a full table whoever was not heard of for the longest makes room, before and after. */
TEST_IN(run_dir, dir, who_was_heard_last_stays_known)
{
    aq_energy_ledger before, after;
    aq_energy_reading reading = reading_of("", 1);
    aq_energy_ledger_init(&before, 100);
    for (uint64_t i = 1; i <= AQ_ENERGY_PROCESSES_MAX; i++) {
        aq_energy_ledger_told(&before, (int64_t)i, i, AQ_ROLE_ACTOR, &reading);
    }
    aq_energy_ledger_told(&before, AQ_NS_PER_S, 1, AQ_ROLE_ACTOR, &reading);
    write_file(dir, &before);
    aq_energy_ledger_init(&after, 100);
    assert_int_equal(aq_energy_file_read(dir->path, &after, NULL), 0);
    aq_energy_ledger_told(&after, 1, UINT64_MAX, AQ_ENERGY_LEARNER, &reading);
    reading.cpu_s = 3;
    aq_energy_ledger_told(&after, 2, 1, AQ_ROLE_ACTOR, &reading);
    assert_close(aq_energy_ledger_totals(&after).cpu_s, AQ_ENERGY_PROCESSES_MAX + 1 + 2);
    aq_energy_ledger_fini(&before);
    aq_energy_ledger_fini(&after);
}

TEST_IN(run_dir, dir, without_a_file_nothing_was_taken)
{
    aq_energy_ledger ledger;
    aq_energy_ledger_init(&ledger, 0);
    assert_int_equal(aq_energy_file_read(dir->path, &ledger, NULL), AQ_E_NOT_FOUND);
    assert_int_equal(ledger.machine_count, 0);
}

TEST_IN(run_dir, dir, another_format_is_said)
{
    aq_energy_ledger ledger;
    aq_energy_ledger_init(&ledger, 0);
    assert_int_equal(aq_energy_file_write(dir->path, "{\"format\": 2}", NULL), 0);
    assert_refused(aq_energy_file_read(dir->path, &ledger, &refusal), AQ_E_VERSION,
                   "energy.json: of format 2; this program reads 1");
}

TEST_IN(run_dir, dir, a_file_that_is_something_else_changes_nothing)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{\"format\": 1, \"state\": {\"source\": \"\", \"is_unmeasured\": true, \"roles\": [], "
        "\"machines\": [], \"processes\": []}}",
        "{\"format\": 1, \"state\": {\"source\": \"a-long-source\", \"is_unmeasured\": true, "
        "\"roles\": [{},{},{},{}], \"machines\": [], \"processes\": []}}",
        "{\"format\": 1, \"state\": {\"source\": \"\", \"is_unmeasured\": true, \"roles\": "
        "[{\"cpu_s\": -1, \"model_j\": 0, \"measured_j\": 0},{},{},{}], \"machines\": [], "
        "\"processes\": []}}",
    };
    EACH_ROW(i, texts) {
        aq_energy_ledger ledger;
        aq_energy_ledger_init(&ledger, 7);
        assert_int_equal(aq_energy_file_write(dir->path, texts[i], NULL), 0);
        assert_refused(aq_energy_file_read(dir->path, &ledger, &refusal), AQ_E_CORRUPT,
                       "energy.json");
        assert_true(ledger.tdp_w == 7);
        assert_int_equal(ledger.machine_count + ledger.process_count, 0);
    }
}
