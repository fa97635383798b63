/*
 * Opening, stepping and counting.
 */
#include "tests/unit/envs/suite_rig.h"

void rig_init(rig *self, const char *task)
{
    memset(self, 0, sizeof(*self));
    assert_succeeds(aq_env_open(task, &self->env, &refusal));
    self->suite = self->env->params;
    self->lane = aq_alloc(1, self->env->class->state_bytes);
    assert_non_null(self->lane);
    assert_succeeds(self->env->class->begin(self->env->params, self->lane, &refusal));
    aq_rng_init(&self->rng, 4, 2);
}

rig *rig_open(const char *task)
{
    static rig self;
    rig_init(&self, task);
    return &self;
}

void rig_fini(rig *self)
{
    self->env->class->end(self->env->params, self->lane);
    aq_free(self->lane);
    aq_env_unref(self->env);
}

void rig_reset(rig *self)
{
    assert_true(self->env->class->reset(self->env->params, self->lane, &self->rng, self->obs));
}

void rig_step(rig *self, float *obs, float *reward)
{
    float action[AQ_SUITE_CTRL_MAX];
    fill_range(action, (size_t)self->suite->model->nu, -1, 1, &self->rng);
    assert_int_equal(
        self->env->class->step(self->env->params, self->lane, &self->rng, action, obs, reward),
        AQ_STEP_GOES_ON);
}

void tally_add(tally *self, double value)
{
    self->low = self->count == 0 ? value : fmin(self->low, value);
    self->high = self->count == 0 ? value : fmax(self->high, value);
    self->count++;
    self->sum += value;
    self->sum_of_squares += value * value;
}

static double tally_mean(const tally *self)
{
    return self->sum / self->count;
}

static double tally_variance(const tally *self)
{
    return self->sum_of_squares / self->count - tally_mean(self) * tally_mean(self);
}

/* The variance of a squared deviation is width^4 / 180; the extremes of n draws are within 16
 * widths / n but for once in nine millions. */
void tally_check_uniform(const tally *drawn, double low, double high)
{
    const double width = high - low;
    const double root = sqrt(drawn->count);
    assert_true(fabs(tally_mean(drawn) - (low + high) / 2) <= 4 * width / sqrt(12) / root);
    assert_true(fabs(tally_variance(drawn) - width * width / 12) <=
                4 * width * width / sqrt(180) / root);
    assert_true(drawn->low >= low && drawn->low <= low + 16 * width / drawn->count);
    assert_true(drawn->high < high && drawn->high >= high - 16 * width / drawn->count);
}

void tally_check_normal(const tally *drawn, double mean, double deviation)
{
    const double root = sqrt(drawn->count);
    assert_true(fabs(tally_mean(drawn) - mean) <= 4 * deviation / root);
    assert_true(fabs(tally_variance(drawn) - deviation * deviation) <=
                4 * sqrt(2) * deviation * deviation / root);
}

void tally_check_same_mean(const tally *ours, const tally *theirs)
{
    const double spread = sqrt((tally_variance(ours) + tally_variance(theirs)) / ours->count);
    assert_true(fabs(tally_mean(ours) - tally_mean(theirs)) <= 4 * spread + 1e-15);
}
