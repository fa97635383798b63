/*
 * Opening environments. What is open never changes, so that references are all that threads share.
 */
#include "envs/env_open.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/base/memory.h"
#include "common/base/nearest.h"
#include "common/base/parse.h"
#include "envs/env_code.h"
#include "envs/env_wrap.h"

/* ---- names ---------------------------------------------------------------------------------- */

/* Names, to be said to somebody, of which the first few are enough. */
enum { NAMES_SAID_MAX = 4, NAMES_SAID_BYTES = 256 };

/* In whatever case. */
static bool contains(const char *name, const char *text)
{
    const size_t length = strlen(text);
    for (; *name != '\0'; name++) {
        if (strncasecmp(name, text, length) == 0) {
            return true;
        }
    }
    return false;
}

/* "dmc:walker_run, dmc:walker_stand": those with that text in them. False: none. */
static bool list_names_with(const char *text, char *out)
{
    size_t said = 0, used = 0;
    for (size_t i = 0; text[0] != '\0' && i < aq_env_count() && said < NAMES_SAID_MAX; i++) {
        const char *name = aq_env_at(i)->name;
        if (contains(name, text) && aq_text_format(out + used, NAMES_SAID_BYTES - used, "%s%s",
                                                   said > 0 ? ", " : "", name) == 0) {
            used += strlen(out + used);
            said++;
        }
    }
    return said > 0;
}

/* A name without its suite is compared with names without theirs, and all are also without their
 * versions, which can be left out. Of several versions that are as near, the last is the newest,
 * and the first that is offered stays. */
static void offer_names(aq_nearest *nearest, const char *task)
{
    for (size_t i = aq_env_count(); i-- > 0;) {
        const char *name = aq_env_at(i)->name;
        const char *colon = strchr(name, ':');
        const bool is_short = strchr(task, ':') == NULL && colon != NULL;
        const char *offer = is_short ? colon + 1 : name;
        const char *version = strstr(offer, "-v");
        char alone[AQ_TASK_NAME_MAX];
        if (offer[0] != '\0') {
            aq_nearest_offer(nearest, offer);
        }
        if (version != NULL) {
            (void)snprintf(alone, sizeof(alone), "%.*s", (int)(version - offer), offer);
            aq_nearest_offer(nearest, alone);
        }
    }
}

static int fail_unknown(const char *task, aq_error *error)
{
    char names[NAMES_SAID_BYTES];
    if (list_names_with(task, names)) {
        return aq_fail(error, AQ_E_NOT_FOUND, "the task '%s' is not known; there are %s", task,
                       names);
    }
    aq_nearest nearest;
    aq_nearest_init(&nearest, task);
    offer_names(&nearest, task);
    const char *guess = aq_nearest_name(&nearest);
    if (guess != NULL) {
        return aq_fail(error, AQ_E_NOT_FOUND, "the task '%s' is not known; did you mean '%s'?",
                       task, guess);
    }
    return aq_fail(error, AQ_E_NOT_FOUND,
                   "the task '%s' is not known; 'actorq envs' lists those that are", task);
}

/* The class's name, or the whole one of a member of a family, with the options of `name`. */
static int compose_name(const aq_env_class *class, const char *name, char *out, aq_error *error)
{
    const char *options = strchr(name, '?');
    int rc = aq_env_is_family(class) ? aq_text_set(out, AQ_TASK_NAME_MAX, name)
                                     : aq_text_format(out, AQ_TASK_NAME_MAX, "%s%s", class->name,
                                                      options != NULL ? options : "");
    if (rc != 0) {
        return aq_fail(error, AQ_E_INVALID, "the name of the task '%s' is longer than %d letters",
                       name, AQ_TASK_NAME_MAX - 1);
    }
    return 0;
}

static int find(const char *name, const aq_env_class **ret_class, aq_error *error)
{
    aq_env_options options;
    int rc = aq_env_options_parse(name, &options, error);
    if (rc != 0) {
        return rc;
    }
    const aq_env_class *class = aq_env_find(options.task);
    if (class == NULL) {
        return fail_unknown(options.task, error);
    }
    *ret_class = class;
    return 0;
}

int aq_env_full_name(const char *name, char ret_name[AQ_TASK_NAME_MAX])
{
    const aq_env_class *class = NULL;
    int rc = find(name, &class, NULL);
    return rc != 0 ? rc : compose_name(class, name, ret_name, NULL);
}

/* ---- opening -------------------------------------------------------------------------------- */

/* The class of a wrapped environment lies in its parameters. */
static void destroy(aq_env *env)
{
    if (env->params != NULL && env->class->close != NULL) {
        env->class->close(env->params);
    }
    aq_free(env->params);
    aq_free(env);
}

