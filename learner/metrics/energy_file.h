/*
 * RUN/energy.json: the energy ledger for people and programs, and for taking the run up again. What
 * each key means is in docs/energy.md.
 */
#ifndef AQ_LEARNER_METRICS_ENERGY_FILE_H
#define AQ_LEARNER_METRICS_ENERGY_FILE_H

#include "common/base/error.h"
#include "common/energy/carbon_intensity.h"
#include "learner/metrics/energy_ledger.h"

struct json_t; /* jansson's */

/* How joules become grams. */
typedef struct aq_energy_carbon {
    const aq_carbon_intensity *country; /* NULL: somebody gave the number */
    double g_per_kwh;
    double pue;
} aq_energy_carbon;

/* `country` is a code of the table. `g_per_kwh` above 0 counts instead of the country's. */
aq_energy_carbon aq_energy_carbon_of(const char *country, double g_per_kwh, double pue);

/* "Germany, 2023 (…)" or "energy.carbon_intensity"; `out` has room for AQ_CARBON_TEXT_MAX. */
enum { AQ_CARBON_TEXT_MAX = 160 };
const char *aq_energy_carbon_text(const aq_energy_carbon *carbon, char *out);

/* The file's text, to be freed as below; NULL without memory. `wall_s` is the run's. Brings the
 * ledger's processes into the order in which they were heard. */
char *aq_energy_file_text(aq_energy_ledger *ledger, const aq_energy_carbon *carbon, double wall_s);

void aq_energy_file_text_free(char *text); /* NULL is fine */

/* The few figures of a line in the metrics; a new reference, NULL without memory. */
struct json_t *aq_energy_file_summary(const aq_energy_ledger *ledger,
                                      const aq_energy_carbon *carbon);

/* RUN/energy.json, whole or not at all. */
int aq_energy_file_write(const char *run_dir, const char *text, aq_error *error) AQ_MUST_USE;

/* Takes up what the file says. `ledger` is initialised and empty; on failure it stays so.
 * AQ_E_NOT_FOUND when there is none, AQ_E_VERSION when it is of another format, AQ_E_CORRUPT when
 * it is something else. */
int aq_energy_file_read(const char *run_dir, aq_energy_ledger *ledger, aq_error *error) AQ_MUST_USE;

#endif
