/*
 * Pruning: what a study goes on from, and what it found, stays whole at any moment; of the rest
 * only what people read.
 */
#include "cli/sweep/training/sweep_prune.h"

#include "cli/sweep/study/sweep_order.h"
#include "cli/sweep/training/sweep_training.h"
#include "common/sys/file.h"
#include "tests/support/file_kit.h"
#include "tests/unit/cli/sweep/sweep_kit.h"

#define SPACE                                                                                      \
    "space:\n"                                                                                     \
    "  learner.learning_rate: {log: [1e-5, 1e-1]}\n"                                               \
    "  learner.batch_size: {pow2: [16, 128]}\n"

/* As training leaves it. */
static void make_run(const aq_sweep_study *study, const char *dir, size_t run)
{
    static const char *const parts[] = {"checkpoints", "replay-0"};
    char folder[CLI_PATH_MAX + 64];
    aq_sweep_training_folder(study, dir, run, folder, sizeof(folder));
    EACH_ROW(i, parts) {
        const char *part = file_in(folder, parts[i]);
        cli_make_folder(part);
        file_put_text(file_in(part, "file"), "four");
    }
    file_put_text(file_in(folder, "metrics.jsonl"), "{}");
}

static bool is_whole(const aq_sweep_study *study, const char *dir, size_t run)
{
    char folder[CLI_PATH_MAX + 64];
    aq_sweep_training_folder(study, dir, run, folder, sizeof(folder));
    return aq_path_exists_in(folder, "checkpoints");
}

/* With pruning after each step, whatever a run goes on from is there when it is taken. */
static void work_and_prune(sweep_hand *hand, const char *dir)
{
    const aq_sweep_study *study = aq_sweep_desk_study(hand->desk);
    aq_sweep_pruned pruned;
    for (int64_t now = 0; !hand->is_over; now++) {
        if (sweep_step(hand, now) && hand->is_busy) {
            const size_t source = aq_sweep_run_source(study, hand->run);
            assert_true(source == AQ_SWEEP_NONE || is_whole(study, dir, source));
            make_run(study, dir, hand->run);
        }
        assert_int_equal(aq_sweep_prune(study, dir, &pruned), 0);
    }
}

TEST_IN_FOLDER(a_sweep_that_is_pruned_all_the_time_has_what_it_goes_on_from)
{
    static const char *const methods[] = {"tpe", "pbt"};
    EACH_ROW(i, methods) {
        char yaml[512];
        sweep_hand hand;
        (void)snprintf(yaml, sizeof(yaml),
                       "task: gym:CartPole-v1\ntrials: 12\nseeds: {tune: 2, report: 1}\n"
                       "rungs: [1000, 3000, 9000]\nmethod: %s\n" SPACE,
                       methods[i]);
        const char *dir = cli_path(state, methods[i]);
        sweep_found(dir, yaml);
        sweep_hire(&hand, dir, methods[i]);
        work_and_prune(&hand, dir);
        const aq_sweep_study *study = aq_sweep_desk_study(hand.desk);
        const uint32_t winner = aq_sweep_winner(study);
        for (size_t run = 0; run < study->run_count; run++) {
            const uint32_t stage = study->runs[run].stage;
            assert_int_equal(is_whole(study, dir, run),
                             stage == winner || study->stages[stage].kind != AQ_SWEEP_TUNE);
        }
        sweep_dismiss(&hand);
    }
}

/* After the first rung: the best so far stays, and what the next one can go on from. */
TEST_IN_FOLDER(what_begins_anew_or_failed_is_not_kept_to_go_on_from)
{
    static const struct {
        const char *name, *batch; /* with 256 and more they fail: sweep_kit.c */
        bool is_resumed;
        size_t whole;
    } rows[] = {{"resumed", "[16, 128]", true, 3},
                {"anew", "[16, 128]", false, 1},
                {"failed", "[256, 512]", true, 0}};
    EACH_ROW(i, rows) {
        char yaml[512];
        sweep_hand hand;
        aq_sweep_pruned pruned;
        size_t whole = 0;
        (void)snprintf(yaml, sizeof(yaml),
                       "task: gym:CartPole-v1\ntrials: 3\nmethod: random\nrungs: [1000, 3000]\n"
                       "space:\n"
                       "  learner.learning_rate: {log: [1e-5, 1e-1]}\n"
                       "  learner.batch_size: {pow2: %s}\n",
                       rows[i].batch);
        const char *dir = cli_path(state, rows[i].name);
        sweep_found_with(dir, yaml, rows[i].is_resumed);
        sweep_hire(&hand, dir, rows[i].name);
        const aq_sweep_study *study = aq_sweep_desk_study(hand.desk);
        for (int64_t now = 0; now < 6; now++) {
            if (sweep_step(&hand, now) && hand.is_busy) {
                make_run(study, dir, hand.run);
            }
        }
        assert_int_equal(study->runs_done, 3);
        assert_int_equal(aq_sweep_prune(study, dir, &pruned), 0);
        for (size_t run = 0; run < 3; run++) {
            whole += is_whole(study, dir, run);
        }
        assert_int_equal(whole, rows[i].whole);
        sweep_dismiss(&hand);
    }
}

TEST_IN_FOLDER(what_was_removed_is_counted_once)
{
    const char *dir = cli_path(state, "study");
    aq_sweep_pruned pruned;
    sweep_hand hand;
    sweep_found(dir, "task: gym:CartPole-v1\ntrials: 3\nmethod: sobol\n" SPACE);
    sweep_hire(&hand, dir, "one");
    for (int64_t now = 0; !hand.is_over; now++) {
        if (sweep_step(&hand, now) && hand.is_busy) {
            make_run(aq_sweep_desk_study(hand.desk), dir, hand.run);
        }
    }
    static const size_t counts[] = {2, 0};
    EACH_ROW(i, counts) {
        assert_int_equal(aq_sweep_prune(aq_sweep_desk_study(hand.desk), dir, &pruned), 0);
        assert_int_equal(pruned.runs, counts[i]);
        assert_int_equal(pruned.bytes, 8 * counts[i]);
    }
    sweep_dismiss(&hand);
}
