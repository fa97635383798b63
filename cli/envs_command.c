/*
 * actorq envs: the environments of this build.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "common/base/parse.h"
#include "envs/env_open.h"

enum { SCHEMA_TEXT_BYTES = 128 };

static const aq_option option_rows[] = {
    {"json", 0, NULL, "print one JSON object on standard output"},
};

static const aq_options options_page = {
    .program = "actorq envs",
    .usage = "[options]",
    .summary =
        "Lists the environments that can be learned: what is seen and done in them, after how "
        "many steps an episode is cut, and from which mean return they count as solved.",
    .details = "Example:\n  actorq envs --json\n",
    .rows = option_rows,
    .count = sizeof(option_rows) / sizeof(option_rows[0]),
};

static int apply(void *user, const aq_option *option, const char *value, aq_error *error)
{
    bool *json = user;
    if (!option) {
        return aq_fail(error, AQ_E_INVALID, "'%s': this command takes options only", value);
    }
    *json = true;
    return 0;
}

/* "box f32[4] -> discrete 2" */
static int schema_text(const aq_env_class *env, char *out, size_t size, aq_error *error)
{
    aq_env *open = NULL;
    if (aq_env_is_family(env)) {
        return aq_text_format(out, size, "what the environment says");
    }
    int rc = aq_env_open(env->name, &open, error);
    if (!rc) {
        (void)aq_schema_text(&open->schema, out, size);
    }
    aq_env_unref(open);
    return rc;
}

static int make_json(json_t **ret_envs, aq_error *error)
{
    char schema[SCHEMA_TEXT_BYTES];
    json_t *rows = json_array();
    for (size_t i = 0; i < aq_env_count(); i++) {
        const aq_env_class *env = aq_env_at(i);
        int rc = schema_text(env, schema, sizeof(schema), error);
        if (rc) {
            json_decref(rows);
            return rc;
        }
        json_t *limit = env->step_limit ? json_integer(env->step_limit) : json_null();
        json_t *row = json_pack("{s:s, s:s, s:s, s:o, s:o}", "name", env->name, "summary",
                                env->summary, "schema", schema, "step_limit", limit,
                                "reward_threshold", aq_json_number(env->reward_threshold));
        if (json_array_append_new(rows, row)) {
            json_decref(rows);
            return aq_fail(error, AQ_E_NOMEM, "out of memory");
        }
    }
    *ret_envs = json_pack("{s:o}", "envs", rows);
    return 0;
}

static int print(aq_error *error)
{
    for (size_t i = 0; i < aq_env_count(); i++) {
        const aq_env_class *env = aq_env_at(i);
        char schema[SCHEMA_TEXT_BYTES];
        int rc = schema_text(env, schema, sizeof(schema), error);
        if (rc) {
            return rc;
        }
        (void)printf("%s%s\n  %s\n  %s", i > 0 ? "\n" : "", env->name, env->summary, schema);
        if (env->step_limit) {
            (void)printf(", up to %" PRIu32 " steps", env->step_limit);
        }
        if (!isnan(env->reward_threshold)) {
            (void)printf(", solved from a mean return of %g", env->reward_threshold);
        }
        (void)putchar('\n');
    }
    return 0;
}

static int run(int argc, char **argv)
{
    aq_error error = {0};
    bool json = false;
    json_t *envs = NULL;
    int status;
    if (!aq_command_begin(&options_page, argc, argv, apply, &json, &status)) {
        return status;
    }
    int rc = json ? make_json(&envs, &error) : print(&error);
    if (rc) {
        return aq_command_failed(argv[0], &error);
    }
    return json ? aq_command_print_json(argv[0], envs) : aq_command_printed(argv[0]);
}

const aq_command aq_command_envs = {
    .name = "envs",
    .summary = "list the environments",
    .run = run,
};
