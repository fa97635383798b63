/*
 * actorq envs: the environments of this build, by suite, or one of them whole. A family is listed
 * by its prefix, since what follows it is the user's.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/env/env_view.h"
#include "cli/text/command.h"
#include "cli/text/text_table.h"
#include "envs/env_code.h"
#include "envs/env_open.h"
#include "envs/env_wrap.h"

typedef struct envs_arguments {
    const char *task;
    aq_json_form json;
} envs_arguments;

static const aq_option option_rows[] = {
    AQ_JSON_OPTION_ROW(envs_arguments, json, "the list, or the task"),
};

static const aq_options options_page = {
    .program = "actorq envs",
    .usage = "[TASK] [options]",
    .summary =
        "Lists the environments that can be learned: what is seen and done in them, after how "
        "many steps an episode is cut, and from which mean return they count as solved. With a "
        "TASK, which may have options and be one that you bring, it is opened and shown whole.",
    .details = "Examples:\n"
               "  actorq envs\n"
               "  actorq envs 'gym:FrozenLake-v1?map=8x8&slippery=no'\n"
               "  actorq envs --json\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPTIONAL_OPERAND("TASK", envs_arguments, task)},
};

static const struct {
    const char *suite, *title;
} titles[] = {
    {"dmc", "Control suite, on MuJoCo"},
    {"game", "Small arcade games that are seen as pictures"},
    {"gym", "Gymnasium's classics and toy text"},
    {"py", "Gymnasium environments in Python"},
    {"so", "Plug-ins in C"},
};

static const char *title_of(const char *suite)
{
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
        if (strcmp(titles[i].suite, suite) == 0) {
            return titles[i].title;
        }
    }
    return suite;
}

/* ---- for programs --------------------------------------------------------------------------- */

static json_t *family_json(const aq_env_class *family)
{
    char suite[AQ_ENV_SUITE_BYTES];
    return json_pack("{s:s, s:s, s:s, s:s?}", "prefix", family->name, "suite",
                     aq_env_suite(family->name, suite), "summary", family->summary, "options",
                     family->options);
}

/* One whose library this build lacks is left out. */
static int add_task(json_t **tasks, const aq_env_class *class, aq_error *error)
{
    aq_env *env = NULL;
    int rc = aq_env_open(class->name, &env, error);
    if (rc != 0) {
        return rc == AQ_E_UNSUPPORTED ? 0 : rc;
    }
    aq_json_add(tasks, aq_env_view_json(env));
    aq_env_unref(env);
    return 0;
}

/* Every task is opened for it. */
static int list_json(json_t **ret_object, aq_error *error)
{
    json_t *tasks = json_array();
    json_t *families = json_array();
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < aq_env_count(); i++) {
        const aq_env_class *class = aq_env_at(i);
        if (aq_env_is_family(class)) {
            aq_json_add(&families, family_json(class));
        } else {
            rc = add_task(&tasks, class, error);
        }
    }
    json_t *object = json_pack("{s:o, s:o, s:s}", "envs", tasks, "families", families,
                               "options_of_all", AQ_ENV_WRAP_OPTIONS);
    if (rc != 0) {
        json_decref(object);
        return rc;
    }
    *ret_object = object;
    return 0;
}

/* ---- for people ----------------------------------------------------------------------------- */

/* Of "actions (minimal or all), ramp (yes)" the names; `actorq envs TASK` tells the rest. */
static const char *option_names(const char *options, char out[AQ_TABLE_CELL_BYTES])
{
    size_t used = 0;
    uint32_t depth = 0;
    for (; *options != '\0' && used + 1 < AQ_TABLE_CELL_BYTES; options++) {
        depth += *options == '(';
        if (depth == 0 && strncmp(options, " (", 2) != 0) {
            out[used++] = *options;
        }
        depth -= *options == ')';
    }
    out[used] = '\0';
    return out;
}

