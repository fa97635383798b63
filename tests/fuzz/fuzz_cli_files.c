/*
 * What the command line reads of a run folder or a comparison: any bytes in a file's place are
 * refused in words, or read; metrics are read as far as they go. The first byte of the input says
 * which file.
 */
#include "cli/compare/compare_curve.h"
#include "cli/compare/compare_plan.h"
#include "cli/operate/live_endpoint.h"
#include "cli/policy/run_record.h"
#include "cli/run/metrics_digest.h"
#include "cli/run/run_energy.h"
#include "cli/run/run_series.h"
#include "common/base/assert.h"
#include "tests/fuzz/fuzz_place.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/must.h"

static void read_run(const uint8_t *bytes, size_t size)
{
    aq_run_record *record = NULL;
    aq_error error = {0};
    (void)fuzz_place_write("run.json", bytes, size);
    int rc = aq_run_record_read(fuzz_place(), &record, &error);
    AQ_ASSERT(error.code == rc);
    AQ_ASSERT((rc == 0) == (record != NULL));
    aq_run_record_free(record);
}

static void read_endpoint(const uint8_t *bytes, size_t size)
{
    char url[AQ_URL_MAX];
    aq_error error = {0};
    (void)fuzz_place_write("endpoint.json", bytes, size);
    int rc = aq_live_endpoint_url(fuzz_place(), url, &error);
    AQ_ASSERT(error.code == rc);
    AQ_ASSERT(rc != 0 || aq_url_validate(url, NULL) == 0);
}

static void read_metrics(const uint8_t *bytes, size_t size)
{
    static const char *const quantities[] = {"return", "replay/stored", "loss"};
    (void)fuzz_place_write("metrics.jsonl", bytes, size);
    aq_metrics_digest digest;
    aq_compare_curve curve;
    must(aq_metrics_digest_read(fuzz_place(), &digest, NULL));
    aq_metrics_digest_fini(&digest);
    aq_run_series series[3];
    must(aq_run_series_read(fuzz_place(), quantities, 3, series, NULL));
    for (int i = 0; i < 3; i++) {
        for (size_t k = 1; k < series[i].count; k++) {
            AQ_ASSERT(series[i].points[k].wall_s >= series[i].points[k - 1].wall_s);
        }
        aq_run_series_fini(&series[i]);
    }
    must(aq_compare_curve_read(fuzz_place(), &curve, NULL));
    (void)aq_compare_curve_final(&curve);
    aq_compare_curve_fini(&curve);
}

static void read_energy(const uint8_t *bytes, size_t size)
{
    char line[AQ_ENERGY_LINE_MAX];
    aq_run_energy energy;
    aq_error error = {0};
    (void)fuzz_place_write("energy.json", bytes, size);
    int rc = aq_run_energy_read(fuzz_place(), &energy, &error);
    AQ_ASSERT(error.code == rc);
    if (rc == 0) {
        (void)aq_run_energy_line(&energy, line);
    }
}

static void read_plan(const uint8_t *bytes, size_t size)
{
    static aq_compare_plan plan;
    aq_run_config config;
    aq_error error = {0};
    (void)fuzz_place_write("plan.json", bytes, size);
    (void)fuzz_place_write("config.yaml", "seed: 1\n", 8);
    int rc = aq_compare_plan_read(fuzz_place(), &plan, &error);
    AQ_ASSERT(error.code == rc);
    if (rc == 0) {
        AQ_ASSERT(plan.arm_count <= AQ_COMPARE_ARMS_MAX);
        AQ_ASSERT(plan.seeds <= AQ_COMPARE_SEEDS_MAX);
        for (size_t i = 0; i < plan.arm_count; i++) {
            error = (aq_error){0};
            rc = aq_compare_plan_config(&plan, i, plan.seed_first, &config, &error);
            AQ_ASSERT(error.code == rc);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(const uint8_t *bytes, size_t size) = {
        read_run, read_endpoint, read_metrics, read_energy, read_plan};
    if (size > 0) {
        readers[fuzz_choice(data[0], 5)](data + 1, size - 1);
        fuzz_place_clear();
    }
    return 0;
}
