/*
 * Sweep space, as it is read: see sweep_space_read.h.
 *
 *   learner.learning_rate: {log: [1e-4, 1e-2]}
 *   learner.batch_size: {pow2: [32, 256]}
 *   learner.algorithm: [dqn, c51]
 *   learner.value_max: {linear: [50, 200], points: 4, when: {learner.algorithm: c51}}
 */
#include "cli/sweep/study/sweep_space_read.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/nearest.h"
#include "common/base/parse.h"
#include "common/config/run_config.h"

enum { POINTS_DEFAULT = 3, POINTS_MAX = 64 };

static const char *const scale_names[] = {AQ_SWEEP_SCALES(AQ_CHOICE_WORD) NULL};

/* ---- what is wrong -------------------------------------------------------------------------- */

int aq_sweep_wrong(const aq_sweep_reader *reader, aq_yaml_node node, const char *format, ...)
{
    char words[AQ_ERROR_TEXT_MAX];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(words, sizeof(words), format, values);
    va_end(values);
    return aq_fail(reader->error, AQ_E_INVALID, "%s:%zu: %s", reader->name, aq_yaml_line(node),
                   words);
}

int aq_sweep_keys_check(const aq_sweep_reader *reader, aq_yaml_node node, const char *const *keys)
{
    if (aq_yaml_kind(node) != AQ_YAML_MAPPING) {
        return aq_sweep_wrong(reader, node, "lines of the form 'key: value' are expected");
    }
    for (size_t i = 0; i < aq_yaml_count(node); i++) {
        const char *key = aq_yaml_key_at(node, i);
        aq_nearest nearest;
        if (aq_choice_find(keys, key) >= 0) {
            continue;
        }
        aq_nearest_init(&nearest, key);
        for (const char *const *word = keys; *word != NULL; word++) {
            aq_nearest_offer(&nearest, *word);
        }
        const char *near = aq_nearest_name(&nearest);
        return aq_sweep_wrong(reader, aq_yaml_at(node, i), "'%s' is not known here; %s%s%s", key,
                              near != NULL ? "did you mean " : "there are keys such as ",
                              near != NULL ? near : keys[0], near != NULL ? "?" : "");
    }
    return 0;
}

static int value_text(aq_yaml_node node, char *out, size_t size)
{
    size_t used = 0;
    if (aq_yaml_kind(node) != AQ_YAML_LIST) {
        const char *text = aq_yaml_text(node);
        return text != NULL ? aq_text_set(out, size, text) : AQ_E_INVALID;
    }
    out[0] = '\0';
    for (size_t i = 0; i < aq_yaml_count(node); i++) {
        const char *text = aq_yaml_text(aq_yaml_at(node, i));
        if (text == NULL ||
            aq_text_format(out + used, size - used, "%s%s", i > 0 ? "," : "", text) != 0) {
            return AQ_E_INVALID;
        }
        used += strlen(out + used);
    }
    return 0;
}

static int try_value(const aq_sweep_reader *reader, aq_yaml_node node, const char *key,
                     const char *text)
{
    char assignment[AQ_SETTINGS_KEY_MAX + 300];
    aq_error problem = {0};
    if (strchr(key, '=') != NULL) { /* which would assign another setting, such as the task */
        return aq_sweep_wrong(reader, node, "%s: no such setting", key);
    }
    return aq_text_format(assignment, sizeof(assignment), "%s=%s", key, text) != 0
               ? aq_sweep_wrong(reader, node, "%s: the value is too long", key)
           : aq_settings_assign(aq_run_config_table(), assignment, NULL, &problem) != 0
               ? aq_sweep_wrong(reader, node, "%s", problem.text)
               : 0;
}

int aq_sweep_value_check(const aq_sweep_reader *reader, aq_yaml_node node, const char *key,
                         char *out, size_t size)
{
    static const char *const settings[] = {"task", "preset", "seed", "limits.env_steps", NULL};
    static const char *const own_keys[] = {"task", "preset", "seeds", "rungs"};
    const int owned = aq_choice_find(settings, key);
    if (owned >= 0) {
        return aq_sweep_wrong(reader, node, "%s has a key of its own in this file: %s", key,
                              own_keys[owned]);
    }
    return value_text(node, out, size) != 0
               ? aq_sweep_wrong(reader, node, "%s: a value of at most %zu bytes is expected", key,
                                size - 1)
               : try_value(reader, node, key, out);
}

/* ---- one dimension -------------------------------------------------------------------------- */

