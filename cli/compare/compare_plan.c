/*
 * Compare plan: see compare_plan.h.
 */
#include "cli/compare/compare_plan.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "cli/text/command.h"
#include "cli/text/json_file.h"
#include "common/base/parse.h"
#include "common/config/run_rules.h"
#include "common/sys/file.h"

enum { VERSION = 1, FILE_BYTES_MAX = 1 << 20 };

int aq_compare_plan_arms(aq_compare_plan *plan, aq_error *error)
{
    return aq_compare_arms_make(&plan->request, &plan->config, plan->arms, &plan->arm_count, error);
}

int aq_compare_plan_config(const aq_compare_plan *plan, size_t arm, uint64_t seed,
                           aq_run_config *ret_config, aq_error *error)
{
    aq_run_config config = plan->config;
    config.seed = seed;
    (void)snprintf(config.evaluator.threshold, sizeof(config.evaluator.threshold),
                   AQ_COMPARE_THRESHOLD_NEVER);
    int rc = aq_compare_arm_apply(&plan->arms[arm], &config, error);
    if (rc == 0) {
        rc = aq_run_rules_check(&config, error);
    }
    if (rc == 0) {
        *ret_config = config;
    }
    return rc;
}

static int check_arm(const aq_compare_plan *plan, size_t arm, const aq_schema *schema,
                     aq_error *error)
{
    aq_run_config config;
    aq_error problem = {0};
    int rc = aq_compare_plan_config(plan, arm, plan->seed_first, &config, &problem);
    if (rc == 0) {
        rc = aq_run_rules_check_task(&config, schema, &problem);
    }
    return rc == 0 ? 0
                   : aq_fail(error, rc, "%s %s: %s", aq_compare_subject_name(plan->request.subject),
                             plan->arms[arm].name, problem.text);
}

int aq_compare_plan_check(const aq_compare_plan *plan, const aq_schema *schema, aq_error *error)
{
    const bool needs_all = plan->request.subject == AQ_COMPARE_PRECISIONS;
    int rc = 0;
    if (plan->config.limits.env_steps == 0 && plan->config.limits.learner_steps == 0 &&
        plan->config.limits.wall_s <= 0) {
        return aq_fail(error, AQ_E_INVALID,
                       "no limit ends the runs, and being solved does not, as their curves are "
                       "compared; --set limits.env_steps=100000 is one");
    }
    for (size_t i = 0; i < plan->arm_count; i++) {
        rc = check_arm(plan, i, schema, error);
        if ((rc != 0) == needs_all) {
            return rc;
        }
    }
    return rc;
}

size_t aq_compare_plan_turn(const aq_compare_plan *plan, uint64_t round, size_t turn)
{
    return (size_t)((round + turn) % plan->arm_count);
}

int aq_compare_plan_run_dir(const aq_compare_plan *plan, size_t arm, uint64_t seed, char *out,
                            size_t size)
{
    return aq_text_format(out, size, "%s/%s-s%" PRIu64, plan->dir, plan->arms[arm].name, seed);
}

/* ---- files ---------------------------------------------------------------------------------- */

/* By the subject, such as "precisions". */
static json_t *plan_json(const aq_compare_plan *plan)
{
    const aq_compare_request *request = &plan->request;
    char list[16];
    char number[24];
    json_t *names = json_array(), *scales = json_array();
    (void)snprintf(list, sizeof(list), "%ss", aq_compare_subject_name(request->subject));
    for (size_t i = 0; i < request->name_count; i++) {
        aq_json_add(&names, json_string(request->names[i]));
    }
    for (size_t i = 0; i < request->scale_count; i++) {
        (void)snprintf(number, sizeof(number), "%" PRIu64, request->scales[i]);
        aq_json_add(&scales, json_string(number));
    }
    return json_pack("{s:i, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "version", VERSION,
                     "task", plan->config.task, "preset", plan->config.preset, list, names,
                     "parallel", aq_json_count(request->parallel), "scales", scales, "seeds",
                     aq_json_count(plan->seeds), "seed_first", aq_json_count(plan->seed_first),
                     "threshold", aq_json_number(plan->threshold), "command",
                     aq_json_text(plan->command));
}

static int write_config(const aq_compare_plan *plan, aq_error *error)
{
    char path[PATH_MAX + 32];
    int rc = aq_path_in(path, sizeof(path), plan->dir, "config.yaml", error);
    return rc != 0 ? rc : aq_settings_write_file(aq_run_config_table(), path, &plan->config, error);
}

/* The plan comes last: where it is, the configuration is, too. */
int aq_compare_plan_write(const aq_compare_plan *plan, aq_error *error)
{
    int rc = write_config(plan, error);
    return rc != 0 ? rc : aq_json_file_write(plan_json(plan), 17, plan->dir, "plan.json", error);
}

