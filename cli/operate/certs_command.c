/*
 * actorq certs: a small authority for one run, and what each role proves itself with.
 */
#include <stdio.h>

#include "cli/text/command.h"
#include "common/base/clock.h"
#include "common/net/security/certs_folder.h"

enum { DAYS_DEFAULT = 365, DAYS_MAX = 36500 };

typedef struct certs_arguments {
    const char *folder;
    uint64_t days;
    bool renew;
} certs_arguments;

static const aq_option option_rows[] = {
    {"days", 0, "N", "how long the roles' certificates are valid (default 365)",
     AQ_TO_NUMBER(certs_arguments, days, 1, DAYS_MAX)},
    {"renew", 0, NULL, "new keys and certificates of the authority that is there; tokens stay",
     AQ_TO_FLAG(certs_arguments, renew)},
};

static const aq_options options_page = {
    .program = "actorq certs",
    .usage = "DIR [options]",
    .summary = "Makes an authority for one run in a new folder, and for each role a folder with a "
               "certificate, its key and a token, to be given to daemons with --certs. No names of "
               "hosts are in them: any host may take any role.",
    .details = "Examples:\n"
               "  actorq certs ~/run-certs\n"
               "  actorq-learner --certs ~/run-certs/learner --listen tcp://0.0.0.0:5550\n"
               "  actorq status tcp://learner:5550 --certs ~/run-certs/operator\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPERAND("DIR", certs_arguments, folder)},
};

static void print_what_to_do(const certs_arguments *arguments)
{
    static const char *const roles[][2] = {
        {"learner", "the learner's host"},
        {"replay", "each host of a replay shard"},
        {"actor", "each host of actors"},
        {"evaluator", "each host of evaluators"},
        {"operator", "whoever looks at the run and steers it"},
    };
    const char *folder = arguments->folder;
    const unsigned days = (unsigned)arguments->days;
    if (arguments->renew) {
        (void)printf("New certificates of the same authority, valid for %u days. Copy\n\n", days);
    } else {
        (void)printf("A new authority, valid for %u days, and certificates, valid for %u days. "
                     "Copy\n\n",
                     days < AQ_AUTHORITY_DAYS_MIN ? AQ_AUTHORITY_DAYS_MIN : days, days);
    }
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        (void)printf("  %s/%-9s to %s\n", folder, roles[i][0], roles[i][1]);
    }
    (void)printf("\nand give each program its folder: --certs DIR, or ACTORQ_CERTS=DIR.\n");
    if (arguments->renew) {
        (void)printf("Daemons read it at their start: begin them again, one after the other; old "
                     "and new\ncertificates know each other.\n");
    } else {
        (void)printf("%s/authority stays here: who has it can make certificates of this run.\n",
                     folder);
    }
}

static const certs_arguments defaults = {.days = DAYS_DEFAULT};

static int certs(void *given, aq_error *error)
{
    const certs_arguments *arguments = given;
    int64_t now_s = aq_clock_wall_ns() / AQ_NS_PER_S;
    int rc = arguments->renew
                 ? aq_certs_folder_renew(arguments->folder, now_s, (unsigned)arguments->days, error)
                 : aq_certs_folder_make(arguments->folder, now_s, (unsigned)arguments->days, error);
    if (rc == 0) {
        print_what_to_do(arguments);
    }
    return rc;
}

const aq_command aq_command_certs = {
    .name = "certs",
    .summary = "make certificates and tokens for a run on several hosts",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = certs,
};
