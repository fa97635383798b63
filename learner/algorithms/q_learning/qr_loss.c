/*
 * QR-DQN's loss, row by row: see qr_loss.h. All pairs of a row's quantiles meet, so the inner loop
 * is over the learned ones, whose sums lie side by side: compilers make vectors of it.
 */
#include "learner/algorithms/q_learning/qr_loss.h"

#include <math.h>
#include <string.h>

#include "learner/algorithms/batch_steps.h"

/* The sums of losses and of slopes along u, and the target's quantiles. */
enum { ROOMS = 3 };

size_t aq_qr_room(uint32_t quantiles)
{
    return (size_t)ROOMS * quantiles;
}

static double mean_of(const float *quantiles, uint32_t count)
{
    double sum = 0;
    for (uint32_t k = 0; k < count; k++) {
        sum += (double)quantiles[k];
    }
    return sum / count;
}

/* The action of the greatest mean; of equal ones the first. */
static uint32_t best_action(const aq_qr_values *values, const float *row)
{
    double best_mean = 0;
    uint32_t best = 0;
    for (uint32_t a = 0; a < values->actions; a++) {
        const double mean = mean_of(row + (size_t)a * values->quantiles, values->quantiles);
        if (a == 0 || mean > best_mean) {
            best_mean = mean;
            best = a;
        }
    }
    return best;
}

/* Adds what one target says of each of `count` quantiles. */
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

/* The loss of a row, and its gradient into d_learned, `scale` times. */
static double find_row(uint32_t count, const float *learned, float scale, float delta, float *room,
                       float *d_learned)
{
    const float share = 1.0f / (float)count;
    float *losses = room, *slopes = losses + count;
    const float *targets = slopes + count;
    double loss = 0;
    memset(room, 0, 2 * (size_t)count * sizeof(*room));
    for (uint32_t j = 0; j < count; j++) {
        add_target(targets[j], learned, count, delta, losses, slopes);
    }
    for (uint32_t k = 0; k < count; k++) {
        loss += (double)(share * losses[k]);
        d_learned[k] = -scale * share * slopes[k];
    }
    return loss;
}

int aq_qr_loss_of(const aq_batch *batch, const aq_qr_values *values, float huber_delta, float *room,
                  float *ret_d_online, aq_dqn_loss *ret_loss)
{
    const uint32_t count = values->quantiles;
    const size_t row_floats = (size_t)values->actions * count;
    const float per_row = 1.0f / (float)batch->rows;
    float *targets = room + 2 * (size_t)count;
    aq_value_figures figures = {0};
    double loss = 0;
    memset(ret_d_online, 0, batch->rows * row_floats * sizeof(*ret_d_online));
    for (uint32_t i = 0; i < batch->rows; i++) {
        const size_t row = i * row_floats;
        const uint32_t action = aq_batch_choice(batch, i);
        if (action >= values->actions) {
            return AQ_E_CORRUPT;
        }
        const uint32_t best = best_action(values, values->chooser + row);
        const float *next = values->target_next + row + (size_t)best * count;
        const size_t at = row + (size_t)action * count;
        for (uint32_t j = 0; j < count; j++) {
            targets[j] = batch->reward[i] + batch->bootstrap[i] * next[j];
        }
        const double row_loss = find_row(count, values->online + at, per_row * batch->weight[i],
                                         huber_delta, room, ret_d_online + at);
        const double q = mean_of(values->online + at, count);
        const double error = q - mean_of(targets, count);
        loss += (double)batch->weight[i] * row_loss;
        batch->priority[i] = (float)fabs(error);
        aq_value_figures_add(&figures, q, error);
    }
    ret_loss->loss = loss / batch->rows;
    ret_loss->values = figures;
    return 0;
}
