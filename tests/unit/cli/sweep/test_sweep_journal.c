/*
 * The journal: what is written comes back, half a line is nothing, and damage is told.
 */
#include "cli/sweep/journal/sweep_journal.h"

#include <inttypes.h>

#include "common/base/crc32c.h"
#include "common/sys/file.h"
#include "tests/support/file_kit.h"
#include "tests/unit/cli/sweep/sweep_kit.h"

static const char small[] = "task: gym:CartPole-v1\n"
                            "trials: 3\n"
                            "round: 3\n"
                            "space:\n"
                            "  learner.learning_rate: {log: [1e-4, 1e-2]}\n"
                            "  learner.batch_size: {pow2: [16, 128]}\n";

typedef struct journal_kit {
    const char *dir, *path;
    char *bytes;
    size_t size;
} journal_kit;

/* A study of three runs, all of it. */
static void make(void **state, journal_kit *kit)
{
    kit->dir = cli_path(state, "study");
    kit->path = file_in(kit->dir, "journal.jsonl");
    sweep_found(kit->dir, small);
    sweep_all(kit->dir, 1, 1);
    kit->bytes = file_text(kit->path);
    kit->size = strlen(kit->bytes);
}

static size_t lines_in(const journal_kit *kit, size_t size)
{
    size_t lines = 0;
    for (size_t i = 0; i < size; i++) {
        lines += kit->bytes[i] == '\n';
    }
    return lines;
}

TEST_IN_FOLDER(cut_anywhere_it_is_what_was_whole_and_goes_on_from_there)
{
    static journal_kit kit;
    make(state, &kit);
    const size_t first = strcspn(kit.bytes, "\n") + 1;
    json_t *whole = sweep_says(kit.dir);
    for (size_t size = first; size < kit.size; size += 7) {
        aq_sweep_desk *desk;
        file_put(kit.path, kit.bytes, size);
        assert_succeeds(aq_sweep_desk_open(kit.dir, "", &desk, &refusal));
        const aq_sweep_study *study = aq_sweep_desk_study(desk);
        assert_false(study->is_ended);
        const size_t lines = lines_in(&kit, size);
        assert_int_equal(study->runs_done, lines > 2 ? (lines - 2) / 2 : 0); /* by pairs */
        aq_sweep_desk_close(desk);
        sweep_all(kit.dir, 1, 1);
        assert_true(json_equal(sweep_says(kit.dir), whole));
    }
}

TEST_IN_FOLDER(a_flipped_bit_is_told_with_its_line)
{
    static journal_kit kit;
    make(state, &kit);
    for (size_t at = 0; at + 1 < kit.size; at += 11) {
        char words[CLI_PATH_MAX];
        aq_sweep_desk *desk;
        kit.bytes[at] ^= 4;
        file_put(kit.path, kit.bytes, kit.size);
        kit.bytes[at] ^= 4;
        (void)snprintf(words, sizeof(words), "journal.jsonl:%zu: ", lines_in(&kit, at) + 1);
        assert_refused(aq_sweep_desk_open(kit.dir, "", &desk, &refusal), AQ_E_CORRUPT, words);
    }
}

TEST_IN_FOLDER(a_line_that_is_missing_or_twice_there_is_told)
{
    static journal_kit kit;
    aq_sweep_desk *desk;
    make(state, &kit);
    char *second = strchr(kit.bytes, '\n') + 1;
    const char *third = strchr(second, '\n') + 1;
    FILE *twice = fopen(kit.path, "w");
    assert_non_null(twice);
    assert_true(fprintf(twice, "%.*s%s", (int)(third - kit.bytes), kit.bytes, second) > 0);
    assert_int_equal(fclose(twice), 0);
    assert_refused(aq_sweep_desk_open(kit.dir, "", &desk, &refusal), AQ_E_CORRUPT,
                   "journal.jsonl:3: it is no event of a sweep");
    memmove(second, third, strlen(third) + 1);
    file_put_text(kit.path, kit.bytes);
    assert_refused(aq_sweep_desk_open(kit.dir, "", &desk, &refusal), AQ_E_CORRUPT,
                   "journal.jsonl:2: it is no event of a sweep");
}

