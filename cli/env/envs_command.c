/*
 * actorq envs: the environments of this build, or one of them whole.
 */
#include "cli/env/env_list.h"
#include "cli/env/env_view.h"
#include "cli/text/command.h"
#include "envs/env_code.h"
#include "envs/env_open.h"

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

static int show_list(aq_json_form json, aq_error *error)
{
    json_t *object = NULL;
    if (!json) {
        return aq_env_list_print(stdout, error);
    }
    int rc = aq_env_list_json(&object, error);
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