static int take_choices(const aq_sweep_reader *reader, aq_yaml_node node, aq_sweep_dim *dim)
{
    const size_t count = aq_yaml_count(node);
    if (aq_yaml_kind(node) != AQ_YAML_LIST || count < 2 || count > AQ_SWEEP_CHOICES_MAX) {
        return aq_sweep_wrong(reader, node, "%s: a list of 2 to %d values is expected", dim->key,
                              AQ_SWEEP_CHOICES_MAX);
    }
    dim->scale = AQ_SWEEP_CHOICE;
    dim->count = 0;
    for (size_t i = 0; i < count; i++) {
        const aq_yaml_node value = aq_yaml_at(node, i);
        char text[AQ_SWEEP_VALUE_MAX] = {0};
        int rc = aq_sweep_value_check(reader, value, dim->key, text, sizeof(text));
        if (rc == 0 && text[0] == '\0') { /* in a point it says that the setting does not count */
            rc = aq_sweep_wrong(reader, value,
                                "%s: an empty value can be fixed in 'settings', but not varied",
                                dim->key);
        }
        if (rc == 0 && aq_sweep_dim_choice(dim, text) < i) {
            rc = aq_sweep_wrong(reader, value, "%s: '%s' is given twice", dim->key, text);
        }
        if (rc != 0) {
            return rc;
        }
        memcpy(dim->choices[i], text, sizeof(text));
        dim->count++;
    }
    return 0;
}

static int check_ends(const aq_sweep_reader *reader, aq_yaml_node node, const aq_sweep_dim *dim)
{
    const bool is_above = dim->low > 0 || dim->scale == AQ_SWEEP_LINEAR;
    if (!(dim->low < dim->high)) {
        return aq_sweep_wrong(reader, node, "%s: the range ends before it begins", dim->key);
    }
    if (!is_above || (dim->scale == AQ_SWEEP_LOGIT && dim->high >= 1)) {
        return aq_sweep_wrong(
            reader, node, "%s: a range of %s is %s", dim->key, scale_names[dim->scale],
            dim->scale == AQ_SWEEP_LOGIT ? "between 0 and 1, without either" : "above 0");
    }
    if (dim->scale == AQ_SWEEP_POW2 &&
        (exp2(rint(log2(dim->low))) != dim->low || exp2(rint(log2(dim->high))) != dim->high)) {
        return aq_sweep_wrong(reader, node, "%s: the ends are no powers of two", dim->key);
    }
    return 0;
}

static int take_range(const aq_sweep_reader *reader, aq_yaml_node node, aq_sweep_dim *dim)
{
    char texts[2][AQ_SWEEP_VALUE_MAX];
    double *const ends[2] = {&dim->low, &dim->high};
    if (aq_yaml_kind(node) != AQ_YAML_LIST || aq_yaml_count(node) != 2) {
        return aq_sweep_wrong(reader, node, "%s: a range such as [0.1, 0.5] is expected", dim->key);
    }
    for (size_t i = 0; i < 2; i++) {
        int rc =
            aq_sweep_value_check(reader, aq_yaml_at(node, i), dim->key, texts[i], sizeof(texts[i]));
        if (rc != 0) {
            return rc;
        }
        uint64_t whole;
        if (dim->is_whole && aq_parse_whole(texts[i], &whole) == 0) {
            *ends[i] = (double)whole;
        } else if (aq_parse_f64(texts[i], ends[i]) != 0) {
            return aq_sweep_wrong(reader, node, "%s is no number: give its values as a list",
                                  dim->key);
        }
    }
    return check_ends(reader, node, dim);
}

/* {KEY: VALUE} or {KEY: [VALUE, VALUE]} of a dimension above. */
static int take_when(const aq_sweep_reader *reader, aq_yaml_node node, const aq_sweep_space *space,
                     aq_sweep_dim *dim)
{
    const char *key = aq_yaml_key_at(node, 0);
    size_t above = 0;
    if (key == NULL || aq_yaml_count(node) != 1) {
        return aq_sweep_wrong(
            reader, node, "%s: 'when' names one setting, as {learner.algorithm: dqn}", dim->key);
    }
    while (above < space->count && strcmp(space->dims[above].key, key) != 0) {
        above++;
    }
    if (above == space->count || space->dims[above].scale != AQ_SWEEP_CHOICE) {
        return aq_sweep_wrong(reader, node,
                              "%s: 'when' names %s, which stands above with a list of choices in "
                              "no line",
                              dim->key, key);
    }
    const aq_yaml_node values = aq_yaml_at(node, 0);
    const bool is_list = aq_yaml_kind(values) == AQ_YAML_LIST;
    dim->when = (int)above;
    for (size_t i = 0; i < (is_list ? aq_yaml_count(values) : 1); i++) {
        const aq_yaml_node value = is_list ? aq_yaml_at(values, i) : values;
        const char *text = aq_yaml_text(value);
        const size_t choice =
            text != NULL ? aq_sweep_dim_choice(&space->dims[above], text) : AQ_SWEEP_CHOICES_MAX;
        if (choice >= space->dims[above].count) {
            return aq_sweep_wrong(reader, value, "%s: '%s' is no choice of %s", dim->key,
                                  text != NULL ? text : "", key);
        }
        dim->when_choices |= UINT32_C(1) << choice;
    }
    return 0;
}

