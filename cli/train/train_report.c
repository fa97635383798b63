/*
 * Train report: see train_report.h.
 */
#include "cli/train/train_report.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/run/long_evaluation.h"
#include "cli/run/metrics_digest.h"
#include "cli/text/command.h"
#include "common/base/parse.h"
#include "common/base/rng.h"
#include "common/config/algorithm_rows.h"
#include "common/config/layer_plan.h"
#include "common/config/solved.h"
#include "common/sys/cpu.h"
#include "common/sys/file.h"
#include "common/wire/wire_policy.h"
#include "envs/env_open.h"
#include "library/source/policy_source.h"
#include "quantizer/engine/engine.h"

/* Gymnasium's convention for a task's threshold. */
enum { REPORT_EPISODES = 100 };

/* Names the stream of the episodes that judge the finished run. */
#define REPORT_STREAM UINT64_C(0x7265706f7274)

/* Of the same run in int8, as the next steps propose it. */
static bool int8_quantizes(const aq_run_config *config, const aq_net_spec *spec)
{
    aq_run_config other = *config;
    other.quantizer.layer_formats[0] = '\0';
    other.learner.qat_bits = 0;
    return aq_settings_assign(aq_run_config_table(), "quantizer.format=int8", &other, NULL) == 0 &&
           aq_layer_plan_quantizes(&other, spec);
}

static int evaluate(aq_train_report *report, bool quiet, aq_env *env, const char *policy_path,
                    aq_evaluation *ret_result, aq_error *error)
{
    aq_snapshot *snapshot = NULL;
    aq_engine *engine = NULL;
    aq_rng rng;
    aq_rng_init(&rng, report->config->seed, REPORT_STREAM);
    int rc = aq_policy_file_read(policy_path, &snapshot, error);
    if (rc == 0) {
        rc = aq_engine_create(snapshot, AQ_EVALUATION_LANES_MAX, aq_cpu_flags(), &engine, error);
    }
    if (rc == 0) {
        const uint64_t seed = aq_rng_next(&rng);
        rc = quiet ? aq_evaluate(env, engine, REPORT_EPISODES, seed, ret_result, error)
                   : aq_long_evaluation(env, engine, REPORT_EPISODES, seed, ret_result, error);
    }
    report->int8_quantizes = rc == 0 && int8_quantizes(report->config, &snapshot->spec);
    if (rc == 0 && ret_result == &report->kept) {
        report->kept_main = aq_policy_source_main_format(snapshot);
    }
    aq_engine_destroy(engine);
    aq_snapshot_unref(snapshot);
    return rc;
}

/* The same version in fp32, if it is another form and was kept. */
static int judge_fp32(aq_env *env, bool quiet, aq_train_report *report, aq_error *error)
{
    char path[PATH_MAX + 16];
    aq_evaluation evaluation;
    (void)snprintf(path, sizeof(path), "%s/policy.fp32.aq", report->run_dir);
    if (report->kept.format == AQ_FORMAT_F32 || !aq_path_exists(path)) {
        return 0;
    }
    int rc = evaluate(report, quiet, env, path, &evaluation, error);
    if (rc == 0 && evaluation.version == report->kept.version) {
        report->exact = evaluation;
    }
    return rc;
}

/* The task's threshold, and the policy judged afresh, if there is one. */
static int judge(aq_train_report *report, bool quiet, aq_error *error)
{
    char path[PATH_MAX + 16];
    aq_env *env = NULL;
    (void)snprintf(path, sizeof(path), "%s/policy.aq", report->run_dir);
    int rc = aq_env_open_to_act(report->config->task, &env, error);
    if (rc == 0) {
        rc = aq_run_config_threshold(report->config, env->reward_threshold, &report->threshold);
    }
    if (rc == 0 && aq_path_exists(path)) {
        rc = evaluate(report, quiet, env, path, &report->kept, error);
        rc = rc != 0 ? rc : judge_fp32(env, quiet, report, error);
    }
    aq_env_unref(env);
    return rc;
}

static enum aq_run_state state_named(const char *name)
{
    enum aq_run_state state = AQ_RUN_DIVERGED;
    while (state > AQ_RUN_RUNNING &&
           (name == NULL || strcmp(name, aq_run_state_name(state)) != 0)) {
        state--;
    }
    return state;
}

/* The learner's last words, in the run folder, come after any status that was seen. They are
 * missing when the run was interrupted, or the disk full; what is best is known all the same. */
