/*
 * Quantize arguments: what `actorq quantize` was asked for.
 */
#ifndef AQ_CLI_POLICY_QUANTIZE_ARGUMENTS_H
#define AQ_CLI_POLICY_QUANTIZE_ARGUMENTS_H

#include <stdint.h>

#include "cli/policy/post_quantize.h"
#include "common/base/error.h"
#include "common/policy/layer_formats.h"
#include "common/sys/options.h"

typedef struct aq_quantize_arguments {
    const char *source, *target;
    aq_post_quantize_plan plan;
    aq_layer_formats layer_formats;
    uint64_t rows;
    uint64_t seed;
    aq_json_form json;
} aq_quantize_arguments;

extern const aq_options aq_quantize_options;
extern const aq_quantize_arguments aq_quantize_defaults; /* of no options */

/* Whether they make sense for the network, once the plan has its layers' formats: an option that
 * would change nothing is a misunderstanding. AQ_E_INVALID in words. */
int aq_quantize_arguments_check(const aq_quantize_arguments *arguments, const aq_net_spec *spec,
                                aq_error *error) AQ_MUST_USE;

#endif
