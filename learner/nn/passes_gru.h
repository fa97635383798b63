/*
 * The gates of a gru in the passes, both ways; see layers/train_gru.c.
 *
 * Private to passes_rung.c. Static, because each rung's library is compiled with flags of its own.
 */
#ifndef AQ_LEARNER_NN_PASSES_GRU_H
#define AQ_LEARNER_NN_PASSES_GRU_H

#include "learner/nn/passes.h"
#include "learner/nn/passes_activate.h"

INLINE float logistic(float x)
{
    return 0.5f * act_tanh(0.5f * x) + 0.5f;
}

static void gru_row(size_t width, const float *restrict x, const float *restrict before,
                    float *restrict gates, float *restrict said, float *restrict out)
{
    for (size_t i = 0; i < width; i++) {
        const float r = logistic(x[i] + gates[i]);
        const float z = logistic(x[width + i] + gates[width + i]);
        const float s = gates[2 * width + i];
        const float n = act_tanh(x[2 * width + i] + r * s);
        gates[i] = r;
        gates[width + i] = z;
        gates[2 * width + i] = n;
        said[i] = s;
        out[i] = n + z * (before[i] - n);
    }
}

static void gru_forward(const aq_gru_rows *rows, const float *x, float *out)
{
    for (size_t r = 0; r < rows->count; r++) {
        gru_row(rows->width, x + r * 3 * rows->width, rows->before + r * rows->width,
                rows->gates + r * 3 * rows->width, rows->said + r * rows->width,
                out + r * rows->width);
    }
}

static void gru_row_back(size_t width, const float *restrict before, const float *restrict said,
                         float *restrict gates, float *restrict d, float *restrict d_x)
{
    for (size_t i = 0; i < width; i++) {
        const float r = gates[i], z = gates[width + i], n = gates[2 * width + i];
        const float d_n = d[i] * (1.0f - z) * (1.0f - n * n);
        const float d_r = d_n * said[i] * r * (1.0f - r);
        const float d_z = d[i] * (before[i] - n) * z * (1.0f - z);
        d_x[i] = d_r;
        d_x[width + i] = d_z;
        d_x[2 * width + i] = d_n;
        gates[i] = d_r;
        gates[width + i] = d_z;
        gates[2 * width + i] = d_n * r;
        d[i] *= z;
    }
}

static void gru_backward(const aq_gru_rows *rows, float *d, float *d_x)
{
    for (size_t r = 0; r < rows->count; r++) {
        gru_row_back(rows->width, rows->before + r * rows->width, rows->said + r * rows->width,
                     rows->gates + r * 3 * rows->width, d + r * rows->width,
                     d_x + r * 3 * rows->width);
    }
}

#endif