static void take_last_words(const char *run_dir, aq_train_report *report)
{
    aq_metrics_digest digest = {0};
    const int rc = aq_metrics_digest_read(run_dir, &digest, NULL);
    report->best = aq_metrics_digest_best(&digest);
    if (rc != 0 || !digest.end || report->result->interrupted) {
        aq_metrics_digest_fini(&digest);
        return;
    }
    report->state = state_named(json_string_value(json_object_get(digest.end, "state")));
    report->run_s = aq_json_number_of(digest.end, "wall_s");
    report->env_steps = aq_json_count_of(digest.end, "env_steps");
    report->learner_steps = aq_json_count_of(digest.end, "learner_steps");
    report->policy_versions = aq_json_count_of(digest.end, "policy_versions");
    report->policy_fallbacks = aq_json_count_of(digest.end, "policy_fallbacks");
    report->broadcast_bytes = aq_json_count_of(digest.end, "broadcast_bytes");
    report->broadcast_bytes_fp32 = aq_json_count_of(digest.end, "broadcast_bytes_fp32");
    report->broadcast_packed_bytes_fp32 =
        aq_json_count_of(digest.end, "broadcast_packed_bytes_fp32");
    aq_run_reasons_of_end(digest.end, &report->reasons);
    const json_t *gap = json_object_get(digest.end, "precision_gap");
    report->gap_versions = aq_json_count_of(gap, "versions");
    report->gap_episodes = aq_json_count_of(gap, "episodes");
    report->gap_mean = aq_json_number_of(gap, "mean");
    report->gap_ci95 = aq_json_number_of(gap, "ci95");
    aq_metrics_digest_fini(&digest);
}

static void take_status(const Actorq__V1__StatusReply *status, aq_train_report *report)
{
    const Actorq__V1__LearnerStatus *learner = status->learner;
    const Actorq__V1__PrecisionGapStatus *gap = learner->precision_gap;
    report->run_s = fmax(report->run_s, learner->wall_s);
    report->products = learner->products;
    report->env_steps = learner->env_steps;
    report->learner_steps = learner->learner_steps;
    report->policy_versions = learner->policy_versions;
    report->policy_fallbacks = learner->quant_error ? learner->quant_error->fallbacks : 0;
    report->broadcast_bytes = learner->broadcast_bytes;
    report->broadcast_bytes_fp32 = learner->broadcast_bytes_fp32;
    report->broadcast_packed_bytes_fp32 = learner->broadcast_packed_bytes_fp32;
    report->state = (enum aq_run_state)status->state;
    aq_run_reasons_of_status(learner, &report->reasons);
    if (gap != NULL) {
        report->gap_versions = gap->versions;
        report->gap_episodes = gap->episodes;
        report->gap_mean = gap->mean;
        report->gap_ci95 = gap->ci95;
    }
}

int aq_train_report_make(const aq_run_config *config, const aq_train_options *options,
                         const aq_train_result *result, aq_train_report *ret_report,
                         aq_error *error)
{
    const aq_evaluation none = {.return_mean = NAN, .return_std = NAN};
    aq_train_report report = {
        .config = config,
        .run_dir = options->run_dir,
        .result = result,
        .run_s = result->wall_s,
        .state = AQ_RUN_RUNNING,
        .threshold = NAN,
        .kept = none,
        .exact = none,
        .best = {.mean = NAN, .std = NAN},
        .gap_mean = NAN,
        .gap_ci95 = NAN,
        .products = "",
    };
    if (result->status && result->status->learner) {
        take_status(result->status, &report);
    }
    take_last_words(options->run_dir, &report);
    aq_error no_energy; /* a learner that was killed early leaves none */
    int unknown = aq_run_energy_read(options->run_dir, &report.energy, &no_energy);
    (void)unknown;
    int rc = judge(&report, options->quiet, error);
    *ret_report = report;
    return rc != 0 ? aq_fail_context(error, rc, "the policy was not evaluated at the end") : 0;
}

/* That was asked for. */
static const char *precision_of(const aq_train_report *report)
{
    return aq_format_name(aq_run_config_format(report->config));
}

/* Null when nothing is known of the energy. */
static json_t *known_number(const aq_train_report *report, double value)
{
    return report->energy.source[0] != '\0' ? aq_json_number(value) : json_null();
}

/* Of the published versions; NaN of none. */
static double fallback_share(const aq_train_report *report)
{
    return report->policy_versions > 0
               ? (double)report->policy_fallbacks / (double)report->policy_versions
               : (double)NAN;
}

size_t aq_train_report_reached(const aq_train_report *report, aq_run_limit limits[AQ_RUN_LIMITS])
{
    aq_run_limit all[AQ_RUN_LIMITS];
    size_t count = 0;
    aq_run_limits_of(report->config, report->env_steps, report->learner_steps, report->run_s, all);
    for (size_t i = 0; i < AQ_RUN_LIMITS; i++) {
        if (all[i].limit > 0 && all[i].done >= all[i].limit) {
            limits[count++] = all[i];
        }
    }
    return count;
}

