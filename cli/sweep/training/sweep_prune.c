/*
 * Sweep prune: see sweep_prune.h.
 */
#include "cli/sweep/training/sweep_prune.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/sweep/study/sweep_order.h"
#include "cli/sweep/training/sweep_training.h"
#include "common/base/memory.h"
#include "common/sys/file.h"

enum { PATH_BYTES = PATH_MAX + 256 };

/* ---- which runs are needed ------------------------------------------------------------------ */

static void keep_run(const aq_sweep_study *study, size_t run, bool *kept)
{
    kept[aq_sweep_run_trained(study, run)] = true;
}

static void keep_stage(const aq_sweep_study *study, uint32_t stage, bool *kept)
{
    const aq_sweep_stage *its = &study->stages[stage];
    const bool is_over = aq_sweep_stage_is_over(study, stage);
    for (size_t run = its->first_run; run < its->first_run + its->run_count; run++) {
        const size_t source = aq_sweep_run_source(study, run);
        keep_run(study, run, kept);
        if (!is_over && source != AQ_SWEEP_NONE) {
            keep_run(study, source, kept);
        }
    }
}

/* `last` is the last stage of each trial: only of those a next one can go on, where rungs do and
 * there is a score to go by. */
static void keep_needed(const aq_sweep_study *study, uint32_t *last, bool *kept)
{
    const uint32_t winner = aq_sweep_winner(study);
    for (uint32_t i = 0; i < study->stage_count; i++) {
        last[study->stages[i].trial] =
            study->stages[i].kind == AQ_SWEEP_TUNE ? i : last[study->stages[i].trial];
    }
    for (uint32_t i = 0; i < study->stage_count; i++) {
        const aq_sweep_stage *stage = &study->stages[i];
        const bool goes_on = !study->is_ended && study->plan.is_resumed &&
                             last[stage->trial] == i && stage->rung + 1 < study->spec->rung_count &&
                             isfinite(aq_sweep_stage_score(study, i));
        if (stage->kind != AQ_SWEEP_TUNE || i == winner || goes_on ||
            !aq_sweep_stage_is_over(study, i)) {
            keep_stage(study, i, kept);
        }
    }
}

/* ---- taking away ---------------------------------------------------------------------------- */

static uint64_t prune_folder(const char *folder)
{
    DIR *entries = opendir(folder);
    uint64_t bytes = 0;
    for (const struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        if (strcmp(entry->d_name, "checkpoints") == 0 ||
            strncmp(entry->d_name, "replay-", strlen("replay-")) == 0) {
            char path[2 * PATH_BYTES];
            (void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
            bytes += aq_dir_remove(path);
        }
    }
    if (entries != NULL) {
        (void)closedir(entries);
    }
    return bytes;
}

int aq_sweep_prune(const aq_sweep_study *study, const char *dir, aq_sweep_pruned *ret_pruned)
{
    uint32_t *last = aq_alloc(study->spec->trials, sizeof(*last));
    bool *kept = aq_alloc(study->run_count + 1, sizeof(*kept));
    aq_sweep_pruned pruned = {0};
    int rc = last != NULL && kept != NULL ? 0 : AQ_E_NOMEM;
    if (rc == 0) {
        keep_needed(study, last, kept);
    }
    for (size_t run = 0; rc == 0 && run < study->run_count; run++) {
        char folder[PATH_BYTES];
        if (!kept[run] && aq_sweep_run_trained(study, run) == run) {
            aq_sweep_training_folder(study, dir, run, folder, sizeof(folder));
            const uint64_t bytes = prune_folder(folder);
            pruned.runs += bytes > 0;
            pruned.bytes += bytes;
        }
    }
    aq_free(last);
    aq_free(kept);
    if (rc == 0) {
        *ret_pruned = pruned;
    }
    return rc;
}
