/*
 * A budget of time that fills with time.
 */
#include "actor/core/evaluation_pace.h"

#include <math.h>

static double saved_max_ns(double share)
{
    return share * (double)AQ_PACE_SPAN_NS;
}

void aq_evaluation_pace_init(aq_evaluation_pace *pace, double share, int64_t now_ns)
{
    *pace = (aq_evaluation_pace){
        .share = share,
        .saved_ns = saved_max_ns(share),
        .told_ns = now_ns,
    };
}

void aq_evaluation_pace_tell(aq_evaluation_pace *pace, int64_t now_ns, bool is_working)
{
    const double passed_ns = (double)(now_ns - pace->told_ns);
    const double spent_ns = pace->is_working ? fmin(passed_ns, (double)AQ_PACE_STEP_NS_MAX) : 0.0;
    pace->saved_ns =
        fmin(pace->saved_ns + pace->share * passed_ns - spent_ns, saved_max_ns(pace->share));
    pace->told_ns = now_ns;
    pace->is_working = is_working;
}

void aq_evaluation_pace_set_share(aq_evaluation_pace *pace, double share, int64_t now_ns)
{
    aq_evaluation_pace_tell(pace, now_ns, pace->is_working);
    pace->share = share;
}

int64_t aq_evaluation_pace_due_ns(const aq_evaluation_pace *pace)
{
    if (pace->saved_ns >= 0.0 || pace->share >= 1.0) {
        return INT64_MIN;
    }
    return pace->told_ns + (int64_t)ceil(-pace->saved_ns / pace->share);
}
