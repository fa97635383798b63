/*
 * Code that a task brings with its name: a plug-in, a Python module. Names come with policies, data
 * sets, stores, run folders and peers, too, and whoever made those is not whoever reads them. So
 * code is loaded only where it was named by who started this process: on its command line, in a
 * configuration file that was given there, or by --allow-code. This is the one place that decides.
 *
 * Process-wide, any thread: what was named last counts.
 */
#ifndef AQ_ENVS_ENV_CODE_H
#define AQ_ENVS_ENV_CODE_H

#include "common/base/error.h"
#include "common/policy/snapshot.h"
#include "envs/env.h"

/* This task was named here; NULL: any may come, whoever names it. */
void aq_env_allow_code(const char *task);

/* AQ_E_UNSUPPORTED, in words that say how to allow it, for a class that runs code which nobody has
 * allowed. */
int aq_env_code_check(const aq_env_class *class, const char *task, aq_error *error) AQ_MUST_USE;

/* What a command line of ours has behind it for such a task: " --allow-code", or "". */
const char *aq_env_code_option(const char *task);

/* The task under a name by which it is found from any folder of this host, if there is room: of a
 * plug-in, the path is whole. */
void aq_env_whole_name(const char *task, char ret_name[AQ_TASK_NAME_MAX]);

int aq_env_take_allow_code(void *unused, const char *value, aq_error *error) AQ_MUST_USE;

#define AQ_ALLOW_CODE_OPTION                                                                       \
    {                                                                                              \
        "allow-code", 0, NULL,                                                                     \
            "load the plug-in or Python module that is named as the task by what is read, or by "  \
            "a peer: it runs as you",                                                              \
            AQ_OPTION_TAKEN, .take = aq_env_take_allow_code                                        \
    }

#endif