static int add_row(aq_text_table *table, const aq_env_class *class, aq_error *error)
{
    char schema[AQ_TABLE_CELL_BYTES], names[AQ_TABLE_CELL_BYTES];
    aq_env *env = NULL;
    int rc = aq_env_open(class->name, &env, error);
    if (rc != 0 && rc != AQ_E_UNSUPPORTED) {
        return rc;
    }
    aq_text_table_row(table);
    aq_text_table_cell(table, "%s", class->name);
    if (rc != 0) {
        aq_text_table_cell(table, "not in this build");
        return 0;
    }
    aq_text_table_cell(table, "%s", aq_schema_text(&env->schema, schema, sizeof(schema)));
    if (env->step_limit > 0) {
        aq_text_table_cell(table, "%" PRIu32, env->step_limit);
    } else {
        aq_text_table_cell(table, "%s", "");
    }
    if (!isnan(env->reward_threshold)) {
        aq_text_table_cell(table, "%g", env->reward_threshold);
    } else {
        aq_text_table_cell(table, "%s", "");
    }
    aq_text_table_cell(table, "%s",
                       class->options != NULL ? option_names(class->options, names) : "");
    aq_env_unref(env);
    return 0;
}

/* Classes [first, end) are one suite. */
static int print_suite(const char *suite, size_t first, size_t end, aq_error *error)
{
    static const aq_table_column columns[] = {
        {"task", AQ_TABLE_LEFT},    {"observation -> action", AQ_TABLE_LEFT},
        {"steps", AQ_TABLE_RIGHT},  {"solved", AQ_TABLE_RIGHT},
        {"options", AQ_TABLE_LEFT}, {NULL},
    };
    aq_text_table table;
    aq_text_table_begin(&table, columns);
    (void)printf("%s%s\n", first > 0 ? "\n" : "", title_of(suite));
    int rc = 0;
    for (size_t i = first; rc == 0 && i < end; i++) {
        const aq_env_class *class = aq_env_at(i);
        if (aq_env_is_family(class)) {
            (void)printf("  %s…  %s\n", class->name, class->summary);
        } else {
            rc = add_row(&table, class, error);
        }
    }
    const int printed = aq_text_table_end(&table, rc == 0 ? stdout : NULL);
    return rc == 0 && printed != 0 ? aq_fail(error, printed, "no memory for a table") : rc;
}

static int print_list(aq_error *error)
{
    size_t first = 0;
    while (first < aq_env_count()) {
        char suite[AQ_ENV_SUITE_BYTES];
        char other[AQ_ENV_SUITE_BYTES];
        size_t end = first + 1;
        (void)aq_env_suite(aq_env_at(first)->name, suite);
        while (end < aq_env_count() &&
               strcmp(aq_env_suite(aq_env_at(end)->name, other), suite) == 0) {
            end++;
        }
        int rc = print_suite(suite, first, end, error);
        if (rc != 0) {
            return rc;
        }
        first = end;
    }
    (void)printf("\nEvery task also takes the options\n  %s.\n'actorq envs TASK' tells more "
                 "about one. Options stand behind it: 'gym:FrozenLake-v1?map=8x8'.\n",
                 AQ_ENV_WRAP_OPTIONS);
    return 0;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int show_list(aq_json_form json, aq_error *error)
{
    json_t *object = NULL;
    if (!json) {
        return print_list(error);
    }
    int rc = list_json(&object, error);
    return rc == 0 ? aq_print_json(object, json, error) : rc;
}

static int show_task(const char *task, aq_json_form json, aq_error *error)
{
    aq_env *env = NULL;
    aq_env_allow_code(task);
    int rc = aq_env_open(task, &env, error);
    if (rc == 0 && json) {
        rc = aq_print_json(aq_env_view_json(env), json, error);
    } else if (rc == 0) {
        aq_env_view_print(stdout, env);
    }
    aq_env_unref(env);
    return rc;
}

static const envs_arguments defaults = {0};

static int envs(void *given, aq_error *error)
{
    const envs_arguments *arguments = given;
    return arguments->task ? show_task(arguments->task, arguments->json, error)
                           : show_list(arguments->json, error);
}

const aq_command aq_command_envs = {
    .name = "envs",
    .summary = "list the environments, or show one",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = envs,
};
