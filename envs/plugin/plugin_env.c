/*
 * From our interface to that of plug-ins. What the plug-in does wrong is noted in words that name
 * it; whoever drives it counts the failed episodes and logs the words.
 */
#include "envs/plugin/plugin_env.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/base/memory.h"
#include "common/experience/finite.h"
#include "common/policy/snapshot.h"
#include "envs/plugin/plugin_check.h"
#include "envs/plugin/plugin_library.h"

enum { REFUSAL_BYTES = 256, FAILURE_BYTES = 384, OPTIONS_BYTES = 256 };

static const char check_option[] = "check (yes: watch all that it writes)";

typedef struct plugin_params {
    aq_plugin_library library;
    const actorq_env *env;
    void *inner; /* the plug-in's own */
    bool opened; /* its `open` has succeeded */
    aq_schema schema;
    aq_plugin_check *check;      /* NULL: not asked for */
    char *failure;               /* FAILURE_BYTES: why the last call failed */
    char name[AQ_TASK_NAME_MAX]; /* for messages */
    char options[OPTIONS_BYTES]; /* its own, and ours */
} plugin_params;

/* Reached through a pointer, as its size is the plug-in's. */
typedef struct plugin_state {
    void *inner;
} plugin_state;

/* ---- options -------------------------------------------------------------------------------- */

typedef struct option_host {
    aq_env_options *options;
    aq_error error; /* what `number` refused */
} option_host;

static const char *option_text(void *host, const char *key)
{
    return aq_env_option_text(((option_host *)host)->options, key);
}

static int option_number(void *host, const char *key, double low, double high, double *value)
{
    option_host *h = host;
    return aq_env_option_f64(h->options, key, low, high, value, &h->error) == 0 ? 0 : -1;
}

/* ---- open, close ---------------------------------------------------------------------------- */

static int open_inner(plugin_params *p, aq_env_options *options, aq_error *error)
{
    char refusal[REFUSAL_BYTES] = "";
    option_host host = {.options = options};
    const actorq_options offered = {.text = option_text, .number = option_number, .host = &host};
    if (p->env->open != NULL && p->env->open(p->inner, &offered, refusal, sizeof(refusal)) != 0) {
        refusal[sizeof(refusal) - 1] = '\0';
        const char *words = refusal[0] != '\0'     ? refusal
                            : host.error.code != 0 ? host.error.text
                                                   : "it refuses to open and does not say why";
        return aq_fail(error, AQ_E_INVALID, "plug-in %s: %s", p->name, words);
    }
    p->opened = true;
    return 0;
}

static void close_plugin(void *params)
{
    plugin_params *p = params;
    if (p->opened && p->env->close != NULL) {
        p->env->close(p->inner);
    }
    aq_plugin_check_destroy(p->check);
    aq_free(p->inner);
    aq_free(p->failure);
    aq_plugin_library_close(&p->library);
}

static int open_checked(plugin_params *p, bool checked, aq_env_options *options, aq_error *error)
{
    p->inner = aq_alloc(1, (size_t)p->env->params_bytes);
    p->failure = aq_alloc(1, FAILURE_BYTES);
    if (p->inner == NULL || p->failure == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for plug-in %s", p->name);
    }
    int rc = open_inner(p, options, error);
    rc = rc != 0 ? rc : aq_plugin_schema(p->env, p->inner, &p->schema, error);
    if (rc == 0 && checked && aq_plugin_check_create(p->env, &p->schema, &p->check) != 0) {
        rc = aq_fail(error, AQ_E_NOMEM, "no memory to check plug-in %s", p->name);
    }
    return rc;
}

/* What the plug-in says of itself. */
static void introduce(plugin_params *p, aq_env_opening *opening)
{
    const actorq_env *env = p->env;
    const bool has_own = env->options != NULL && env->options[0] != '\0';
    (void)snprintf(p->options, sizeof(p->options), "%s%s%s", has_own ? env->options : "",
                   has_own ? ", " : "", check_option);
    opening->step_limit = env->step_limit;
    opening->reward_threshold = env->reward_threshold;
    opening->summary =
        env->summary != NULL && env->summary[0] != '\0' ? env->summary : opening->summary;
    opening->options_help = p->options;
    opening->can_be_drawn = env->draw != NULL;
}

