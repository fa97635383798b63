/*
 * Gradient rows: what a run of asynchronous gradients (actor.gradients) sends, stores and draws.
 *
 * Its actors keep their steps, make gradients of them, and send those: a gradient is a row of
 * experience of one step, in a layout of its own, on its way through everything that steps go
 * through. The first recorded column has the gradient as learner.gradient_format packs it, the
 * second what the update told of itself, and `version` says by whose parameters it was computed.
 * Shards hold a queue of such rows; each is drawn once. Every row stands for as many environment
 * steps (docs/decisions/0031-asynchronous-gradients.md).
 *
 * Any thread; no state.
 */
#ifndef AQ_COMMON_CONFIG_GRADIENT_ROWS_H
#define AQ_COMMON_CONFIG_GRADIENT_ROWS_H

#include "common/base/error.h"
#include "common/config/run_config.h"
#include "common/config/table_spec.h"
#include "common/experience/layout.h"

/* Formats that round do so by buckets, each with a unit of its own. They are short: a number that
 * is small beside the greatest of its bucket comes in pulses, a unit now and then, and Adam, which
 * divides by the root of their squares, makes too little of those. Where layers meet, sizes differ
 * by a hundred times. Of the figures, floats, those that are not finite are untold. */
enum { AQ_GRADIENT_BUCKET = 64, AQ_GRADIENT_FIGURES = 32 };

static inline size_t aq_gradient_buckets(size_t parameters)
{
    return (parameters + AQ_GRADIENT_BUCKET - 1) / AQ_GRADIENT_BUCKET;
}

/* Parameters of one of them: the last may have fewer. */
static inline size_t aq_gradient_bucket_values(size_t parameters, size_t bucket)
{
    const size_t left = parameters - bucket * AQ_GRADIENT_BUCKET;
    return left < AQ_GRADIENT_BUCKET ? left : AQ_GRADIENT_BUCKET;
}

/* The recorded columns, in their order. */
enum { AQ_GRADIENT_PACKED, AQ_GRADIENT_TOLD };

/* A row's reward: whether there was a gradient, or nothing finite came of the steps. */
#define AQ_GRADIENT_GOOD 1.0f

/* Whether actors can compute gradients as the settings ask for: they know what a version gives, and
 * nothing of how the learner normalizes observations or trains for few bits. */
static inline bool aq_gradients_suit(const aq_run_config *config)
{
    return !config->learner.normalize_obs && config->learner.qat_bits == 0;
}

/* Environment steps that a gradient is of: a group of sequences or a batch of items; as many of
 * each environment. */
uint64_t aq_gradient_steps(const aq_run_config *config);

/* Environment steps that one step of experience stands for: those of a gradient, or one. */
uint64_t aq_gradient_steps_of_row(const aq_run_config *config);

/* What a shard keeps rows in. */
aq_table_spec aq_gradient_rows_table(const aq_run_config *config);

/* Bytes of a packed gradient of so many parameters. */
size_t aq_gradient_bytes(enum aq_gradient_format format, size_t parameters);

/* Of rows with gradients of so many parameters. */
int aq_gradient_layout(const aq_run_config *config, size_t parameters, aq_layout *ret_layout,
                       aq_error *error) AQ_MUST_USE;

/* AQ_E_INVALID, naming the settings that do not go together. */
int aq_gradient_check(const aq_run_config *config, aq_error *error) AQ_MUST_USE;

#endif
