/*
 * Compare energy: what a run's energy.json says: joules with the name of their source, and never
 * two sources in one figure. docs/energy.md says how they come about. One thread.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_ENERGY_H
#define AQ_CLI_COMPARE_COMPARE_ENERGY_H

enum { AQ_ENERGY_SOURCE_MAX = 64, AQ_COMPARE_ROLES = 4 };

typedef struct aq_compare_energy {
    char source[AQ_ENERGY_SOURCE_MAX]; /* "model"; "": not measured */
    double joules;                     /* of the run's processes; NaN: not measured, as all below */
    double role_joules[AQ_COMPARE_ROLES];
    double role_cpu_s[AQ_COMPARE_ROLES]; /* processor time */
    double idle_j;                       /* of the machine in that time, in nobody's figure */
    double gco2;                         /* of joules */
} aq_compare_energy;

/* "actors", "learner", "replay", "evaluator"; static storage. */
const char *aq_compare_role_name(unsigned role);

/* Nothing is known. */
void aq_compare_energy_none(aq_compare_energy *ret_energy);

/* A file that is missing or damaged is as one that knows nothing. */
void aq_compare_energy_read(const char *path, aq_compare_energy *ret_energy);

#endif
