/*
 * actorq sweep prune: makes room of what a sweep does not need any more.
 */
#include <stdio.h>

#include "cli/sweep/journal/sweep_desk.h"
#include "cli/sweep/training/sweep_prune.h"
#include "cli/text/command.h"
#include "cli/text/figure_text.h"

typedef struct prune_arguments {
    const char *folder;
    aq_json_form json;
} prune_arguments;

static const aq_option option_rows[] = {
    AQ_JSON_OPTION_ROW(prune_arguments, json, "what was removed"),
};

static const aq_options options_page = {
    .program = "actorq sweep prune",
    .usage = "DIR [options]",
    .summary = "Removes checkpoints and stored steps of runs that nothing in the sweep goes on "
               "from any more. The winner's and the report's runs stay whole, of the others "
               "metrics, logs and policies. It may be called while the sweep goes on.",
    .details = "Examples:\n"
               "  actorq sweep prune sweeps/cartpole\n"
               "\n"
               "'prune: yes' in SPEC.yaml does so after each round.\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPERAND("DIR", prune_arguments, folder)},
};

static int prune(void *given, aq_error *error)
{
    const prune_arguments *arguments = given;
    aq_sweep_pruned pruned;
    aq_figure bytes;
    aq_sweep_desk *desk = NULL;
    int rc = aq_sweep_desk_open(arguments->folder, "", &desk, error);
    if (rc == 0 && aq_sweep_prune(aq_sweep_desk_study(desk), arguments->folder, &pruned) != 0) {
        rc = aq_fail(error, AQ_E_NOMEM, "out of memory");
    } else if (rc == 0 && arguments->json) {
        rc = aq_print_json(json_pack("{s:o, s:o}", "runs", aq_json_count(pruned.runs), "bytes",
                                     aq_json_count(pruned.bytes)),
                           arguments->json, error);
    } else if (rc == 0) {
        (void)printf("%zu runs pruned, %s of files removed\n", pruned.runs,
                     aq_figure_bytes(&bytes, (double)pruned.bytes));
    }
    aq_sweep_desk_close(desk);
    return rc;
}

static const prune_arguments defaults = {0};

const aq_command aq_command_sweep_prune = {
    .name = "prune",
    .summary = "make room of what a sweep does not need any more",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = prune,
};