TEST_IN_FOLDER(a_journal_of_another_version_is_refused)
{
    static journal_kit kit;
    char sum[9];
    aq_sweep_desk *desk;
    make(state, &kit);
    char *version = strstr(kit.bytes, "\"version\": 1");
    assert_non_null(version);
    version[strlen("\"version\": ")] = '2';
    (void)snprintf(sum, sizeof(sum), "%08" PRIx32,
                   aq_crc32c(0, kit.bytes + 9, strcspn(kit.bytes, "\n") - 9));
    memcpy(kit.bytes, sum, 8);
    file_put_text(kit.path, kit.bytes);
    assert_refused(aq_sweep_desk_open(kit.dir, "", &desk, &refusal), AQ_E_VERSION,
                   "journal.jsonl:1: of version 2; this program reads 1");
}

TEST_IN_FOLDER(a_sweep_is_founded_once)
{
    const char *dir = cli_path(state, "study");
    static aq_sweep_spec spec;
    const aq_sweep_plan plan = {.steps = 1, .settings_sum = 0xf0000009};
    aq_buffer *text = buffer_up_to(1000);
    aq_sweep_desk *desk = NULL;
    sweep_found(dir, small);
    sweep_spec(small, &spec);
    assert_int_equal(aq_buffer_append(text, small, strlen(small)), 0);
    assert_refused(aq_sweep_desk_found(dir, &spec, text, &plan, 0, &refusal), AQ_E_EXISTS,
                   "holds a sweep already; --resume goes on with it");
    assert_int_equal(aq_buffer_append(text, "\n", 1), 0);
    assert_refused(aq_sweep_desk_found(dir, &spec, text, &plan, 0, &refusal), AQ_E_EXISTS,
                   "is of another SPEC.yaml");
    const char *other = cli_path(state, "other");
    assert_succeeds(aq_sweep_desk_found(other, &spec, text, &plan, 0, &refusal));
    assert_succeeds(aq_sweep_desk_open(other, "", &desk, &refusal));
    assert_int_equal(aq_sweep_desk_study(desk)->plan.settings_sum, plan.settings_sum);
    aq_sweep_desk_close(desk);
}

TEST_IN_FOLDER(a_folder_of_something_else_is_left_alone)
{
    static const char *const theirs[] = {"report.html", "plan.json", "run.json", "seed-1/run.json"};
    const char *waited_for = cli_path(state, "waited-for");
    static aq_sweep_spec spec;
    const aq_sweep_plan plan = {.steps = 1};
    aq_sweep_presence *presence;
    aq_buffer *text = buffer_up_to(1000);
    sweep_spec(small, &spec);
    assert_int_equal(aq_buffer_append(text, small, strlen(small)), 0);
    EACH_ROW(i, theirs) {
        const char *dir = cli_path(state, (const char *[]){"a", "b", "c", "d"}[i]);
        cli_make_folder(dir);
        cli_make_folder(file_in(dir, "seed-1"));
        file_put_text(file_in(dir, theirs[i]), "{}");
        assert_refused(aq_sweep_desk_found(dir, &spec, text, &plan, 0, &refusal), AQ_E_FOREIGN,
                       "exists already and is no sweep");
        assert_false(aq_path_exists_in(dir, "journal.jsonl"));
    }
    assert_succeeds(aq_sweep_presence_create(waited_for, "early", &presence, &refusal));
    file_put_text(file_in(waited_for, "slurm-7.out"), "of a scheduler");
    assert_succeeds(aq_sweep_desk_found(waited_for, &spec, text, &plan, 0, &refusal));
    aq_sweep_presence_destroy(presence);
}
