/*
 * actorq envs: the environments of this build, or one of them whole.
 */
#include "cli/env/env_list.h"
#include "cli/env/env_view.h"
#include "cli/text/command.h"
#include "envs/env_open.h"

typedef struct envs_arguments {
    const char *task;
    bool json;
} envs_arguments;

static const aq_option option_rows[] = {
    {"json", 0, NULL, "print one JSON object on standard output", AQ_TO_FLAG(envs_arguments, json)},
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
    .rows = option_rows,
    .count = sizeof(option_rows) / sizeof(option_rows[0]),
    .operands = {AQ_OPTIONAL_OPERAND("TASK", envs_arguments, task)},
};

static int show_list(const char *command, bool json)
{
    aq_error error = {0};
    json_t *object = NULL;
    int rc = json ? aq_env_list_json(&object, &error) : aq_env_list_print(stdout, &error);
    if (rc != 0) {
        return aq_command_failed(command, &error);
    }
    return json ? aq_command_print_json(command, object) : aq_command_printed(command);
}

static int show_task(const char *command, const char *task, bool json)
{
    aq_error error = {0};
    aq_env *env = NULL;
    int status;
    if (aq_env_open(task, &env, &error) != 0) {
        return aq_command_failed(command, &error);
    }
    if (json) {
        status = aq_command_print_json(command, aq_env_view_json(env));
    } else {
        aq_env_view_print(stdout, env);
        status = aq_command_printed(command);
    }
    aq_env_unref(env);
    return status;
}

static int run(int argc, char **argv)
{
    envs_arguments arguments = {0};
    int status;
    if (!aq_command_begin(&options_page, argc, argv, NULL, &arguments, &status)) {
        return status;
    }
    return arguments.task ? show_task(argv[0], arguments.task, arguments.json)
                          : show_list(argv[0], arguments.json);
}

const aq_command aq_command_envs = {
    .name = "envs",
    .summary = "list the environments, or show one",
    .run = run,
};
