/*
 * Train report: what a run came to. The policy that it left is evaluated afresh, over episodes that
 * had no part in choosing it, so that the figure does not flatter.
 */
#ifndef AQ_CLI_TRAIN_TRAIN_REPORT_H
#define AQ_CLI_TRAIN_TRAIN_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/run/run_energy.h"
#include "cli/run/run_reasons.h"
#include "cli/text/figure_text.h"
#include "cli/train/train_session.h"
#include "common/base/error.h"
#include "common/config/run_limits.h"
#include "common/config/run_names.h"
#include "rollout/evaluation.h"

typedef struct aq_train_report {
    const aq_run_config *config;   /* lent */
    const char *run_dir;           /* lent */
    const aq_train_result *result; /* of this call; lent */
    const char *products;          /* of the learner: "bf16", "fp32"; "": not known */
    double run_s;                  /* of the whole run, as far as it is known */
    uint64_t env_steps, learner_steps, policy_versions;
    uint64_t policy_fallbacks; /* of policy_versions, in fp32 instead */
    uint64_t broadcast_bytes, broadcast_bytes_fp32;
    uint64_t broadcast_packed_bytes_fp32; /* 0: not known */
    enum aq_run_state state;   /* running: it was interrupted, or nobody said how it ended */
    double threshold;          /* NaN: there is none */
    aq_evaluation kept;        /* of the policy that is kept; 0 episodes, and NaN: of none */
    uint32_t kept_main;        /* its format, but for some layers where it is mixed */
    aq_evaluation exact;       /* of the same version in fp32, over the same episodes; likewise */
    bool int8_quantizes;       /* some layer of it, in the same run; false without episodes */
    aq_best_figure best;       /* while it trained */
    uint64_t gap_versions;     /* compared with their fp32 form; 0: none */
    uint64_t gap_episodes;     /* over so many pairs of episodes */
    double gap_mean, gap_ci95; /* of the return as broadcast less that in fp32; NaN: unknown */
    aq_run_reasons reasons;    /* why it did not learn */
    aq_run_energy energy;      /* its source is "" when nothing is known */
} aq_train_report;

/* Of the run in options->run_dir; valid while config, options and result are. Says on standard
 * error that it is still evaluating, unless options->quiet. Where the policy cannot be evaluated it
 * fails, and the report is made all the same, without what that would have shown. */
int aq_train_report_make(const aq_run_config *config, const aq_train_options *options,
                         const aq_train_result *result, aq_train_report *ret_report,
                         aq_error *error) AQ_MUST_USE;

/* The limits that the run has come to; how many. */
size_t aq_train_report_reached(const aq_train_report *report, aq_run_limit limits[AQ_RUN_LIMITS]);

json_t *aq_train_report_json(const aq_train_report *report);

/* The summary, on standard output. */
void aq_train_report_print(const aq_train_report *report);

#endif
