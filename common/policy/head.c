/*
 * The table of the heads.
 */
#include "common/policy/head.h"

#include <math.h>

#include "common/base/assert.h"
#include "common/base/exact_math.h"

#define DECLARE(number, NAME, name) extern const aq_head aq_head_##name;
AQ_HEADS(DECLARE)
#undef DECLARE

const aq_head *aq_head_of(uint32_t number)
{
#define ROW(number, NAME, name) [number] = &aq_head_##name,
    static const aq_head *const heads[] = {AQ_HEADS(ROW)};
#undef ROW
    return number < AQ_HEADS_END ? heads[number] : NULL;
}

const char *aq_head_name(uint32_t number)
{
    const aq_head *head = aq_head_of(number);
    return head != NULL ? head->name : "unknown";
}

uint32_t aq_argmax(const float *values, uint32_t count)
{
    AQ_ASSERT(count > 0);
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++) {
        if (values[i] > values[best] || (isnan(values[best]) && !isnan(values[i]))) {
            best = i;
        }
    }
    return best;
}

double aq_choices_kl(const float *from, const float *to, uint32_t count)
{
    const double from_total = aq_exact_log_sum_exp(from, count);
    const double to_total = aq_exact_log_sum_exp(to, count);
    double sum = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        const double log_p = (double)from[i] - from_total;
        sum += aq_exact_exp(log_p) * (log_p - ((double)to[i] - to_total));
    }
    return sum < 0.0 ? 0.0 : sum; /* by rounding */
}

float aq_head_spread(const aq_space *action, size_t i, float value)
{
    const size_t bound = aq_space_bound(action, i);
    const float low = action->low[bound], range = action->high[bound] - low;
    const float unit = isnan(value) ? 0.0f : value;
    return aq_space_hold(action, bound, low + (unit + 1.0f) / 2.0f * range);
}

int aq_head_check_range(const aq_space *action, aq_error *error)
{
    for (uint32_t i = 0; i < action->bound_count; i++) {
        if (!isfinite(action->high[i] - action->low[i])) {
            return aq_fail(error, AQ_E_UNSUPPORTED,
                           "export: an action from %g to %g has no range to scale outputs to",
                           (double)action->low[i], (double)action->high[i]);
        }
    }
    return 0;
}

int aq_head_check_box(const aq_space *action, aq_error *error)
{
    if (action->kind != AQ_SPACE_BOX || action->dtype != AQ_DTYPE_F32) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "policy: outputs can be scaled only to an action of numbers");
    }
    return 0;
}
