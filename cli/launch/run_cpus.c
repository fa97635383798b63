/*
 * Run cpus: see run_cpus.h.
 *
 * `auto` is for presets, which do not know the machine: the learner gets as many processors as it
 * has threads, and the others what it leaves. Where it would leave nothing, nobody is held to any.
 */
#include "cli/launch/run_cpus.h"

#include <stdio.h>
#include <string.h>

static bool is_auto(const char *setting)
{
    return strcmp(setting, "auto") == 0;
}

/* The first so many of `allowed`. */
static aq_cpus first_of(const aq_cpus *allowed, uint64_t count)
{
    aq_cpus cpus = {{false}};
    for (size_t i = 0; i < AQ_CPUS_MAX && count > 0; i++) {
        cpus.has[i] = allowed->has[i];
        count -= allowed->has[i];
    }
    return cpus;
}

static aq_cpus all_but(const aq_cpus *allowed, const aq_cpus *taken)
{
    aq_cpus cpus = *allowed;
    for (size_t i = 0; i < AQ_CPUS_MAX; i++) {
        cpus.has[i] = cpus.has[i] && !taken->has[i];
    }
    return cpus;
}

static int read_list(const char *setting, const char *text, const aq_cpus *allowed, aq_cpus *cpus,
                     aq_error *error)
{
    if (text[0] == '\0' || is_auto(text)) {
        return 0;
    }
    int rc = aq_cpus_read(text, allowed, cpus, error);
    return rc == 0 ? 0 : aq_fail_context(error, rc, "%s", setting);
}

int aq_run_cpus_plan(const aq_run_config *config, uint64_t learners, const aq_cpus *allowed,
                     aq_run_cpus *ret_cpus, aq_error *error)
{
    const char *of_learner = config->learner.cpus, *of_others = config->actor.cpus;
    aq_run_cpus made = {.are_chosen = of_learner[0] != '\0' || of_others[0] != '\0',
                        .learner = *allowed,
                        .others = *allowed};
    int rc = read_list("actor.cpus", of_others, allowed, &made.others, error);
    if (rc == 0 && is_auto(of_learner)) {
        made.learner = first_of(allowed, config->learner.threads * learners);
    } else if (rc == 0) {
        rc = read_list("learner.cpus", of_learner, allowed, &made.learner, error);
    }
    if (rc != 0) {
        return rc;
    }
    if (is_auto(of_others)) {
        made.others = all_but(allowed, &made.learner);
    }
    made.are_chosen = made.are_chosen && aq_cpus_count(&made.others) > 0;
    *ret_cpus = made;
    return 0;
}

int aq_run_cpus_choose(const aq_run_config *config, uint64_t learners, bool quiet,
                       aq_run_cpus *ret_cpus, aq_error *error)
{
    char learner[AQ_CPUS_TEXT_MAX], others[AQ_CPUS_TEXT_MAX];
    aq_cpus allowed;
    aq_cpus_allowed(&allowed);
    int rc = aq_run_cpus_plan(config, learners, &allowed, ret_cpus, error);
    if (rc == 0 && ret_cpus->are_chosen && !quiet) {
        aq_cpus_text(&ret_cpus->learner, learner, sizeof(learner));
        aq_cpus_text(&ret_cpus->others, others, sizeof(others));
        (void)fprintf(stderr, "processors: learner on %s, all else on %s\n", learner, others);
    }
    return rc;
}

const aq_cpus *aq_run_cpus_of(const aq_run_cpus *cpus, bool is_learner)
{
    return !cpus->are_chosen ? NULL : is_learner ? &cpus->learner : &cpus->others;
}