static int open_params(aq_env *env, aq_env_options *options, aq_error *error)
{
    const aq_env_class *class = env->class;
    void *params = aq_alloc(1, class->params_bytes);
    if (params == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for the parameters of %s", env->name);
    }
    if (class->defaults != NULL) {
        memcpy(params, class->defaults, class->params_bytes);
    }
    aq_env_opening opening = {
        .argument = aq_env_is_family(class) ? options->task + strlen(class->name) : "",
        .options = options,
        .step_limit = class->step_limit,
        .reward_threshold = class->reward_threshold,
        .summary = class->summary,
        .options_help = class->options,
        .can_be_drawn = class->draw != NULL,
    };
    int rc = class->open != NULL ? class->open(params, &opening, error) : 0;
    if (rc != 0) {
        aq_free(params);
        return rc;
    }
    env->params = params;
    env->step_limit = opening.step_limit;
    env->reward_threshold = opening.reward_threshold;
    env->summary = opening.summary;
    env->options = opening.options_help;
    env->can_be_drawn = opening.can_be_drawn;
    class->schema(params, &env->schema);
    rc = aq_schema_validate(&env->schema, error);
    return rc != 0 ? aq_fail_context(error, rc, "%s", env->name) : 0;
}

static int finish_options(const aq_env *env, const aq_env_options *options, aq_error *error)
{
    char known[AQ_ERROR_TEXT_MAX];
    const char *own = env->options;
    (void)snprintf(known, sizeof(known), "%s%s%s", own != NULL ? own : "", own != NULL ? ", " : "",
                   AQ_ENV_WRAP_OPTIONS);
    return aq_env_options_finish(options, known, error);
}

int aq_env_open_class(const aq_env_class *class, const char *name, aq_env **ret_env,
                      aq_error *error)
{
    aq_env_options options;
    int rc = aq_env_options_parse(name, &options, error);
    if (rc != 0) {
        return rc;
    }
    aq_env *env = aq_alloc(1, sizeof(*env));
    if (env == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for the task %s", class->name);
    }
    env->class = class;
    aq_references_init(&env->references);
    rc = aq_env_code_check(class, name, error);
    rc = rc != 0 ? rc : compose_name(class, name, env->name, error);
    rc = rc != 0 ? rc : open_params(env, &options, error);
    rc = rc != 0 ? rc : aq_env_wrap(env, &options, error);
    rc = rc != 0 ? rc : finish_options(env, &options, error);
    if (rc != 0) {
        destroy(env);
        return rc;
    }
    *ret_env = env;
    return 0;
}

int aq_env_open(const char *name, aq_env **ret_env, aq_error *error)
{
    const aq_env_class *class = NULL;
    int rc = find(name, &class, error);
    return rc != 0 ? rc : aq_env_open_class(class, name, ret_env, error);
}

int aq_env_open_to_act(const char *name, aq_env **ret_env, aq_error *error)
{
    char shown[AQ_TASK_NAME_MAX];
    aq_env *env;
    int rc = aq_env_open(name, &env, error);
    if (rc != 0) {
        return rc;
    }
    if (env->schema.obs.kind != AQ_SPACE_DISCRETE || strstr(name, "one_hot=") != NULL) {
        *ret_env = env;
        return 0;
    }
    rc = aq_text_format(shown, sizeof(shown), "%s%cone_hot=bytes", env->name,
                        strchr(env->name, '?') != NULL ? '&' : '?');
    aq_env_unref(env);
    return rc != 0 ? aq_fail(error, rc, "%s is too long for one_hot=bytes", name)
                   : aq_env_open(shown, ret_env, error);
}

const char *aq_env_said(const aq_env *env, const void *state, const char *fallback)
{
    const char *text = env->class->failure != NULL ? env->class->failure(env->params, state) : NULL;
    return text != NULL ? text : fallback;
}

const char *aq_env_said_last(const char *said)
{
    enum { WORDS_BYTES = 32, LAST_BYTES = AQ_ERROR_TEXT_MAX - AQ_TASK_NAME_MAX - WORDS_BYTES };
    const size_t length = strlen(said);
    if (length <= LAST_BYTES) {
        return said;
    }
    const char *last = said + length - LAST_BYTES;
    const char *line_end = memchr(last, '\n', LAST_BYTES / 2);
    if (line_end != NULL) {
        return line_end + 1;
    }
    while (((unsigned char)*last & 0xc0) == 0x80) { /* within a character */
        last++;
    }
    return last;
}

aq_env *aq_env_ref(aq_env *env)
{
    aq_references_add(&env->references);
    return env;
}

void aq_env_unref(aq_env *env)
{
    if (env != NULL && aq_references_drop(&env->references)) {
        destroy(env);
    }
}
