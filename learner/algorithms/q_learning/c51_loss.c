/*
 * C51's loss, row by row: see c51_loss.h.
 */
#include "learner/algorithms/q_learning/c51_loss.h"

#include <string.h>

#include "learner/algorithms/batch_steps.h"
#include "learner/nn/passes.h"

/* Distributions besides those of all actions: the target's, its projection, the learned one. */
enum { ROOMS = 3 };

size_t aq_c51_room(uint32_t actions, uint32_t atoms)
{
    return ((size_t)actions + ROOMS) * atoms;
}

/* The action of the greatest mean; of equal ones the first. */
static uint32_t best_action(const aq_c51_values *values, const float *logits, float *room)
{
    const uint32_t atoms = values->atoms->count;
    float best_mean = 0.0f;
    uint32_t best = 0;

    aq_passes_best()->softmax(logits, values->actions, atoms, room);
    for (uint32_t a = 0; a < values->actions; a++) {
        const float mean = aq_atoms_mean(values->atoms, room + (size_t)a * atoms);

        if (a == 0 || mean > best_mean) {
            best_mean = mean;
            best = a;
        }
    }
    return best;
}

int aq_c51_loss_of(const aq_batch *batch, const aq_c51_values *values, float *room,
                   float *ret_d_online, aq_dqn_loss *ret_loss)
{
    const aq_passes *passes = aq_passes_best();
    const uint32_t atoms = values->atoms->count;
    const size_t row_floats = (size_t)values->actions * atoms;
    const float per_row = 1.0f / (float)batch->rows;
    float *next = room + row_floats, *target = next + atoms, *learned = target + atoms;
    aq_value_figures figures = {0};
    double loss = 0;

    memset(ret_d_online, 0, batch->rows * row_floats * sizeof(*ret_d_online));
    for (uint32_t i = 0; i < batch->rows; i++) {
        const size_t row = i * row_floats;
        const uint32_t action = aq_batch_choice(batch, i);

        if (action >= values->actions) {
            return AQ_E_CORRUPT;
        }
        const uint32_t best = best_action(values, values->chooser + row, room);
        const size_t at = row + (size_t)action * atoms;

        passes->softmax(values->target_next + row + (size_t)best * atoms, 1, atoms, next);
        aq_atoms_project(values->atoms, batch->reward[i], batch->bootstrap[i], next, target);
        passes->softmax(values->online + at, 1, atoms, learned);
        const double entropy =
            aq_atoms_cross_entropy(values->atoms, values->online + at, learned, target);

        batch->priority[i] = (float)entropy;
        loss += batch->weight[i] * entropy;
        const float q = aq_atoms_mean(values->atoms, learned);
        aq_value_figures_add(&figures, q, q - aq_atoms_mean(values->atoms, target));
        aq_atoms_add_beyond(values->atoms, batch->reward[i], batch->bootstrap[i], next,
                            &figures.mass_below, &figures.mass_above);
        for (uint32_t k = 0; k < atoms; k++) {
            ret_d_online[at + k] = per_row * batch->weight[i] * (learned[k] - target[k]);
        }
    }
    ret_loss->loss = loss / batch->rows;
    ret_loss->values = figures;
    return 0;
}
