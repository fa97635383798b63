/*
 * Run energy: what a run took, read from its energy.json, and as a line for people. What each key
 * means is in docs/energy.md.
 */
#ifndef AQ_CLI_RUN_RUN_ENERGY_H
#define AQ_CLI_RUN_RUN_ENERGY_H

#include "common/base/error.h"
#include "common/config/run_names.h"

enum { AQ_ENERGY_LINE_MAX = 512 };

typedef struct aq_run_energy {
    char source[8]; /* "rapl", "perf" or "model", of all joules; "": nothing is known */
    double cpu_s;
    double energy_j;                    /* of all roles */
    double model_j;                     /* of all roles by the model, in any case; NaN: not told */
    double idle_j;                      /* of the machines, beside it */
    double carbon_g;                    /* CO2 equivalent of energy_j */
    double role_cpu_s[AQ_ENERGY_ROLES]; /* by aq_energy_role_name */
    double role_j[AQ_ENERGY_ROLES];
} aq_run_energy;

/* Nothing is known: NaN. */
aq_run_energy aq_run_energy_none(void);

/* AQ_E_NOT_FOUND for a run from before there was one, AQ_E_CORRUPT. */
int aq_run_energy_read(const char *run_dir, aq_run_energy *ret_energy, aq_error *error) AQ_MUST_USE;

/* "12.3 J by model, and 4.1 J idle; learner 60 %, actors 20 %, …; 0.0016 gCO2". Returns `out`. */
const char *aq_run_energy_line(const aq_run_energy *energy, char out[AQ_ENERGY_LINE_MAX]);

#endif
