/*
 * Gradient rows: see gradient_rows.h.
 */
#include "common/config/gradient_rows.h"

#include <inttypes.h>
#include <string.h>

/* Rows of a queue, for each actor that is expected: so many that it hardly waits for credit, which
 * takes milliseconds, and does not run ahead of a learner that is late. */
enum { ROWS_PER_ACTOR = 4 };

/* ---- how many steps ------------------------------------------------------------------------- */

static bool is_of_sequences(const aq_run_config *config)
{
    return aq_algorithm_learns_from(config->learner.algorithm) == AQ_LEARNS_FROM_SEQUENCES;
}

uint64_t aq_gradient_steps(const aq_run_config *config)
{
    const uint64_t envs = config->actor.envs;
    const uint64_t wanted = !is_of_sequences(config) ? config->learner.batch_size
                            : config->learner.group_steps > 0
                                ? config->learner.group_steps
                                : envs * config->replay.sequence_length;
    return (wanted + envs - 1) / envs * envs;
}

uint64_t aq_gradient_steps_of_row(const aq_run_config *config)
{
    return config->actor.gradients ? aq_gradient_steps(config) : 1;
}

/* ---- the table ------------------------------------------------------------------------------ */

aq_table_spec aq_gradient_rows_table(const aq_run_config *config)
{
    const uint64_t rows = ROWS_PER_ACTOR * config->actor.count;
    return (aq_table_spec){
        .name = "gradients",
        .selector = AQ_SELECTOR_QUEUE,
        .remover = AQ_REMOVER_FIFO,
        .capacity = aq_run_config_shard_share(config, rows) + 1,
        .n_step = 1,
        .sequence_period = 1,
        .min_size = 1,
    };
}

/* ---- the layout ----------------------------------------------------------------------------- */

size_t aq_gradient_bytes(enum aq_gradient_format format, size_t parameters)
{
    switch (format) {
    case AQ_GRADIENT_BF16:
        return parameters * sizeof(uint16_t);
    case AQ_GRADIENT_INT8:
        return aq_gradient_buckets(parameters) * sizeof(float) + parameters;
    case AQ_GRADIENT_FP32:
        break;
    }
    return parameters * sizeof(float);
}

int aq_gradient_layout(const aq_run_config *config, size_t parameters, aq_layout *ret_layout,
                       aq_error *error)
{
    const enum aq_gradient_format format = (enum aq_gradient_format)config->learner.gradient_format;
    const size_t bytes = aq_gradient_bytes(format, parameters);
    const aq_column columns[] = {
        [AQ_GRADIENT_PACKED] = {.name = "gradient",
                                .dtype = format == AQ_GRADIENT_FP32 ? AQ_DTYPE_F32 : AQ_DTYPE_U8,
                                .bytes = (uint32_t)bytes},
        [AQ_GRADIENT_TOLD] = {.name = "told",
                              .dtype = AQ_DTYPE_U8,
                              .bytes = AQ_GRADIENT_FIGURES * sizeof(float)},
    };
    aq_schema nothing; /* is seen and done in a row */
    aq_layout layout;
    memset(&nothing, 0, sizeof(nothing));
    aq_space_init_discrete(&nothing.obs, 1);
    aq_space_init_discrete(&nothing.action, 1);
    int rc = aq_layout_init(&nothing, 1, 1, &layout, error);
    if (rc == 0) {
        rc = aq_layout_record(&layout, columns, sizeof(columns) / sizeof(columns[0]), error);
    }
    if (rc == 0) {
        *ret_layout = layout;
    }
    return rc;
}

/* ---- checks --------------------------------------------------------------------------------- */

int aq_gradient_check(const aq_run_config *config, aq_error *error)
{
    if (!config->actor.gradients) {
        return 0;
    }
    if (config->replay.tables[0] != '\0') {
        return aq_fail(error, AQ_E_INVALID,
                       "actor.gradients: shards hold gradients, and no replay.tables of steps; an "
                       "empty replay.tables works");
    }
    if (!is_of_sequences(config) && config->learner.batch_size % config->actor.envs != 0) {
        return aq_fail(error, AQ_E_INVALID,
                       "actor.gradients: learner.batch_size %" PRIu64
                       " is not the same number of steps in each of actor.envs %" PRIu64
                       "; learner.batch_size=%" PRIu64 " works",
                       config->learner.batch_size, config->actor.envs, aq_gradient_steps(config));
    }
    return 0;
}