static int take_points(const aq_sweep_reader *reader, aq_yaml_node node, aq_sweep_dim *dim)
{
    uint64_t points = 0;
    const char *text = aq_yaml_text(node);
    if (text == NULL || aq_parse_u64(text, &points) != 0 || points < 1 || points > POINTS_MAX ||
        dim->scale == AQ_SWEEP_CHOICE) {
        return aq_sweep_wrong(reader, node, "%s: 'points' of a range are 1 to %d", dim->key,
                              POINTS_MAX);
    }
    dim->count = (size_t)points;
    return 0;
}

static int take_scaled(const aq_sweep_reader *reader, aq_yaml_node node, aq_sweep_dim *dim)
{
    static const char *const keys[] = {AQ_SWEEP_SCALES(AQ_CHOICE_WORD) "points", "when", NULL};
    const aq_yaml_node points = aq_yaml_find(node, "points");
    int rc = aq_sweep_keys_check(reader, node, keys);
    size_t scales = 0;
    for (size_t i = 0; rc == 0 && i < aq_yaml_count(node); i++) {
        const int scale = aq_choice_find(scale_names, aq_yaml_key_at(node, i));
        if (scale < 0) {
            continue;
        }
        scales++;
        dim->scale = (enum aq_sweep_scale)scale;
        rc = scale == AQ_SWEEP_CHOICE ? take_choices(reader, aq_yaml_at(node, i), dim)
                                      : take_range(reader, aq_yaml_at(node, i), dim);
    }
    if (rc == 0 && scales != 1) {
        rc = aq_sweep_wrong(reader, node,
                            "%s: one of linear, log, pow2, logit and choice is "
                            "expected",
                            dim->key);
    }
    return rc != 0 || aq_yaml_kind(points) == AQ_YAML_NOTHING ? rc
                                                              : take_points(reader, points, dim);
}

static int take_dim(const aq_sweep_reader *reader, const char *key, aq_yaml_node node,
                    const aq_sweep_space *space, aq_sweep_dim *ret_dim)
{
    const aq_setting *row = aq_settings_find(aq_run_config_table(), key);
    aq_sweep_dim dim = {.when = -1, .count = POINTS_DEFAULT};
    if (row == NULL) { /* says which is near */
        return try_value(reader, node, key, "");
    }
    (void)snprintf(dim.key, sizeof(dim.key), "%s", key);
    dim.is_whole = row->type == AQ_SETTING_U64;
    if (aq_yaml_kind(node) == AQ_YAML_TEXT) {
        return aq_sweep_wrong(reader, node,
                              "%s: a list, or a range such as {log: [1e-4, 1e-2]}, "
                              "is expected; what is fixed stands in 'settings'",
                              key);
    }
    int rc = aq_yaml_kind(node) == AQ_YAML_LIST ? take_choices(reader, node, &dim)
                                                : take_scaled(reader, node, &dim);
    const aq_yaml_node when = aq_yaml_find(node, "when");
    if (rc == 0 && aq_yaml_kind(when) != AQ_YAML_NOTHING) {
        rc = take_when(reader, when, space, &dim);
    }
    if (rc == 0) {
        *ret_dim = dim;
    }
    return rc;
}

int aq_sweep_space_read(const aq_sweep_reader *reader, aq_yaml_node node, aq_sweep_space *ret_space)
{
    const size_t count = aq_yaml_count(node);
    if (aq_yaml_kind(node) != AQ_YAML_MAPPING || count == 0) {
        return aq_sweep_wrong(reader, node, "settings, and what they are to be, are expected");
    }
    if (count > AQ_SWEEP_DIMS_MAX) {
        return aq_sweep_wrong(reader, node, "at most %d settings can be varied", AQ_SWEEP_DIMS_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        int rc = take_dim(reader, aq_yaml_key_at(node, i), aq_yaml_at(node, i), ret_space,
                          &ret_space->dims[i]);
        if (rc != 0) {
            return rc;
        }
        ret_space->count = i + 1;
    }
    return 0;
}
