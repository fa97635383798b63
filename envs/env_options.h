/*
 * Options of a task, written behind its name:
 *
 *   gym:FrozenLake-v1?map=8x8&slippery=no&time_limit=200
 *
 * Whoever knows an option takes it; what nobody took is refused by name. No state beyond the
 * struct, which is not copied: its rows point into it.
 */
#ifndef AQ_ENVS_ENV_OPTIONS_H
#define AQ_ENVS_ENV_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/policy/snapshot.h"

enum { AQ_ENV_OPTIONS_MAX = 16 };

typedef struct aq_env_options {
    char text[AQ_TASK_NAME_MAX]; /* the whole name, cut apart in place */
    const char *task;            /* what stands before the options */
    uint32_t count;
    struct {
        const char *key, *value;
        bool taken;
    } rows[AQ_ENV_OPTIONS_MAX];
} aq_env_options;

/* AQ_E_INVALID in words: too long, too many, an option without a value, one twice. */
int aq_env_options_parse(const char *name, aq_env_options *ret_options,
                         aq_error *error) AQ_MUST_USE;

/* Each leaves *value as it is when the option was not given, else checks it against the bounds:
 * AQ_E_INVALID, naming option, value and what is allowed. */
int aq_env_option_u32(aq_env_options *options, const char *key, uint32_t low, uint32_t high,
                      uint32_t *value, aq_error *error) AQ_MUST_USE;
int aq_env_option_f64(aq_env_options *options, const char *key, double low, double high,
                      double *value, aq_error *error) AQ_MUST_USE;
int aq_env_option_bool(aq_env_options *options, const char *key, bool *value,
                       aq_error *error) AQ_MUST_USE; /* yes or no */
/* `choices` ends with NULL; *value is the index. */
int aq_env_option_choice(aq_env_options *options, const char *key, const char *const *choices,
                         uint32_t *value, aq_error *error) AQ_MUST_USE;
/* The text, valid as long as the options, or NULL when it was not given. */
const char *aq_env_option_text(aq_env_options *options, const char *key);

/* AQ_E_INVALID, naming the first option that nobody took; `known` says which there are. */
int aq_env_options_finish(const aq_env_options *options, const char *known,
                          aq_error *error) AQ_MUST_USE;

#endif
