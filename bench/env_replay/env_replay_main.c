/*
 * env_replay: how far an environment is from a recording of the original. It checks this project,
 * so it is built and not installed.
 */
#include <inttypes.h>
#include <stdio.h>

#include "bench/env_replay/original.h"
#include "bench/env_replay/playback.h"
#include "cli/text/command.h"
#include "common/base/plain_text.h"
#include "envs/env_code.h"

typedef struct playback_arguments {
    const char *path;
    const char *task;
    bool per_step;
    aq_json_form json;
} playback_arguments;

static const aq_option option_rows[] = {
    {"per-step", 0, NULL,
     "begin each step in the recorded state, instead of where the one before it ended: in contact, "
     "rounding grows from step to step",
     AQ_TO_FLAG(playback_arguments, per_step)},
    {"task", 0, "TASK", "the environment to compare (default: the one that the file names)",
     AQ_TO_TEXT(playback_arguments, task)},
    AQ_JSON_OPTION_ROW(playback_arguments, json, "the figures"),
};

static const aq_options options_page = {
    .program = "env_replay",
    .usage = "FILE.json [options]",
    .summary =
        "Puts an environment into the recorded first state of the original, takes the recorded "
        "actions, and prints the largest errors of observations, rewards and states, as "
        "|ours - recorded| / max(1, |recorded|), and how many flags of ends differ. FILE.json is "
        "an episode of Gymnasium or the control suite, probes (states that were placed by hand), "
        "or the table of a toy-text task, of which every state and action is compared.",
    .details =
        "The exit status is 0 when the file could be played back, however large the errors.\n\n"
        "Examples:\n"
        "  env_replay tests/golden/recordings/gym/CartPole-v1_1.json\n"
        "  env_replay walker_walk_3.json --per-step --json\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPERAND("FILE.json", playback_arguments, path)},
};

/* ---- results -------------------------------------------------------------------------------- */

typedef struct playback_result {
    const aq_recording *recording;
    const aq_env *env;
    const playback_arguments *arguments;
    aq_playback_report report;
} playback_result;

static const char *form_name(const aq_recording *recording)
{
    static const char *const names[] = {[AQ_RECORDING_EPISODE] = "episode",
                                        [AQ_RECORDING_PROBES] = "probes",
                                        [AQ_RECORDING_TABLE] = "table"};
    return names[recording->form];
}

/* null: there was nothing to compare, or the error has no end. */
static json_t *worst_json(const aq_worst *worst)
{
    return worst->compared > 0 ? aq_json_number(worst->error) : json_null();
}

static json_t *step_json(const aq_worst *worst)
{
    return worst->compared > 0 ? json_integer(worst->step) : json_null();
}

static json_t *make_json(const playback_result *result)
{
    const aq_playback_report *report = &result->report;
    const bool per_step =
        result->arguments->per_step && result->recording->form == AQ_RECORDING_EPISODE;
    return json_pack(
        "{s:o, s:o, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o, s:o}}", "file",
        aq_json_text(result->arguments->path), "task", aq_json_text(result->env->name), "form",
        form_name(result->recording), "per_step", per_step, "steps", aq_json_count(report->steps),
        "max_obs_error", worst_json(&report->obs), "max_reward_error", worst_json(&report->reward),
        "max_state_error", worst_json(&report->state), "mismatched_flags",
        aq_json_count(report->mismatched_flags), "worst_step", "obs", step_json(&report->obs),
        "reward", step_json(&report->reward), "state", step_json(&report->state));
}

static void print_worst(const char *label, const aq_worst *worst, const char *place)
{
    if (worst->compared == 0) {
        aq_print_fact(stdout, label, "-");
    } else if (worst->error > 0) {
        aq_print_fact(stdout, label, "%.2g, in %s %" PRId64, worst->error, place, worst->step);
    } else {
        aq_print_fact(stdout, label, "0");
    }
}

static void print(const playback_result *result)
{
    static const char *const places[] = {[AQ_RECORDING_EPISODE] = "step",
                                         [AQ_RECORDING_PROBES] = "probe",
                                         [AQ_RECORDING_TABLE] = "state"};
    static const char *const counted[] = {[AQ_RECORDING_EPISODE] = "steps",
                                          [AQ_RECORDING_PROBES] = "probes",
                                          [AQ_RECORDING_TABLE] = "pairs of a state and an action"};
    char path[AQ_ERROR_TEXT_MAX];
    const aq_playback_report *report = &result->report;
    const enum aq_recording_form form = result->recording->form;
    (void)printf("%s: %s, %" PRIu64 " %s%s\n",
                 aq_plain_text(path, sizeof(path), result->arguments->path), result->env->name,
                 report->steps, counted[form],
                 result->arguments->per_step && form == AQ_RECORDING_EPISODE
                     ? ", each from its recorded state"
                     : "");
    print_worst("observations", &report->obs, places[form]);
    print_worst("rewards", &report->reward, places[form]);
    print_worst("states", &report->state, places[form]);
    aq_print_fact(stdout, "flags", "%" PRIu64 " differ", report->mismatched_flags);
}

/* ---- the program ---------------------------------------------------------------------------- */

static int play(const playback_arguments *arguments, playback_result *result,
                aq_recording **recording, aq_env **env, aq_error *error)
{
    int rc = aq_recording_read(arguments->path, recording, error);
    if (rc != 0) {
        return aq_fail_context(error, rc, "%s", arguments->path);
    }
    const char *task = arguments->task ? arguments->task : (*recording)->task;
    aq_env_allow_code(task);
    rc = aq_env_open(task, env, error);
    if (rc != 0) {
        return arguments->task ? rc : aq_fail_context(error, rc, "%s", arguments->path);
    }
    *result = (playback_result){.recording = *recording, .env = *env, .arguments = arguments};
    rc = aq_playback(*env, aq_original_of((*env)->class), *recording, arguments->per_step,
                     &result->report, error);
    return rc != 0 ? aq_fail_context(error, rc, "%s", arguments->path) : 0;
}

int main(int argc, char **argv)
{
    aq_error error = {0};
    playback_arguments arguments = {0};
    playback_result result;
    aq_recording *recording = NULL;
    aq_env *env = NULL;
    int status;
    if (!aq_command_begin(&options_page, argc, argv, &arguments, &status)) {
        return status;
    }
    int rc = play(&arguments, &result, &recording, &env, &error);
    if (rc == 0 && arguments.json) {
        rc = aq_print_json(make_json(&result), arguments.json, &error);
    } else if (rc == 0) {
        print(&result);
    }
    aq_env_unref(env);
    aq_recording_free(recording);
    return aq_command_end(&options_page, rc, &error);
}
