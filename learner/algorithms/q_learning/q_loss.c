/*
 * The loss of Q-learning, row by row: see q_loss.h.
 */
#include "learner/algorithms/q_learning/q_loss.h"

#include <math.h>
#include <string.h>

#include "common/policy/head.h"
#include "learner/algorithms/batch_steps.h"
#include "learner/nn/passes.h"

/* A row of the batch. */
typedef struct row {
    float reward, bootstrap, weight;
    const float *online;                /* of the action that was taken */
    const float *chooser, *target_next; /* of all */
    float scale;                        /* of the gradient: its share of the loss */
    float *d_online;                    /* likewise of the action */
    float *priority;
    aq_value_figures *figures;
} row;

/* Returns what a row adds to the sum of losses. */
typedef double row_function(const aq_q_values *values, const row *of);

/* ---- values: a few numbers a row, not worth a vector ---------------------------------------- */

float aq_q_target(float reward, float bootstrap, const float *chooser, const float *target_next,
                  uint32_t actions)
{
    return reward + bootstrap * target_next[aq_argmax(chooser, actions)];
}

static double value_loss(const aq_q_values *values, const row *of)
{
    const float delta = values->huber_delta;
    const float error = *of->online - aq_q_target(of->reward, of->bootstrap, of->chooser,
                                                  of->target_next, values->actions);
    const float size = fabsf(error);
    aq_value_figures_add(of->figures, *of->online, error);
    *of->priority = size;
    if (size > delta) {
        *of->d_online = of->scale * copysignf(delta, error);
        return (double)of->weight * delta * (size - 0.5 * delta);
    }
    *of->d_online = of->scale * error;
    return 0.5 * of->weight * error * error;
}

/* ---- distributions -------------------------------------------------------------------------- */

/* The action of the greatest mean; of equal ones the first. */
static uint32_t best_of_distributions(const aq_q_values *values, const float *logits)
{
    float best_mean = 0.0f;
    uint32_t best = 0;
    aq_passes_best()->softmax(logits, values->actions, values->width, values->room);
    for (uint32_t a = 0; a < values->actions; a++) {
        const float mean = aq_atoms_mean(values->atoms, values->room + (size_t)a * values->width);
        if (a == 0 || mean > best_mean) {
            best_mean = mean;
            best = a;
        }
    }
    return best;
}

static double distribution_loss(const aq_q_values *values, const row *of)
{
    const aq_passes *passes = aq_passes_best();
    const aq_atoms *atoms = values->atoms;
    float *next = values->room + (size_t)values->actions * atoms->count;
    float *target = next + atoms->count, *learned = target + atoms->count;
    const size_t best = best_of_distributions(values, of->chooser);
    passes->softmax(of->target_next + best * atoms->count, 1, atoms->count, next);
    aq_atoms_project(atoms, of->reward, of->bootstrap, next, target);
    passes->softmax(of->online, 1, atoms->count, learned);
    const double entropy = aq_atoms_cross_entropy(atoms, of->online, learned, target);
    const float q = aq_atoms_mean(atoms, learned);
    *of->priority = (float)entropy;
    aq_value_figures_add(of->figures, q, q - aq_atoms_mean(atoms, target));
    aq_atoms_add_beyond(atoms, of->reward, of->bootstrap, next, &of->figures->mass_below,
                        &of->figures->mass_above);
    for (uint32_t k = 0; k < atoms->count; k++) {
        of->d_online[k] = of->scale * (learned[k] - target[k]);
    }
    return of->weight * entropy;
}

/* ---- quantiles ------------------------------------------------------------------------------ */

static double mean_of(const float *quantiles, uint32_t count)
{
    double sum = 0;
    for (uint32_t k = 0; k < count; k++) {
        sum += (double)quantiles[k];
    }
    return sum / count;
}

