/*
 * Env view: see env_view.h.
 */
#include "cli/env/env_view.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/text/command.h"
#include "common/base/parse.h"
#include "common/base/plain_text.h"
#include "envs/env_picture.h"
#include "envs/env_wrap.h"

enum { SPACE_TEXT_BYTES = 160, BOUNDS_SHOWN_MAX = 8, FACT_BYTES = 512 };

const char *aq_env_suite(const char *name, char out[AQ_ENV_SUITE_BYTES])
{
    size_t length = strcspn(name, ":");
    (void)snprintf(out, AQ_ENV_SUITE_BYTES, "%.*s", (int)length, name);
    return out;
}

/* ---- for programs --------------------------------------------------------------------------- */

static json_t *numbers_json(const float *numbers, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        aq_json_add(&array, aq_json_number((double)numbers[i]));
    }
    return array;
}

/* How many there are, or of several choices at once a list of that. */
static json_t *choices_json(const aq_space *space)
{
    if (!aq_space_is_several(space)) {
        return aq_json_count(space->choice_count);
    }
    json_t *list = json_array();
    for (uint32_t i = 0; i < space->shape[0]; i++) {
        aq_json_add(&list, aq_json_count(aq_space_choices(space, i)));
    }
    return list;
}

/* Bounds are one for all elements, or one each; null is none. */
static json_t *space_json(const aq_space *space)
{
    if (space->kind == AQ_SPACE_DISCRETE) {
        return json_pack("{s:s, s:o}", "kind", "discrete", "choices", choices_json(space));
    }
    json_t *shape = json_array();
    for (uint32_t i = 0; i < space->rank; i++) {
        aq_json_add(&shape, aq_json_count(space->shape[i]));
    }
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "kind", "box", "dtype",
                     space->dtype == AQ_DTYPE_U8 ? "u8" : "f32", "shape", shape, "low",
                     numbers_json(space->low, space->bound_count), "high",
                     numbers_json(space->high, space->bound_count));
}

/* Whether there is something to look at: those that draw themselves are not the only ones. */
static bool has_picture(const aq_env *env)
{
    return aq_env_picture_check(env, NULL) == 0;
}

json_t *aq_env_view_json(const aq_env *env)
{
    char suite[AQ_ENV_SUITE_BYTES];
    char schema[SPACE_TEXT_BYTES];
    const aq_env_class *class = env->class;
    (void)aq_schema_text(&env->schema, schema, sizeof(schema));
    json_t *limit = env->step_limit ? json_integer(env->step_limit) : json_null();
    json_t *options = env->options != NULL ? aq_json_text(env->options) : json_null();
    return json_pack("{s:o, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:b}", "name",
                     aq_json_text(env->name), "suite", aq_env_suite(class->name, suite), "summary",
                     aq_json_text(env->summary), "schema", schema, "observation",
                     space_json(&env->schema.obs), "action", space_json(&env->schema.action),
                     "step_limit", limit, "reward_threshold", aq_json_number(env->reward_threshold),
                     "options", options, "can_be_drawn", has_picture(env), "can_be_replayed",
                     class->put != NULL);
}

/* ---- for people ----------------------------------------------------------------------------- */

/* " from -1 to 1", or by element while there are few. */
static void append_bounds(char *out, size_t size, const aq_space *space)
{
    bool is_one = true;
    for (uint32_t i = 1; i < space->bound_count; i++) {
        is_one = is_one && space->low[i] == space->low[0] && space->high[i] == space->high[0];
    }
    size_t shown = is_one ? 1 : space->bound_count;
    if (shown > BOUNDS_SHOWN_MAX) {
        aq_text_append(out, size, ", with bounds of their own (see --json)");
        return;
    }
    for (size_t i = 0; i < shown; i++) {
        const bool is_open = isinf(space->low[i]) && isinf(space->high[i]);
        aq_text_append(out, size, is_open ? ", any number" : ", %.4g to %.4g",
                       (double)space->low[i], (double)space->high[i]);
    }
}

/* "box f32[4], -1 to 1" or "discrete 2" of a schema's text, whose sides are its spaces. */
static void print_spaces(FILE *out, const aq_schema *schema)
{
    char text[SPACE_TEXT_BYTES];
    char seen[2 * SPACE_TEXT_BYTES];
    char done[2 * SPACE_TEXT_BYTES];
    (void)aq_schema_text(schema, text, sizeof(text));
    char *arrow = strstr(text, " -> ");
    if (arrow == NULL) {
        aq_print_fact(out, "spaces", "%s", text);
        return;
    }
    *arrow = '\0';
    (void)snprintf(seen, sizeof(seen), "%s", text);
    (void)snprintf(done, sizeof(done), "%s", arrow + strlen(" -> "));
    if (schema->obs.kind == AQ_SPACE_BOX) {
        append_bounds(seen, sizeof(seen), &schema->obs);
    }
    if (schema->action.kind == AQ_SPACE_BOX) {
        append_bounds(done, sizeof(done), &schema->action);
    }
    aq_print_fact(out, "observation", "%s", seen);
    aq_print_fact(out, "action", "%s", done);
}

void aq_env_view_print(FILE *out, const aq_env *env)
{
    char name[AQ_TASK_NAME_MAX], text[FACT_BYTES];
    (void)fprintf(out, "%s\n", aq_plain_text(name, sizeof(name), env->name));
    (void)fprintf(out, "  %s\n", aq_plain_text(text, sizeof(text), env->summary));
    print_spaces(out, &env->schema);
    if (env->step_limit > 0) {
        aq_print_fact(out, "episode", "up to %" PRIu32 " steps", env->step_limit);
    } else {
        aq_print_fact(out, "episode", "as long as the task lets it");
    }
    if (!isnan(env->reward_threshold)) {
        aq_print_fact(out, "solved", "by a mean return 3 standard errors above %g",
                      env->reward_threshold);
    }
    aq_print_fact(out, "options", "%s", env->options != NULL ? env->options : "none");
    aq_print_fact(out, "and as all", AQ_ENV_WRAP_OPTIONS);
    aq_print_fact(out, "picture", "%s", has_picture(env) ? "yes" : "no");
    aq_print_fact(out, "recordings", "%s",
                  env->class->put != NULL ? "of the original can be played back in it" : "no");
}
