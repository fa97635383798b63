/*
 * The name is cut apart in place: rows point into the copy that the struct holds.
 */
#include "envs/env_options.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/parse.h"

static bool has_key(const aq_env_options *options, const char *key)
{
    for (uint32_t i = 0; i < options->count; i++) {
        if (strcmp(options->rows[i].key, key) == 0) {
            return true;
        }
    }
    return false;
}

/* Cuts "key=value" apart and adds it. */
static int add(aq_env_options *options, char *pair, aq_error *error)
{
    char *equals = strchr(pair, '=');
    if (equals == NULL || equals == pair || equals[1] == '\0') {
        return aq_fail(error, AQ_E_INVALID,
                       "%s: '%s' is not an option; options are written key=value", options->task,
                       pair);
    }
    *equals = '\0';
    if (has_key(options, pair)) {
        return aq_fail(error, AQ_E_INVALID, "%s: option %s is given twice", options->task, pair);
    }
    if (options->count == AQ_ENV_OPTIONS_MAX) {
        return aq_fail(error, AQ_E_INVALID, "%s: more than %d options", options->task,
                       AQ_ENV_OPTIONS_MAX);
    }
    options->rows[options->count].key = pair;
    options->rows[options->count].value = equals + 1;
    options->count++;
    return 0;
}

int aq_env_options_parse(const char *name, aq_env_options *ret_options, aq_error *error)
{
    memset(ret_options, 0, sizeof(*ret_options));
    ret_options->task = ret_options->text;
    if (aq_text_set(ret_options->text, sizeof(ret_options->text), name) != 0) {
        return aq_fail(error, AQ_E_INVALID, "a task's name of %zu letters; %d are possible",
                       strlen(name), AQ_TASK_NAME_MAX - 1);
    }
    char *rest = strchr(ret_options->text, '?');
    if (rest == NULL) {
        return 0;
    }
    *rest++ = '\0';
    for (;;) {
        char *end = strchr(rest, '&');
        if (end != NULL) {
            *end = '\0';
        }
        int rc = add(ret_options, rest, error);
        if (rc != 0 || end == NULL) {
            return rc;
        }
        rest = end + 1;
    }
}

const char *aq_env_option_text(aq_env_options *options, const char *key)
{
    for (uint32_t i = 0; i < options->count; i++) {
        if (strcmp(options->rows[i].key, key) == 0) {
            options->rows[i].taken = true;
            return options->rows[i].value;
        }
    }
    return NULL;
}

int aq_env_option_u32(aq_env_options *options, const char *key, uint32_t low, uint32_t high,
                      uint32_t *value, aq_error *error)
{
    uint64_t number;
    const char *text = aq_env_option_text(options, key);
    if (text == NULL) {
        return 0;
    }
    if (aq_parse_whole(text, &number) != 0 || number < low || number > high) {
        return aq_fail(error, AQ_E_INVALID,
                       "%s: %s=%s is not a whole number from %" PRIu32 " to %" PRIu32,
                       options->task, key, text, low, high);
    }
    *value = (uint32_t)number;
    return 0;
}

int aq_env_option_f64(aq_env_options *options, const char *key, double low, double high,
                      double *value, aq_error *error)
{
    double number;
    const char *text = aq_env_option_text(options, key);
    if (text == NULL) {
        return 0;
    }
    if (aq_parse_f64(text, &number) != 0 || !(number >= low && number <= high)) {
        return aq_fail(error, AQ_E_INVALID, "%s: %s=%s is not a number from %g to %g",
                       options->task, key, text, low, high);
    }
    *value = number;
    return 0;
}

int aq_env_option_bool(aq_env_options *options, const char *key, bool *value, aq_error *error)
{
    const char *text = aq_env_option_text(options, key);
    if (text == NULL) {
        return 0;
    }
    if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0) {
        return aq_fail(error, AQ_E_INVALID, "%s: %s=%s is neither yes nor no", options->task, key,
                       text);
    }
    *value = strcmp(text, "yes") == 0;
    return 0;
}

int aq_env_option_choice(aq_env_options *options, const char *key, const char *const *choices,
                         uint32_t *value, aq_error *error)
{
    char known[AQ_ERROR_TEXT_MAX / 2] = "";
    const char *text = aq_env_option_text(options, key);
    if (text == NULL) {
        return 0;
    }
    for (uint32_t i = 0; choices[i] != NULL; i++) {
        if (strcmp(choices[i], text) == 0) {
            *value = i;
            return 0;
        }
        aq_text_append(known, sizeof(known), "%s%s", i > 0 ? ", " : "", choices[i]);
    }
    return aq_fail(error, AQ_E_INVALID, "%s: %s=%s is none of %s", options->task, key, text, known);
}

int aq_env_options_finish(const aq_env_options *options, const char *known, aq_error *error)
{
    for (uint32_t i = 0; i < options->count; i++) {
        if (!options->rows[i].taken) {
            return aq_fail(error, AQ_E_INVALID, "%s: there is no option %s; there are %s",
                           options->task, options->rows[i].key, known);
        }
    }
    return 0;
}
