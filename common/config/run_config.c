/*
 * What settings mean: see run_config.h.
 */
#include "common/config/run_config.h"

#include <stdbool.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/parse.h"

enum { WIDTH_TEXT_MAX = 24 };

/* A number of `length` characters, from 1 on. */
static int parse_count(const char *text, size_t length, uint32_t most, uint32_t *ret_count)
{
    char digits[WIDTH_TEXT_MAX];
    uint64_t count;
    if (length >= sizeof(digits)) {
        return AQ_E_INVALID;
    }
    memcpy(digits, text, length);
    digits[length] = '\0';
    if (aq_parse_u64(digits, &count) != 0 || count < 1 || count > most) {
        return AQ_E_INVALID;
    }
    *ret_count = (uint32_t)count;
    return 0;
}

/* "128x2", a width and a number of blocks. */
static int parse_blocks(const char *text, aq_hidden_shape *shape)
{
    const size_t length = strcspn(text, "x");
    const char *blocks = text + length + (text[length] == 'x');
    shape->count = 1;
    int rc = parse_count(text, length, AQ_NET_WIDTH_MAX / AQ_SIMBA_WIDER, &shape->widths[0]);
    return rc == 0 ? parse_count(blocks, strlen(blocks), AQ_SIMBA_BLOCKS_MAX, &shape->blocks) : rc;
}

static int parse_widths(const char *text, aq_hidden_shape *shape)
{
    for (bool more = text[0] != '\0'; more;) {
        size_t length = strcspn(text, ",");
        if (shape->count == AQ_HIDDEN_LAYERS_MAX ||
            parse_count(text, length, AQ_NET_WIDTH_MAX, &shape->widths[shape->count]) != 0) {
            return AQ_E_INVALID;
        }
        shape->count++;
        more = text[length] == ',';
        text += length + 1;
    }
    return 0;
}

static int parse_hidden(const char *text, aq_hidden_shape *ret_shape)
{
    static const char simba[] = "simba:";
    aq_hidden_shape shape = {0};
    int rc = strncmp(text, simba, strlen(simba)) == 0 ? parse_blocks(text + strlen(simba), &shape)
                                                      : parse_widths(text, &shape);
    if (rc == 0) {
        *ret_shape = shape;
    }
    return rc;
}

int aq_run_config_hidden(const aq_run_config *config, aq_hidden_shape *ret_shape)
{
    return parse_hidden(config->learner.hidden, ret_shape);
}

int aq_run_config_critic_hidden(const aq_run_config *config, aq_hidden_shape *ret_shape)
{
    const char *own = config->learner.critic_hidden;
    return parse_hidden(own[0] != '\0' ? own : config->learner.hidden, ret_shape);
}

int aq_run_config_threshold(const aq_run_config *config, double reward_threshold,
                            double *ret_threshold)
{
    if (strcmp(config->evaluator.threshold, "auto") == 0) {
        *ret_threshold = reward_threshold;
        return 0;
    }
    return aq_parse_f64(config->evaluator.threshold, ret_threshold);
}

#define ACTIVATION_OF(constant, number, word, suffix) constant,
static const enum aq_activation activations[] = {AQ_HIDDEN_ACTIVATIONS(ACTIVATION_OF)};

enum aq_activation aq_run_config_activation(const aq_run_config *config)
{
    return activations[config->learner.activation];
}

enum aq_activation aq_run_config_critic_activation(const aq_run_config *config)
{
    return activations[config->learner.critic_activation];
}

enum aq_format aq_run_config_format(const aq_run_config *config)
{
#define FORMAT_OF(constant, number, word) constant,
    static const enum aq_format formats[] = {AQ_FORMATS(FORMAT_OF)};
    return formats[config->quantizer.format];
}

enum aq_range_method aq_run_config_range_method(const aq_run_config *config)
{
    return config->quantizer.activations == AQ_ACTIVATIONS_STATIC
               ? (enum aq_range_method)(AQ_RANGE_NONE + 1 + config->quantizer.ranges)
               : AQ_RANGE_NONE;
}

uint64_t aq_run_config_shard_share(const aq_run_config *config, uint64_t total)
{
    return (total + config->replay.shards - 1) / config->replay.shards;
}

void aq_run_config_choose_algorithm(aq_run_config *config, const aq_schema *schema)
{
    if (config->learner.algorithm == AQ_ALGORITHM_AUTO) {
        config->learner.algorithm = aq_algorithm_for(schema);
    }
}

const aq_setting *aq_run_config_row(const char *key)
{
    const aq_setting *row = aq_settings_find(aq_run_config_table(), key);
    AQ_ASSERT(row != NULL);
    return row;
}
