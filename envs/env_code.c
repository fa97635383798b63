/*
 * See env_code.h. Options behind a name are values, not code, and may differ.
 */
#include "envs/env_code.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/mutex.h"
#include "common/base/parse.h"

static _Atomic bool any_is_allowed;
static pthread_mutex_t naming = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static char allowed[AQ_TASK_NAME_MAX];

void aq_env_whole_name(const char *task, char ret_name[AQ_TASK_NAME_MAX])
{
    static const char plugins[] = "so:";
    char folder[AQ_TASK_NAME_MAX];
    const char *path = task + strlen(plugins);
    const bool is_relative = strncmp(task, plugins, strlen(plugins)) == 0 && path[0] != '/';
    if (is_relative && getcwd(folder, sizeof(folder)) != NULL &&
        aq_text_format(ret_name, AQ_TASK_NAME_MAX, "%s%s/%s", plugins, folder,
                       strncmp(path, "./", 2) == 0 ? path + 2 : path) == 0) {
        return;
    }
    (void)snprintf(ret_name, AQ_TASK_NAME_MAX, "%s", task);
}

static void whole_without_options(const char *task, char ret_name[AQ_TASK_NAME_MAX])
{
    aq_env_whole_name(task, ret_name);
    ret_name[strcspn(ret_name, "?")] = '\0';
}

void aq_env_allow_code(const char *task)
{
    if (task == NULL) {
        any_is_allowed = true;
    } else {
        aq_mutex_lock(&naming);
        whole_without_options(task, allowed);
        aq_mutex_unlock(&naming);
    }
}

int aq_env_take_allow_code(void *unused, const char *value, aq_error *error)
{
    (void)unused;
    (void)value;
    (void)error;
    aq_env_allow_code(NULL);
    return 0;
}

const char *aq_env_code_option(const char *task)
{
    const aq_env_class *class = aq_env_find(task);
    return class != NULL && class->runs_code ? " --allow-code" : "";
}

int aq_env_code_check(const aq_env_class *class, const char *task, aq_error *error)
{
    char name[AQ_TASK_NAME_MAX];
    if (!class->runs_code || any_is_allowed) {
        return 0;
    }
    whole_without_options(task, name);
    aq_mutex_lock(&naming);
    const bool is_allowed = strcmp(name, allowed) == 0;
    aq_mutex_unlock(&naming);
    return is_allowed ? 0
                      : aq_fail(error, AQ_E_UNSUPPORTED,
                                "%s is code that you have not named: if you trust who has, give "
                                "--allow-code (in Python, call actorq.allow_code())",
                                task);
}
