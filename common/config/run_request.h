/*
 * Run request: what somebody asks for, and the configuration that comes of it. The same for every
 * program that is given a task: the settings' defaults, then a preset or a run's own settings, then
 * the file, then the task, then single settings; and where nobody chose an algorithm, the one for
 * the task's actions.
 *
 *   rc = aq_run_request_task(&request, task, error);   which the caller opens
 *   rc = aq_run_request_read(&request, env->name, &env->schema, &config, error);
 *
 * Any thread; no state.
 */
#ifndef AQ_COMMON_CONFIG_RUN_REQUEST_H
#define AQ_COMMON_CONFIG_RUN_REQUEST_H

#include "common/config/run_config.h"

typedef struct aq_run_request {
    const char *preset; /* NULL: the one that the file or a setting names, or the task's default */
    const char *path;   /* of the file; NULL: there is none */
    const char *own;    /* a run's own file: it says all, and lies in a preset's place; or NULL */
    const char *task;   /* NULL: that of the file or of a setting */
    const aq_settings_assignments *assignments;
    bool is_offline; /* from a data set alone: where nobody chose, iql, or q of a table's states */
} aq_run_request;

/* The task as asked for. AQ_E_INVALID for a preset's pattern; what reading the file gives. */
int aq_run_request_task(const aq_run_request *request, char ret_task[AQ_TASK_NAME_MAX],
                        aq_error *error) AQ_MUST_USE;

/* The defaults, and over them what was asked for, without a preset: what is not set may come to be
 * anything, and the task is empty where none was named. Errors as above. */
int aq_run_request_asked(const aq_run_request *request, aq_run_config *ret_asked,
                         aq_error *error) AQ_MUST_USE;

/* The run whose file `own` is goes on: that comes to lie under what is asked for, unless a preset
 * that is not the run's is named beside a file. So a program with other presets changes nothing.
 * What reading the files gives. */
int aq_run_request_resume(aq_run_request *request, const char *own, aq_error *error) AQ_MUST_USE;

/* All of it, for the task of that full name; `preset` is the one that was taken. Rules between
 * settings are not checked. AQ_E_NOT_FOUND for a preset, AQ_E_UNSUPPORTED for an algorithm that is
 * not for the task, AQ_E_INVALID. */
int aq_run_request_read(const aq_run_request *request, const char *task, const aq_schema *schema,
                        aq_run_config *ret_config, aq_error *error) AQ_MUST_USE;

/* The setting that an option may have been meant as ("learning-rate"), for aq_options; or NULL. */
const char *aq_run_request_setting(const char *option);

#endif
