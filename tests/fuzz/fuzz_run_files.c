/*
 * What a learner takes a run up from, besides checkpoints: any bytes in place of run.json,
 * energy.json or versions are refused in words, or read. The first byte of the input says which.
 */
#include <string.h>

#include "common/base/assert.h"
#include "common/settings/settings.h"
#include "learner/metrics/energy_file.h"
#include "learner/publish/policy_versions.h"
#include "learner/run/run_folder.h"
#include "tests/fuzz/fuzz_place.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/must.h"

#define TDP_W 65.0

static void take_up(const uint8_t *bytes, size_t size)
{
    aq_run_folder folder;
    aq_run_config config;
    aq_error error = {0};
    (void)fuzz_place_write("run.json", bytes, size);
    aq_settings_init(aq_run_config_table(), &config);
    int rc = aq_run_folder_open(fuzz_place(), &config, true, 0, &folder, &error);
    AQ_ASSERT(error.code == rc);
    if (rc == 0) {
        AQ_ASSERT(folder.resumed);
        AQ_ASSERT(folder.run_id != 0);
    }
}

/* What a run is taken up from, the last part of the file. Sums before it may end in another digit
 * once what they add up was rounded. */
static const char *state_of(const char *text)
{
    const char *state = strstr(text, "\"state\": {");
    AQ_ASSERT(state != NULL);
    return state;
}

/* What was read can be written, and is the same when it is read from there. */
static void read_energy(const uint8_t *bytes, size_t size)
{
    const aq_energy_carbon carbon = aq_energy_carbon_of("DEU", 0, 1.5);
    aq_energy_ledger ledger, again;
    aq_error error = {0};
    (void)fuzz_place_write("energy.json", bytes, size);
    aq_energy_ledger_init(&ledger, TDP_W);
    int rc = aq_energy_file_read(fuzz_place(), &ledger, &error);
    AQ_ASSERT(error.code == rc);
    if (rc == 0) {
        char *text = aq_energy_file_text(&ledger, &carbon, 1.0);
        AQ_ASSERT(text != NULL);
        (void)fuzz_place_write("energy.json", text, strlen(text));
        aq_energy_ledger_init(&again, TDP_W);
        must(aq_energy_file_read(fuzz_place(), &again, NULL));
        char *text_again = aq_energy_file_text(&again, &carbon, 1.0);
        AQ_ASSERT(text_again != NULL);
        AQ_ASSERT(strcmp(state_of(text_again), state_of(text)) == 0);
        aq_energy_file_text_free(text_again);
        aq_energy_ledger_fini(&again);
        aq_energy_file_text_free(text);
    }
    aq_energy_ledger_fini(&ledger);
}

static void reserve(const uint8_t *bytes, size_t size)
{
    uint64_t first = 0, next = 0;
    aq_error error = {0};
    (void)fuzz_place_write("versions", bytes, size);
    int rc = aq_version_reserve(fuzz_place(), 5, 10, &first, &error);
    AQ_ASSERT(error.code == rc);
    if (rc == 0) {
        AQ_ASSERT(first > 5);
        rc = aq_version_reserve(fuzz_place(), 5, 1, &next, NULL);
        AQ_ASSERT(rc == AQ_E_TOO_BIG || next == first + 10);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(const uint8_t *bytes, size_t size) = {take_up, read_energy,
                                                                         reserve};
    if (size > 0) {
        readers[fuzz_choice(data[0], 3)](data + 1, size - 1);
        fuzz_place_clear();
    }
    return 0;
}