static int open_plugin(void *params, aq_env_opening *opening, aq_error *error)
{
    plugin_params *p = params;
    bool checked = false;
    int rc = aq_env_option_bool(opening->options, "check", &checked, error);
    rc = rc != 0 ? rc : aq_plugin_library_open(opening->argument, &p->library, error);
    if (rc != 0) {
        return rc;
    }
    p->env = p->library.env;
    (void)snprintf(p->name, sizeof(p->name), "so:%s", opening->argument);
    rc = open_checked(p, checked, opening->options, error);
    if (rc != 0) {
        close_plugin(p);
        return rc;
    }
    introduce(p, opening);
    return 0;
}

static void schema(const void *params, aq_schema *ret_schema)
{
    *ret_schema = ((const plugin_params *)params)->schema;
}

/* ---- lanes ---------------------------------------------------------------------------------- */

static int begin(const void *params, void *state, aq_error *error)
{
    const plugin_params *p = params;
    plugin_state *s = state;
    s->inner = aq_alloc(1, (size_t)p->env->state_bytes);
    return s->inner != NULL ? 0
                            : aq_fail(error, AQ_E_NOMEM, "no memory for a state of %s", p->name);
}

static void end(const void *params, void *state)
{
    plugin_state *s = state;
    (void)params;
    aq_free(s->inner);
    s->inner = NULL;
}

/* ---- stepping ------------------------------------------------------------------------------- */

AQ_PRINTF(2, 3) static void fail(const plugin_params *p, const char *format, ...)
{
    va_list arguments;
    const int named = snprintf(p->failure, FAILURE_BYTES, "plug-in %s: ", p->name);
    va_start(arguments, format);
    (void)vsnprintf(p->failure + named, FAILURE_BYTES - (size_t)named, format, arguments);
    va_end(arguments);
}

static enum aq_step_end run(const plugin_params *p, const aq_plugin_call *call, void *state,
                            void *obs, float *reward)
{
    const char *name = call->action != NULL ? "step" : "reset";
    const char *fault = NULL;
    char why[AQ_ROW_FAULT_MAX];
    enum aq_step_end how = p->check != NULL
                               ? aq_plugin_check_run(p->check, call, state, obs, reward, &fault)
                               : aq_plugin_call_run(call, state, obs, reward);
    if (fault != NULL) {
        fail(p, "%s %s", name, fault);
    } else if (how == AQ_STEP_FAILED) {
        fail(p, "%s says that it failed", name);
    } else if (call->action == NULL && how != AQ_STEP_GOES_ON) {
        fail(p, "reset ends the episode that it begins");
        how = AQ_STEP_FAILED;
    } else if (call->action != NULL && !isfinite(*reward)) {
        fail(p, "step gives a reward of %g", (double)*reward);
        how = AQ_STEP_FAILED;
    } else if (aq_space_row_fault(&p->schema.obs, obs, why, sizeof(why))) {
        fail(p, "%s %s", name, why);
        how = AQ_STEP_FAILED;
    }
    return how;
}

static bool reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    const plugin_params *p = params;
    const aq_plugin_call call = {.env = p->env, .params = p->inner, .rng = rng};
    float reward = 0.0f;
    return run(p, &call, ((plugin_state *)state)->inner, obs, &reward) == AQ_STEP_GOES_ON;
}

static enum aq_step_end step(const void *params, void *state, aq_rng *rng, const void *action,
                             void *obs, float *reward)
{
    const plugin_params *p = params;
    const aq_plugin_call call = {.env = p->env, .params = p->inner, .rng = rng, .action = action};
    return run(p, &call, ((plugin_state *)state)->inner, obs, reward);
}

static const char *failure(const void *params, const void *state)
{
    (void)state;
    return ((const plugin_params *)params)->failure;
}

/* ---- states and pictures -------------------------------------------------------------------- */

static void observe(const void *params, const void *state, void *obs)
{
    const plugin_params *p = params;
    p->env->observe(p->inner, ((const plugin_state *)state)->inner, obs);
}

static void draw(const void *params, const void *state, aq_canvas *canvas)
{
    const plugin_params *p = params;
    p->env->draw(p->inner, ((const plugin_state *)state)->inner, canvas->width, canvas->height,
                 canvas->pixels);
}

const aq_env_class aq_plugin_env = {
    .name = "so:",
    .summary = "A plug-in in C: so:./my_env.so, or so:./my_env.so:name (actorq_env.h).",
    .options = "check (yes: watch all that it writes), and the plug-in's own",
    .reward_threshold = NAN,
    .runs_code = true,
    .params_bytes = sizeof(plugin_params),
    .state_bytes = sizeof(plugin_state),
    .open = open_plugin,
    .close = close_plugin,
    .schema = schema,
    .begin = begin,
    .end = end,
    .reset = reset,
    .step = step,
    .failure = failure,
    .observe = observe,
    .draw = draw,
};
