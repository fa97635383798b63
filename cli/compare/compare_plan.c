/*
 * Compare plan: see compare_plan.h.
 */
#include "cli/compare/compare_plan.h"

#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text/command.h"
#include "common/base/parse.h"
#include "common/sys/file.h"

enum { FILE_BYTES_MAX = 1 << 20 };

/* No task gives as much, so no run ends for it. */
#define THRESHOLD_NEVER "1e300"

/* It becomes part of a folder's name. */
static bool is_word(const char *text)
{
    for (const char *letter = text; *letter; letter++) {
        if (!isalnum((unsigned char)*letter) && *letter != '-') {
            return false;
        }
    }
    return text[0] != '\0' && text[0] != '-';
}

static int add_precision(aq_compare_plan *plan, const char *text, size_t size, aq_error *error)
{
    char word[AQ_COMPARE_WORD_MAX];
    if (aq_text_format(word, sizeof(word), "%.*s", (int)size, text) != 0 || !is_word(word)) {
        return aq_fail(error, AQ_E_INVALID, "'%.*s' is no precision", (int)size, text);
    }
    for (size_t i = 0; i < plan->precision_count; i++) {
        if (strcmp(plan->precisions[i], word) == 0) {
            return aq_fail(error, AQ_E_INVALID, "%s is given twice", word);
        }
    }
    if (plan->precision_count == AQ_COMPARE_PRECISIONS_MAX) {
        return aq_fail(error, AQ_E_INVALID, "at most %d can be compared",
                       (int)AQ_COMPARE_PRECISIONS_MAX);
    }
    (void)snprintf(plan->precisions[plan->precision_count++], AQ_COMPARE_WORD_MAX, "%s", word);
    return 0;
}

int aq_compare_plan_precisions(aq_compare_plan *plan, const char *text, aq_error *error)
{
    plan->precision_count = 0;
    for (;;) {
        size_t size = strcspn(text, ",");
        int rc = add_precision(plan, text, size < 256 ? size : 256, error);
        if (rc != 0 || text[size] == '\0') {
            return rc;
        }
        text += size + 1;
    }
}

int aq_compare_plan_config(const aq_compare_plan *plan, size_t precision, uint64_t seed,
                           aq_run_config *ret_config, aq_error *error)
{
    char assignment[AQ_COMPARE_WORD_MAX + 32];
    aq_run_config config = plan->config;
    config.seed = seed;
    config.evaluator.fp32 = true; /* of what acts in fp32 itself, nothing is compared */
    (void)snprintf(config.evaluator.threshold, sizeof(config.evaluator.threshold), THRESHOLD_NEVER);
    (void)snprintf(assignment, sizeof(assignment), "quantizer.format=%s",
                   plan->precisions[precision]);
    int rc = aq_settings_assign(aq_run_config_table(), assignment, &config, error);
    if (rc == 0) {
        rc = aq_run_config_validate(&config, error);
    }
    if (rc == 0) {
        *ret_config = config;
    }
    return rc;
}

int aq_compare_plan_check(const aq_compare_plan *plan, const aq_schema *schema, aq_error *error)
{
    for (size_t i = 0; i < plan->precision_count; i++) {
        aq_run_config config;
        aq_error problem = {0};
        int rc = aq_compare_plan_config(plan, i, plan->seed_first, &config, &problem);
        if (rc == 0) {
            rc = aq_run_config_check_task(&config, schema, &problem);
        }
        if (rc != 0) {
            return aq_fail(error, rc, "precision %s: %s", plan->precisions[i], problem.text);
        }
    }
    return 0;
}

size_t aq_compare_plan_turn(const aq_compare_plan *plan, uint64_t round, size_t turn)
{
    return (size_t)((round + turn) % plan->precision_count);
}

int aq_compare_plan_run_dir(const aq_compare_plan *plan, size_t precision, uint64_t seed, char *out,
                            size_t size)
{
    return aq_text_format(out, size, "%s/%s-s%" PRIu64, plan->dir, plan->precisions[precision],
                          seed);
}

/* ---- files ---------------------------------------------------------------------------------- */

static int path_of(const char *dir, const char *name, char *out, size_t size, aq_error *error)
{
    return aq_text_format(out, size, "%s/%s", dir, name) != 0
               ? aq_fail(error, AQ_E_TOO_BIG, "the path of the folder is too long")
               : 0;
}