static json_t *reached_json(const aq_train_report *report)
{
    aq_run_limit limits[AQ_RUN_LIMITS];
    const size_t count = aq_train_report_reached(report, limits);
    json_t *keys = json_array();
    for (size_t i = 0; i < count; i++) {
        aq_json_add(&keys, json_string(limits[i].key));
    }
    return keys;
}

static const char *state_name(const aq_train_report *report)
{
    return report->result->interrupted       ? "interrupted"
           : report->state == AQ_RUN_RUNNING ? "unknown"
                                             : aq_run_state_name(report->state);
}

/* By more than chance explains: the means lie further apart than their standard errors allow. */
static bool precisions_differ(const aq_train_report *report)
{
    const aq_evaluation *kept = &report->kept, *exact = &report->exact;
    const double variance =
        kept->return_std * kept->return_std + exact->return_std * exact->return_std;
    return fabs(kept->return_mean - exact->return_mean) >
           AQ_SOLVED_ERRORS * sqrt(variance / kept->episodes); /* never, for NaN */
}

json_t *aq_train_report_json(const aq_train_report *report)
{
    return json_pack(
        "{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o, s:b, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, "
        "s:o, "
        "s:b, s:o, s:o, s:o, s:o, s:o, s:b, s:s, s:o, s:o}",
        "task", report->config->task, "algorithm",
        aq_algorithm_names[report->config->learner.algorithm], "precision", precision_of(report),
        "seed", aq_json_count(report->config->seed), "env_steps", aq_json_count(report->env_steps),
        "learner_steps", aq_json_count(report->learner_steps), "wall_s",
        aq_json_number(report->result->wall_s), "solved", report->state == AQ_RUN_SOLVED,
        "return_mean", aq_json_number(report->kept.return_mean), "return_std",
        aq_json_number(report->kept.return_std), "episodes", aq_json_count(report->kept.episodes),
        "policy_version", aq_json_count(report->kept.version), "policy_versions",
        aq_json_count(report->policy_versions), "broadcast_bytes",
        aq_json_count(report->broadcast_bytes), "broadcast_bytes_fp32",
        aq_json_count(report->broadcast_bytes_fp32), "learners",
        aq_json_count(report->result->learners), "restarts",
        aq_json_count(report->result->restarts), "interrupted", report->result->interrupted, "run",
        aq_json_text(report->run_dir), "energy_j", known_number(report, report->energy.energy_j),
        "energy_source", report->energy.source, "cpu_s", known_number(report, report->energy.cpu_s),
        "gco2", known_number(report, report->energy.carbon_g), "gap_mean",
        aq_json_number(report->gap_mean), "gap_ci95", aq_json_number(report->gap_ci95),
        "gap_versions", aq_json_count(report->gap_versions), "gap_episodes",
        aq_json_count(report->gap_episodes), "format",
        report->kept.episodes > 0 ? json_string(aq_format_name(report->kept.format)) : json_null(),
        "fallback_share", aq_json_number(fallback_share(report)), "state", state_name(report),
        "limits_reached", reached_json(report), "findings", aq_run_reasons_json(&report->reasons),
        "return_fp32_mean", aq_json_number(report->exact.return_mean), "return_fp32_std",
        aq_json_number(report->exact.return_std), "precisions_differ", precisions_differ(report),
        "trouble",
        report->result->trouble[0] != '\0' ? aq_json_text(report->result->trouble) : json_null(),
        "cut_off", aq_json_count(report->kept.cut_off), "broadcast_packed_bytes_fp32",
        report->broadcast_packed_bytes_fp32 > 0 ? aq_json_count(report->broadcast_packed_bytes_fp32)
                                                : json_null(),
        "best_return", aq_json_number(report->best.mean), "best_episodes",
        aq_json_count(report->best.episodes), "best_is_fresh", report->best.is_fresh, "products",
        report->products, "energy_model_j", known_number(report, report->energy.model_j), "run_s",
        aq_json_number(report->run_s));
}

/* "ended at limits.env_steps=100000, not solved,". */
static const char *verdict(const aq_train_report *report, char *out, size_t size)
{
    aq_run_limit limits[AQ_RUN_LIMITS];
    const size_t count = aq_train_report_reached(report, limits);
    if (report->state == AQ_RUN_DIVERGED) {
        return "diverged (its last good checkpoint is kept)";
    }
    if (!report->result->interrupted && report->state == AQ_RUN_RUNNING) {
        return "ended, and the learner did not say how";
    }
    if (report->result->interrupted || report->state != AQ_RUN_BUDGET || count == 0) {
        return aq_run_state_text(state_name(report));
    }
    (void)snprintf(out, size, "ended at %s=%.15g%s", limits[0].key, limits[0].limit,
                   isnan(report->threshold) ? "" : ", not solved,");
    return out;
}