/* The action of the greatest mean; of equal ones the first. */
static uint32_t best_of_quantiles(const aq_q_values *values, const float *quantiles)
{
    double best_mean = 0;
    uint32_t best = 0;
    for (uint32_t a = 0; a < values->actions; a++) {
        const double mean = mean_of(quantiles + (size_t)a * values->width, values->width);
        if (a == 0 || mean > best_mean) {
            best_mean = mean;
            best = a;
        }
    }
    return best;
}

/* Adds what one target says of each of `count` quantiles, whose sums lie side by side: all pairs of
 * a row's meet, and compilers make vectors of it so. */
static void add_target(float target, const float *learned, uint32_t count, float delta,
                       float *losses, float *slopes)
{
    const float spacing = 1.0f / (float)count;
    for (uint32_t k = 0; k < count; k++) {
        const float tau = ((float)k + 0.5f) * spacing;
        const float u = target - learned[k], size = fabsf(u);
        const float share = u < 0.0f ? 1.0f - tau : tau;
        const float held = size > delta ? delta : size;
        losses[k] += share * held * (size - 0.5f * held);
        slopes[k] += share * (u < 0.0f ? -held : held);
    }
}

static double quantile_loss(const aq_q_values *values, const row *of)
{
    const uint32_t count = values->width;
    const size_t best = best_of_quantiles(values, of->chooser);
    const float *next = of->target_next + best * count;
    const float share = 1.0f / (float)count;
    float *losses = values->room, *slopes = losses + count, *targets = slopes + count;
    double loss = 0;
    memset(losses, 0, 2 * (size_t)count * sizeof(*losses));
    for (uint32_t j = 0; j < count; j++) {
        targets[j] = of->reward + of->bootstrap * next[j];
        add_target(targets[j], of->online, count, values->huber_delta, losses, slopes);
    }
    for (uint32_t k = 0; k < count; k++) {
        loss += (double)(share * losses[k]);
        of->d_online[k] = -of->scale * share * slopes[k];
    }
    const double q = mean_of(of->online, count);
    const double error = q - mean_of(targets, count);
    *of->priority = (float)fabs(error);
    aq_value_figures_add(of->figures, q, error);
    return (double)of->weight * loss;
}

/* ---- of all --------------------------------------------------------------------------------- */

size_t aq_q_loss_room(uint32_t actions, uint32_t width)
{
    return ((size_t)actions + 3) * width; /* of a row's actions, and three of the best one's */
}

int aq_q_loss_of(const aq_value_kind *kind, const aq_batch *batch, const aq_q_values *values,
                 float *ret_d_online, aq_q_loss *ret_loss)
{
    static row_function *const functions[] = {
        [AQ_Q_VALUES] = value_loss,
        [AQ_Q_DISTRIBUTIONS] = distribution_loss,
        [AQ_Q_QUANTILES] = quantile_loss,
    };
    const size_t row_floats = (size_t)values->actions * values->width;
    const float per_row = 1.0f / (float)batch->rows;
    aq_value_figures figures = {0};
    double loss = 0;
    memset(ret_d_online, 0, batch->rows * row_floats * sizeof(*ret_d_online));
    for (uint32_t i = 0; i < batch->rows; i++) {
        const size_t first = i * row_floats;
        const uint32_t action = aq_batch_choice(batch, i);
        const size_t taken = first + (size_t)action * values->width;
        if (action >= values->actions) {
            return AQ_E_CORRUPT;
        }
        loss += functions[kind->learns](values, &(row){.reward = batch->reward[i],
                                                       .bootstrap = batch->bootstrap[i],
                                                       .weight = batch->weight[i],
                                                       .online = values->online + taken,
                                                       .chooser = values->chooser + first,
                                                       .target_next = values->target_next + first,
                                                       .scale = per_row * batch->weight[i],
                                                       .d_online = ret_d_online + taken,
                                                       .priority = &batch->priority[i],
                                                       .figures = &figures});
    }
    *ret_loss = (aq_q_loss){.loss = loss / batch->rows, .values = figures};
    return 0;
}
