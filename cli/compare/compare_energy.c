/*
 * Compare energy: see compare_energy.h.
 */
#include "cli/compare/compare_energy.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "cli/text/command.h"
#include "common/base/assert.h"

static const struct {
    const char *name;
    const char *key; /* in the file */
} roles[AQ_COMPARE_ROLES] = {
    {"actors", "actor"},
    {"learner", "learner"},
    {"replay", "replay"},
    {"evaluator", "evaluator"},
};

const char *aq_compare_role_name(unsigned role)
{
    AQ_ASSERT(role < AQ_COMPARE_ROLES);
    return roles[role].name;
}

void aq_compare_energy_none(aq_compare_energy *ret_energy)
{
    *ret_energy = (aq_compare_energy){.joules = NAN, .idle_j = NAN, .gco2 = NAN};
    for (unsigned i = 0; i < AQ_COMPARE_ROLES; i++) {
        ret_energy->role_joules[i] = NAN;
        ret_energy->role_cpu_s[i] = NAN;
    }
}

void aq_compare_energy_read(const char *path, aq_compare_energy *ret_energy)
{
    json_t *json = json_load_file(path, 0, NULL);
    const char *source = json_string_value(json_object_get(json, "source"));
    double joules = aq_json_number_of(json, "energy_j");
    aq_compare_energy_none(ret_energy);
    if (source && source[0] && isfinite(joules)) {
        const json_t *by_role = json_object_get(json, "roles");
        (void)snprintf(ret_energy->source, sizeof(ret_energy->source), "%s", source);
        ret_energy->joules = joules;
        ret_energy->idle_j = aq_json_number_of(json, "idle_j");
        ret_energy->gco2 = aq_json_number_of(json_object_get(json, "carbon"), "carbon_g");
        for (unsigned i = 0; i < AQ_COMPARE_ROLES; i++) {
            const json_t *role = json_object_get(by_role, roles[i].key);
            ret_energy->role_joules[i] = aq_json_number_of(role, "energy_j");
            ret_energy->role_cpu_s[i] = aq_json_number_of(role, "cpu_s");
        }
    }
    json_decref(json);
}
