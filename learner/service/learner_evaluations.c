/*
 * Learner service: what evaluators report. It is checked, told to the owner, and says which version
 * leads.
 */
#include <math.h>

#include "learner/service/learner_service_priv.h"

/* Nothing earns this much, and squares of more than that would be no numbers: a checkpoint with one
 * in it could not be read. */
#define RETURN_MAX 1e100

static bool is_return(double value)
{
    return fabs(value) <= RETURN_MAX; /* of NaN it is false */
}

/* NULL, or what can't be true of a comparison. */
static const char *gap_problem(const Actorq__V1__PrecisionGap *gap)
{
    if (gap->episodes == 0) {
        return "a comparison needs episodes";
    }
    if (!is_return(gap->return_fp32) || !is_return(gap->return_fp32_std) || !is_return(gap->mean) ||
        !is_return(gap->std)) {
        return "a comparison's returns are finite, within +-1e100";
    }
    return gap->std < 0 || gap->return_fp32_std < 0 ? "a standard deviation is not below 0" : NULL;
}

const char *aq_learner_evaluation_problem(const Actorq__V1__EvaluationReport *report)
{
    if (report->number == 0) {
        return "an evaluation has a number, and they begin with 1";
    }
    if (report->version == 0) {
        return "an evaluation is of a version, and they begin with 1";
    }
    if (report->episodes == 0) {
        return "an evaluation needs episodes";
    }
    if (report->format != AQ_FORMAT_MIXED && !aq_format_known(report->format)) {
        return "an evaluation is of a policy in a format that there is";
    }
    if (!is_return(report->return_mean) || !is_return(report->return_std) ||
        !is_return(report->return_min) || !is_return(report->return_max)) {
        return "an evaluation's returns are finite, within +-1e100";
    }
    if (report->cut_off > report->episodes) {
        return "an evaluation cuts off no more episodes than it has";
    }
    if (report->return_std < 0 || report->return_min > report->return_max) {
        return "an evaluation's returns contradict each other";
    }
    return report->gap != NULL ? gap_problem(report->gap) : NULL;
}

/* The screening that it belongs to was reported before. */
static void take_gap(aq_learner_service *service, const Actorq__V1__EvaluationReport *request)
{
    const aq_version_gap gap = {
        .version = request->version,
        .episodes = request->gap->episodes,
        .return_fp32 = request->gap->return_fp32,
        .mean = request->gap->mean,
        .std = request->gap->std,
    };
    if (!aq_coordinator_evaluates(service->coordinator)) {
        return;
    }
    aq_precision_gap_add(&service->gap, &gap);
    if (service->owner.compared) {
        service->owner.compared(service->owner.user, &gap);
    }
}

/* Whether that version can be the run's result: it is on the shelf in the precision that was asked
 * for (not one that fell back to fp32), or it is the best one already, which its owner keeps. */
static bool version_is_held(const aq_learner_service *service, uint64_t version)
{
    const aq_evaluation_result *best = aq_coordinator_best(service->coordinator);
    const aq_publication *shelved = aq_policy_shelf_find(service->shelf, version);
    return shelved ? !shelved->fell_back : best && best->version == version;
}

/* Of a version that has left the shelf the evaluator's word is all there is. */
static bool has_fallen_back(const aq_learner_service *service,
                            const Actorq__V1__EvaluationReport *report)
{
    const aq_publication *shelved = aq_policy_shelf_find(service->shelf, report->version);
    return shelved ? shelved->fell_back
                   : service->identity.quantizes && report->format == AQ_FORMAT_F32;
}

static aq_evaluation_result result_of(const aq_learner_service *service,
                                      const Actorq__V1__EvaluationReport *request)
{
    aq_evaluation_result result = {
        .version = request->version,
        .format = request->format,
        .fell_back = has_fallen_back(service, request),
        .episodes = request->episodes,
        .return_mean = request->return_mean,
        .return_std = request->return_std,
        .return_min = request->return_min,
        .return_max = request->return_max,
        .cut_off = request->cut_off,
        .confirmed = request->confirmed || request->ranks_only,
        .ranks_only = request->ranks_only,
    };
    if (request->gap != NULL) {
        result.in_both = true;
        result.fp32_mean = request->gap->return_fp32;
        result.fp32_std = request->gap->return_fp32_std;
    }
    return result;
}

/* A version that is played afresh must not leave the shelf meanwhile. */
static uint64_t take(aq_learner_service *service, uint32_t slot,
                     const Actorq__V1__EvaluationReport *request)
{
    /* A confirmation is played in both forms anyway, and belongs to the gap of those alone who ask
     * for one: what was chosen for its return in one form flatters it. */
    if (request->gap != NULL &&
        (!request->confirmed || service->identity.settings->config.evaluator.fp32)) {
        take_gap(service, request);
    }
    const aq_evaluation_result result = result_of(service, request);
    const bool held = version_is_held(service, result.version);
    /* A confirmation is told with its gap, a screening before it. */
    if (request->gap == NULL || request->confirmed) {
        const bool changed = aq_coordinator_evaluated(service->coordinator, &result, held);
        service->owner.evaluated(service->owner.user, &result, changed);
    }
    if (held && !result.confirmed) {
        aq_policy_shelf_hold(service->shelf, result.version, slot);
    }
    return aq_coordinator_leader(service->coordinator, &result, held);
}

static aq_told_evaluation *told_by(aq_learner_service *service, uint64_t incarnation)
{
    for (size_t i = 0; i < AQ_TOLD_EVALUATIONS_MAX; i++) {
        if (service->told_evaluations[i].incarnation == incarnation) {
            return &service->told_evaluations[i];
        }
    }
    aq_told_evaluation *told = &service->told_evaluations[service->told_next];
    service->told_next = (service->told_next + 1) % AQ_TOLD_EVALUATIONS_MAX;
    *told = (aq_told_evaluation){.incarnation = incarnation};
    return told;
}

uint64_t aq_learner_take_evaluation(aq_learner_service *service, uint32_t slot,
                                    const Actorq__V1__EvaluationReport *request)
{
    aq_told_evaluation *told = told_by(service, request->incarnation);
    if (request->number > told->number) {
        told->number = request->number;
        told->leader = take(service, slot, request);
    }
    return told->leader;
}