/* A list of words as it was typed, with commas between them; what is no word is an empty one. */
static const char *typed(const json_t *list, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *word = json_string_value(json_array_get(list, i));
        aq_text_append(out, size, "%s%s", i > 0 ? "," : "", word ? word : "");
    }
    return out;
}

static int take_request(aq_compare_plan *plan, const json_t *json, aq_error *error)
{
    char text[(AQ_COMPARE_ARMS_MAX + 1) * AQ_COMPARE_WORD_MAX];
    aq_compare_request *request = &plan->request;
    const json_t *list = json_object_get(json, "modes");
    const json_t *scales = json_object_get(json, "scales");
    const json_int_t parallel = json_integer_value(json_object_get(json, "parallel"));
    request->subject = list ? AQ_COMPARE_MODES : AQ_COMPARE_PRECISIONS;
    request->parallel = parallel > 0 ? (uint64_t)parallel : 1;
    list = list ? list : json_object_get(json, "precisions");
    int rc = request->parallel > AQ_COMPARE_PARALLEL_MAX ? AQ_E_CORRUPT : 0;
    if (rc == 0) {
        rc = aq_compare_request_names(request, typed(list, text, sizeof(text)), error);
    }
    if (rc == 0 && json_array_size(scales) > 0) {
        rc = aq_compare_request_scales(request, typed(scales, text, sizeof(text)), error);
    }
    return rc;
}

static int take_plan(aq_compare_plan *plan, json_t *json, aq_error *error)
{
    const char *preset, *command = "";
    json_t *threshold = NULL;
    json_int_t seeds, seed_first;
    if (json_unpack(json, "{s:s, s:I, s:I, s?o, s?s}", "preset", &preset, "seeds", &seeds,
                    "seed_first", &seed_first, "threshold", &threshold, "command", &command) ||
        seeds < 1 || seeds > AQ_COMPARE_SEEDS_MAX || seed_first < 1 ||
        aq_text_set(plan->config.preset, sizeof(plan->config.preset), preset) != 0 ||
        aq_text_set(plan->command, sizeof(plan->command), command) != 0) {
        return AQ_E_CORRUPT;
    }
    plan->seeds = (uint64_t)seeds;
    plan->seed_first = (uint64_t)seed_first;
    plan->threshold = json_is_number(threshold) ? json_number_value(threshold) : (double)NAN;
    return take_request(plan, json, error);
}

static int check_version(const json_t *json, const char *path, aq_error *error)
{
    const json_t *version = json_object_get(json, "version");
    return json_is_integer(version) && json_integer_value(version) != VERSION
               ? aq_fail(error, AQ_E_VERSION,
                         "%s: of version %" JSON_INTEGER_FORMAT "; this program reads %d", path,
                         json_integer_value(version), VERSION)
               : 0;
}

static int read_plan(aq_compare_plan *plan, const char *path, aq_error *error)
{
    json_t *json = NULL;
    int rc = aq_json_file_read(path, FILE_BYTES_MAX, &json, error);
    rc = rc != 0 ? rc : check_version(json, path, error);
    if (rc == 0 && take_plan(plan, json, error) != 0) {
        rc = aq_fail(error, AQ_E_CORRUPT, "%s: not the plan of a comparison", path);
    }
    json_decref(json);
    return rc;
}

int aq_compare_plan_read(const char *dir, aq_compare_plan *ret_plan, aq_error *error)
{
    char path[PATH_MAX + 32];
    aq_compare_plan plan = {0};
    aq_settings_init(aq_run_config_table(), &plan.config);
    if (aq_text_set(plan.dir, sizeof(plan.dir), dir) != 0) {
        return aq_fail(error, AQ_E_TOO_BIG, "the path of the folder is too long");
    }
    int rc = aq_path_in(path, sizeof(path), dir, "plan.json", error);
    if (rc == 0 && !aq_path_exists(path)) {
        rc = aq_fail(error, AQ_E_NOT_FOUND, "%s holds no comparison to go on with (there is no %s)",
                     dir, path);
    }
    if (rc == 0) {
        rc = read_plan(&plan, path, error);
    }
    if (rc == 0) {
        rc = aq_path_in(path, sizeof(path), dir, "config.yaml", error);
    }
    if (rc == 0) {
        rc = aq_settings_read_file(aq_run_config_table(), path, &plan.config, error);
    }
    if (rc == 0) {
        rc = aq_compare_plan_arms(&plan, error);
    }
    if (rc == 0) {
        *ret_plan = plan;
    }
    return rc;
}
