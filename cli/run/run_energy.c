/*
 * Run energy: see run_energy.h.
 */
#include "cli/run/run_energy.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/text/command.h"
#include "cli/text/figure_text.h"
#include "cli/text/json_file.h"
#include "common/base/parse.h"
#include "common/sys/file.h"

enum { FILE_BYTES_MAX = 32 << 20 };

aq_run_energy aq_run_energy_none(void)
{
    aq_run_energy energy = {
        .cpu_s = NAN, .energy_j = NAN, .model_j = NAN, .idle_j = NAN, .carbon_g = NAN};
    for (size_t i = 0; i < AQ_ENERGY_ROLES; i++) {
        energy.role_cpu_s[i] = energy.role_j[i] = NAN;
    }
    return energy;
}

static bool is_amount(double value)
{
    return isfinite(value) && value >= 0;
}

static int parse(json_t *file, aq_run_energy *energy)
{
    const char *source;
    json_t *roles;
    energy->model_j = aq_json_number_of(json_object_get(file, "model"), "energy_j");
    if (json_unpack(file, "{s:s, s:F, s:F, s:F, s:o, s:{s:F}}", "source", &source, "cpu_s",
                    &energy->cpu_s, "energy_j", &energy->energy_j, "idle_j", &energy->idle_j,
                    "roles", &roles, "carbon", "carbon_g", &energy->carbon_g) ||
        aq_text_set(energy->source, sizeof(energy->source), source) != 0 ||
        !is_amount(energy->cpu_s) || !is_amount(energy->energy_j) || !is_amount(energy->idle_j) ||
        !is_amount(energy->carbon_g)) {
        return AQ_E_CORRUPT;
    }
    for (size_t i = 0; i < AQ_ENERGY_ROLES; i++) {
        if (json_unpack(roles, "{s:{s:F, s:F}}", aq_energy_role_name((uint32_t)i), "cpu_s",
                        &energy->role_cpu_s[i], "energy_j", &energy->role_j[i]) ||
            !is_amount(energy->role_cpu_s[i]) || !is_amount(energy->role_j[i])) {
            return AQ_E_CORRUPT;
        }
    }
    return 0;
}

int aq_run_energy_read(const char *run_dir, aq_run_energy *ret_energy, aq_error *error)
{
    char path[PATH_MAX + 16];
    json_t *file = NULL;
    aq_run_energy energy = {0};
    int rc = aq_path_in(path, sizeof(path), run_dir, "energy.json", error);
    if (rc == 0) {
        rc = aq_json_file_read(path, FILE_BYTES_MAX, &file, error);
    }
    if (rc == 0 && parse(file, &energy) != 0) {
        rc = aq_fail(error, AQ_E_CORRUPT, "%s: not the energy of a run", path);
    } else if (rc == 0) {
        *ret_energy = energy;
    }
    json_decref(file);
    return rc;
}

const char *aq_run_energy_line(const aq_run_energy *energy, char out[AQ_ENERGY_LINE_MAX])
{
    aq_figure taken, idle, shares[AQ_ENERGY_ROLES];
    for (size_t i = 0; i < AQ_ENERGY_ROLES; i++) {
        double share = energy->energy_j > 0 ? energy->role_j[i] / energy->energy_j : (double)NAN;
        (void)aq_figure_share(&shares[i], share);
    }
    (void)snprintf(
        out, AQ_ENERGY_LINE_MAX,
        "%s by %s, and %s idle; learner %s, actors %s, evaluators %s, replay %s; %.3g gCO2",
        aq_figure_joules(&taken, energy->energy_j),
        strcmp(energy->source, "model") == 0 ? "a model of processor time" : energy->source,
        aq_figure_joules(&idle, energy->idle_j), shares[0].text, shares[1].text, shares[2].text,
        shares[3].text, energy->carbon_g);
    return out;
}