static void print_returns(const aq_train_report *report)
{
    const aq_evaluation *kept = &report->kept, *exact = &report->exact;
    const bool is_mixed = kept->format == AQ_FORMAT_MIXED;
    char mean[32], deviation[32];
    (void)printf("  return     %s +- %s over %" PRIu32
                 " fresh greedy episodes (%s policy%s, version %" PRIu64 ")\n",
                 aq_text_return(mean, sizeof(mean), kept->return_mean, 1),
                 aq_text_return(deviation, sizeof(deviation), kept->return_std, 1), kept->episodes,
                 aq_format_name(is_mixed ? report->kept_main : kept->format),
                 is_mixed ? " but for some layers" : "", kept->version);
    if (isfinite(exact->return_mean)) {
        (void)printf("  in fp32    %s +- %s over the same episodes%s\n",
                     aq_text_return(mean, sizeof(mean), exact->return_mean, 1),
                     aq_text_return(deviation, sizeof(deviation), exact->return_std, 1),
                     precisions_differ(report) ? ": the two differ by more than chance" : "");
    }
}

static void print_best(const aq_train_report *report)
{
    char line[128];
    if (isfinite(report->best.mean)) {
        (void)printf("  best       %s, while it trained\n",
                     aq_figure_best(&report->best, line, sizeof(line)));
    }
}

static void print_broadcast(const aq_train_report *report)
{
    char sent[32], full[32], packed[32];
    (void)printf("  broadcast  %" PRIu64 " versions, %s; sent whole, in fp32: %s",
                 report->policy_versions,
                 aq_text_bytes(sent, sizeof(sent), (double)report->broadcast_bytes),
                 aq_text_bytes(full, sizeof(full), (double)report->broadcast_bytes_fp32));
    if (report->broadcast_packed_bytes_fp32 > 0) {
        (void)printf(
            "; as changes, compressed, in fp32: about %s",
            aq_text_bytes(packed, sizeof(packed), (double)report->broadcast_packed_bytes_fp32));
    }
    (void)printf("\n");
}

void aq_train_report_print(const aq_train_report *report)
{
    aq_figure share;
    char duration[32], whole[32], steps[32], trained[32], ended[96];
    /* A learner's clock began after this command's, unless it went on with an earlier one's. */
    const bool went_on = report->run_s > report->result->wall_s;
    (void)printf("\n%s: %s after %s%s%s\n", report->config->task,
                 verdict(report, ended, sizeof(ended)),
                 aq_text_duration(duration, sizeof(duration), report->result->wall_s),
                 went_on ? "; the whole run: " : "",
                 went_on ? aq_text_duration(whole, sizeof(whole), report->run_s) : "");
    if (report->kept.episodes > 0) {
        print_returns(report);
    }
    print_best(report);
    if (report->kept.cut_off > 0) {
        (void)printf("  cut off    %" PRIu32
                     " of the episodes after %d steps: the task has no step "
                     "limit of its own\n",
                     report->kept.cut_off, AQ_TRIAL_EPISODE_STEPS_MAX);
    }
    if (report->policy_fallbacks > 0) {
        (void)printf("  fallbacks  %s of the versions went out in fp32, not %s (see "
                     "quantizer.error_budget)\n",
                     aq_figure_share(&share, fallback_share(report)), precision_of(report));
    }
    if (report->gap_versions > 0 && isfinite(report->gap_ci95)) {
        char mean[32], width[32];
        (void)printf("  gap        %s%s +- %s against fp32, over %" PRIu64 " pairs of episodes of "
                     "%" PRIu64 " versions\n",
                     report->gap_mean > 0 ? "+" : "",
                     aq_text_return(mean, sizeof(mean), report->gap_mean, 2),
                     aq_text_return(width, sizeof(width), report->gap_ci95, 2),
                     report->gap_episodes, report->gap_versions);
    }
    aq_run_reasons_print(stdout, &report->reasons);
    (void)printf("  steps      %s environment steps, %s gradient steps\n",
                 aq_text_count(steps, sizeof(steps), (double)report->env_steps),
                 aq_text_count(trained, sizeof(trained), (double)report->learner_steps));
    if (report->config->learner.products == AQ_PRODUCTS_BF16 &&
        strcmp(report->products, "fp32") == 0) {
        (void)printf("  products   in fp32: this processor, or this build, has none in bf16\n");
    }
    print_broadcast(report);
    if (report->energy.source[0] != '\0') {
        char line[AQ_ENERGY_LINE_MAX];
        (void)printf("  energy     %s\n", aq_run_energy_line(&report->energy, line));
    }
    if (report->result->trouble[0] != '\0') {
        (void)printf("  trouble    %s\n", report->result->trouble);
    }
    if (report->result->restarts > 0) {
        (void)printf("  restarts   %u (see %s/logs)\n", report->result->restarts, report->run_dir);
    }
    (void)printf("  run        %s\n", report->run_dir);
}