static json_t *plan_json(const aq_compare_plan *plan)
{
    json_t *precisions = json_array();
    for (size_t i = 0; i < plan->precision_count; i++) {
        (void)json_array_append_new(precisions, json_string(plan->precisions[i]));
    }
    return json_pack("{s:i, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "version", 1, "task",
                     plan->config.task, "preset", plan->preset, "precisions", precisions, "seeds",
                     aq_json_count(plan->seeds), "seed_first", aq_json_count(plan->seed_first),
                     "threshold", aq_json_number(plan->threshold), "command",
                     aq_json_text(plan->command));
}

static int write_config(const aq_compare_plan *plan, aq_error *error)
{
    char path[AQ_CLI_PATH_MAX + 32];
    int rc = path_of(plan->dir, "config.yaml", path, sizeof(path), error);
    return rc != 0 ? rc : aq_train_write_config(&plan->config, path, error);
}

/* The plan comes last: where it is, the configuration is, too. */
int aq_compare_plan_write(const aq_compare_plan *plan, aq_error *error)
{
    char path[AQ_CLI_PATH_MAX + 32];
    int rc = write_config(plan, error);
    if (rc == 0) {
        rc = path_of(plan->dir, "plan.json", path, sizeof(path), error);
    }
    if (rc != 0) {
        return rc;
    }
    json_t *json = plan_json(plan);
    char *text = json ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(json);
    rc = text ? aq_file_write_atomic(path, text, strlen(text), error)
              : aq_fail(error, AQ_E_NOMEM, "out of memory");
    free(text);
    return rc;
}

static int take_precisions(aq_compare_plan *plan, const json_t *list, aq_error *error)
{
    size_t index;
    const json_t *item;
    json_array_foreach(list, index, item)
    {
        const char *text = json_string_value(item);
        int rc = text ? add_precision(plan, text, strlen(text), error) : AQ_E_CORRUPT;
        if (rc != 0) {
            return AQ_E_CORRUPT;
        }
    }
    return plan->precision_count > 0 ? 0 : AQ_E_CORRUPT;
}

static int take_plan(aq_compare_plan *plan, json_t *json, aq_error *error)
{
    const char *preset, *command = "";
    json_t *precisions, *threshold = NULL;
    json_int_t seeds, seed_first;
    if (json_unpack(json, "{s:s, s:o, s:I, s:I, s?o, s?s}", "preset", &preset, "precisions",
                    &precisions, "seeds", &seeds, "seed_first", &seed_first, "threshold",
                    &threshold, "command", &command) ||
        seeds < 1 || seeds > AQ_COMPARE_SEEDS_MAX || seed_first < 1 ||
        aq_text_set(plan->preset, sizeof(plan->preset), preset) != 0 ||
        aq_text_set(plan->command, sizeof(plan->command), command) != 0) {
        return AQ_E_CORRUPT;
    }
    plan->seeds = (uint64_t)seeds;
    plan->seed_first = (uint64_t)seed_first;
    plan->threshold = json_is_number(threshold) ? json_number_value(threshold) : (double)NAN;
    return take_precisions(plan, precisions, error);
}

static int read_plan(aq_compare_plan *plan, const char *path, aq_error *error)
{
    aq_buffer text;
    aq_buffer_init(&text, FILE_BYTES_MAX);
    int rc = aq_file_read(path, &text, error);
    if (rc == 0) {
        json_t *json = json_loadb((const char *)text.data, text.size, 0, NULL);
        rc = json && !take_plan(plan, json, error)
                 ? 0
                 : aq_fail(error, AQ_E_CORRUPT, "%s: not the plan of a comparison", path);
        json_decref(json);
    }
    aq_buffer_fini(&text);
    return rc;
}

int aq_compare_plan_read(const char *dir, aq_compare_plan *ret_plan, aq_error *error)
{
    char path[AQ_CLI_PATH_MAX + 32];
    aq_compare_plan plan = {0};
    aq_settings_init(aq_run_config_table(), &plan.config);
    if (aq_text_set(plan.dir, sizeof(plan.dir), dir) != 0) {
        return aq_fail(error, AQ_E_TOO_BIG, "the path of the folder is too long");
    }
    int rc = path_of(dir, "plan.json", path, sizeof(path), error);
    if (rc == 0 && !aq_path_exists(path)) {
        rc = aq_fail(error, AQ_E_NOT_FOUND, "%s holds no comparison to go on with (there is no %s)",
                     dir, path);
    }
    if (rc == 0) {
        rc = read_plan(&plan, path, error);
    }
    if (rc == 0) {
        rc = path_of(dir, "config.yaml", path, sizeof(path), error);
    }
    if (rc == 0) {
        rc = aq_settings_read_file(aq_run_config_table(), path, &plan.config, error);
    }
    if (rc == 0) {
        *ret_plan = plan;
    }
    return rc;
}
