/*
 * Metric names: see metric_names.h.
 */
#include "learner/metrics/metric_names.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/base/parse.h"

/* Lines are ours and not deeper. */
enum { DEPTH_MAX = 8 };

typedef struct number_walk {
    aq_metric_fn take;
    void *user;
} number_walk;

static void walk(const number_walk *of, const char *name, const json_t *value, int depth);

/* "energy/roles" and "actor": "energy/roles/actor". */
static void walk_part(const number_walk *of, const char *name, const char *part,
                      const json_t *value, int depth)
{
    char path[AQ_METRIC_NAME_MAX];
    if (aq_text_format(path, sizeof(path), "%s%s%s", name, name[0] != '\0' ? "/" : "", part) == 0) {
        walk(of, path, value, depth + 1);
    }
}

static void walk(const number_walk *of, const char *name, const json_t *value, int depth)
{
    if (json_is_number(value) && isfinite(json_number_value(value))) {
        of->take(of->user, name, json_number_value(value));
    }
    if (depth > DEPTH_MAX) {
        return;
    }
    const char *key;
    json_t *part;
    json_object_foreach((json_t *)(uintptr_t)value, key, part)
    {
        walk_part(of, name, key, part, depth);
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *who = json_string_value(json_object_get(json_array_get(value, i), "name"));
        if (who) {
            walk_part(of, name, who, json_array_get(value, i), depth);
        }
    }
}

void aq_metric_each(const struct json_t *line, aq_metric_fn take, void *user)
{
    const number_walk of = {take, user};
    walk(&of, "", line, 0);
}

/* True for what an event has that is there to tell it from others, and is no measurement. */
static bool is_place(const char *name)
{
    static const char *const places[] = {"env_steps", "wall_s", "replay/store"};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (strcmp(name, places[i]) == 0) {
            return true;
        }
    }
    return false;
}

const char *aq_metric_tag(const char *event, const char *name, const char *format, char *out,
                          size_t size)
{
    int rc;
    if (is_place(name) || strcmp(event, "end") == 0) {
        return NULL;
    }
    if (strcmp(event, "progress") == 0) {
        return strcmp(name, "training_return") == 0 ? "return/training" : name;
    }
    if (strcmp(name, "return_fp32") == 0) {
        return "return/fp32";
    }
    if (strcmp(name, "return_mean") == 0) {
        rc = aq_text_format(out, size, "return/%s", format);
    } else {
        rc = aq_text_format(out, size, "%s/%s", event, name);
    }
    return rc != 0 ? NULL : out;
}
