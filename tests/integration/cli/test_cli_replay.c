/*
 * `actorq replay` and `actorq train --offline` as their users run them: steps of a short run go out
 * of its store, into a shard that trains from them alone, and out of that one while it runs.
 */
#include <signal.h>

#include "common/base/clock.h"
#include "common/data_set/data_set_writer.h"
#include "common/experience/chunk.h"
#include "common/sys/file.h"
#include "envs/env_open.h"
#include "tests/integration/cli/program.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

enum { TEXT_MAX = 128, PATIENCE_S = 240 };

/* Whose import, and export, take a good part of a second. */
enum { EPISODES_MANY = 400000 };

static char *folder;

static const char *at(const char *name)
{
    return file_in(folder, name);
}

static json_int_t whole(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static json_t *inspect(const char *what)
{
    return program_gives("replay", "inspect", what, "--json", "--verify", "--quiet", NULL);
}

static json_int_t steps_of(const char *what)
{
    json_t *object = inspect(what);
    assert_int_equal(whole(object, "gaps") + whole(object, "doubles"), 0);
    assert_int_equal(whole(object, "seq_holes") + whole(object, "seq_doubles"), 0);
    const json_int_t steps = whole(object, "transitions");
    return steps;
}

/* All of a data set but its header, which says where it comes from. */
static const aq_buffer *blocks_of(const char *path)
{
    aq_buffer *bytes = file_bytes(path);
    size_t at_block = 16;
    while (memcmp(bytes->data + at_block, "AQBK", 4) != 0) {
        at_block++;
        assert_true(at_block < bytes->size - 4);
    }
    memmove(bytes->data, bytes->data + at_block, bytes->size - at_block);
    bytes->size -= at_block;
    return bytes;
}

/* A short run leaves a store behind; its data set is what the other tests are about. */
static int make_data_set(void **state)
{
    (void)state;
    folder = file_folder_make();
    program_succeeds("train", "gym:CartPole-v1", "--run", at("run"), "--quiet", "--json", "--seed",
                     "5", "--set", "limits.env_steps=3000", "--no-evaluator", NULL);
    program_succeeds("replay", "export", at("run/replay-0"), at("steps.aqds"), "--quiet", NULL);
    return 0;
}

static int remove_all(void **state)
{
    (void)state;
    file_folder_remove(folder);
    return 0;
}

TEST(a_data_set_has_the_steps_of_its_store)
{
    const json_int_t steps = steps_of(at("run/replay-0"));
    assert_true(steps >= 3000);
    assert_int_equal(steps_of(at("steps.aqds")), steps);
    program_succeeds("replay", "inspect", at("steps.aqds"), NULL);
    program_assert_out("gym:CartPole-v1, box f32[4] -> discrete 2");
}

/* It is over before its shard has told of any step. */
TEST(metrics_say_nothing_of_a_shard_that_told_nothing)
{
    const json_t *run = program_gives("inspect", at("run"), "--json", NULL);
    const json_t *replay = json_object_get(json_object_get(run, "last_progress"), "replay");
    assert_true(replay == NULL || whole(replay, "inserted") > 0);
}

TEST(what_was_imported_and_exported_again_has_equal_steps)
{
    const json_int_t steps = steps_of(at("steps.aqds"));
    program_succeeds("replay", "import", at("steps.aqds"), at("one"), "--n-step", "3",
                     "--chunk-length", "32", NULL);
    program_succeeds("replay", "export", at("one"), at("one.aqds"), NULL);
    program_succeeds("replay", "import", at("one.aqds"), at("two"), "--n-step", "1",
                     "--chunk-length", "7", "--compress", NULL);
    json_t *first = inspect(at("steps.aqds"));
    json_t *second = inspect(at("two"));
    static const char *const same[] = {
        "transitions", "episodes", "whole_episodes",     "return_mean", "return_std", "length_mean",
        "version_max", "lanes",    "random_transitions", "schema_hash", "task"};
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        assert_true(json_equal(json_object_get(first, same[i]), json_object_get(second, same[i])));
    }
    assert_int_equal(whole(second, "transitions"), steps);
}

/* From the head of its second file on, a sender's first messages may be in no file. Which senders
 * the files before the last have, and which of them have more in it, is a matter of time; there is
 * one at least of either. */
TEST(inspect_reads_how_far_senders_were_at_the_head_of_a_file)
{
    program_succeeds("replay", "import", at("steps.aqds"), at("files"), "--message-bytes", "4096",
                     "--segment-bytes", "65536", NULL);
    json_t *store = inspect(at("files"));
    const json_t *actors = json_object_get(store, "actors");
    json_int_t before = 0, after = 0;
    assert_true(json_array_size(json_object_get(store, "segments")) > 1);
    assert_true(json_array_size(actors) > 0);
    for (size_t i = 0; i < json_array_size(actors); i++) {
        const json_t *actor = json_array_get(actors, i);
        assert_true(whole(actor, "head_mark") <= whole(actor, "last_seq"));
        before += whole(actor, "head_mark");
        after += whole(actor, "last_seq") - whole(actor, "head_mark");
    }
    assert_true(before > 0);
    assert_true(after > 0);
}

/* The reader in Python, where there is one with NumPy. */
TEST(another_language_reads_the_same)
{
    const char *python = getenv("ACTORQ_PYTHON");
    const char *reader = getenv("AQ_READER");
    if (python == NULL || python[0] == '\0' || reader == NULL) {
        skip();
    }
    shell_succeeds("%s %s %s/steps.aqds >%s/python", python, reader, folder, folder);
    json_t *found = json_load_file(at("python"), 0, NULL);
    json_t *expected = inspect(at("steps.aqds"));
    assert_non_null(found);
    assert_int_equal(whole(found, "transitions"), whole(expected, "transitions"));
    assert_int_equal(whole(found, "episodes"), whole(expected, "episodes"));
    assert_int_equal(whole(found, "blocks"), whole(expected, "blocks"));
    /* CartPole gives 1 a step. */
    assert_true(json_number_value(json_object_get(found, "reward")) ==
                (double)whole(expected, "transitions"));
    json_decref(found);
    assert_int_not_equal(
        shell("head -c -64 %s/steps.aqds >%s/cut.aqds; %s %s %s/cut.aqds 2>%s/python", folder,
              folder, python, reader, folder, folder),
        0);
}

/* The words of what is damaged have its path in them. */
TEST(damage_is_seen_whatever_the_path)
{
    const char *odd = at("odd\xff");
    shell_succeeds("cp -r '%s/run/replay-0' '%s' && set -- '%s'/segment-* && "
                   "printf damaged | dd of=\"$1\" bs=1 seek=5000 conv=notrunc status=none",
                   folder, odd, odd);
    const program_result *result =
        program_run("replay", "inspect", odd, "--json", "--verify", "--quiet", NULL);
    assert_int_equal(result->exit_status, 1);
    assert_non_null(strstr(result->err, "odd? is not whole"));
    assert_non_null(strstr(result->out, "odd?"));
}

TEST(mistakes_are_answered_in_words)
{
    program_refuses("there is no command 'exprot'; did you mean 'export'?", "replay", "exprot",
                    NULL);
    program_refuses("exists already; give --force to replace it", "replay", "export",
                    at("run/replay-0"), at("steps.aqds"), NULL);
    program_refuses("is the folder of a run; name one of its stores", "replay", "export", at("run"),
                    at("other.aqds"), NULL);
    program_refuses("not a data set", "replay", "inspect", "/etc/passwd", NULL);
    program_refuses("/etc: not the folder of a replay store", "replay", "inspect", "/etc", NULL);
    program_refuses("exists already; a data set is imported into a new folder", "replay", "import",
                    at("steps.aqds"), at("run/replay-0"), NULL);
    program_refuses("is of gym:CartPole-v1, not of gym:Acrobot-v1", "train", "gym:Acrobot-v1",
                    "--offline", at("steps.aqds"), "--run", at("no"), "--set",
                    "limits.learner_steps=10", NULL);
    program_refuses("ppo learns from what the actors of its run do, and a data set holds none "
                    "of that; from data sets of this task learn dqn, qr_dqn, c51, sac, iql, "
                    "cql and rainbow",
                    "train", "--offline", at("steps.aqds"), "--run", at("no"), "--set",
                    "learner.algorithm=ppo", "--set", "limits.learner_steps=10", NULL);
    program_refuses("ppo learns from what the actors of its run do", "train", "--offline",
                    at("steps.aqds"), "--run", at("no"), "--seeds", "2", "--grid",
                    "learner.algorithm=iql,ppo", "--set", "limits.learner_steps=10", NULL);
    program_refuses("are choices, for which dqn, qr_dqn, c51, sac, iql, cql and rainbow are made",
                    "train", "--offline", at("steps.aqds"), "--run", at("no"), "--set",
                    "learner.algorithm=td3_bc", NULL);
    program_refuses("nothing would end this run", "train", "--offline", at("steps.aqds"), "--run",
                    at("no"), "--set", "learner.algorithm=dqn", NULL);
    assert_false(aq_path_exists(at("no")));
}

TEST(a_store_that_cannot_be_read_is_told_as_that)
{
    shell_succeeds("mkdir '%s' && ln -s /proc/self/mem '%s/store.aqrs'", at("unread"),
                   at("unread"));
    program_refuses("unread/store.aqrs: can't read: Input/output error", "replay", "inspect",
                    at("unread"), NULL);
}

TEST(a_run_of_a_table_that_kept_no_steps_says_so)
{
    static const char config[] = "replay:\n  storage: memory\n";
    assert_succeeds(aq_dir_create(at("table"), &refusal));
    assert_succeeds(
        aq_file_write_atomic(at("table/config.yaml"), config, strlen(config), &refusal));
    program_refuses("table kept no steps in files (replay.storage=memory): train with --set "
                    "replay.storage=segments",
                    "replay", "export", at("table/replay-0"), at("other.aqds"), NULL);
    program_refuses("table kept no steps in files", "replay", "export", at("table"),
                    at("other.aqds"), NULL);
}

TEST(a_run_trains_from_a_data_set_alone)
{
    const json_int_t steps = steps_of(at("steps.aqds"));
    program_succeeds("train", "--offline", at("steps.aqds"), "--run", at("offline"), "--seed", "1",
                     "--set", "learner.algorithm=dqn", "--set", "limits.learner_steps=300",
                     "--json", "--quiet", NULL);
    json_t *run = inspect(at("offline/replay-0"));
    assert_int_equal(whole(run, "transitions"), steps);
    assert_true(aq_path_exists(at("offline/policy.aq")));
    assert_false(aq_path_exists(at("offline/logs/actor-0.log")));
    json_t *result = program_gives("train", "--run", at("offline"), "--resume", "--set",
                                   "limits.learner_steps=600", "--json", "--quiet", NULL);
    assert_true(whole(result, "learner_steps") >= 600);
    assert_int_equal(whole(result, "env_steps"), steps);
    program_refuses("nothing would end this run", "train", "--run", at("offline"), "--resume",
                    "--set", "limits.learner_steps=0", NULL);
    program_refuses("was cut for items of 3 steps, not of 5; begin another run", "train", "--run",
                    at("offline"), "--resume", "--set", "learner.n_step=5", NULL);
    program_refuses("was cut into chunks of up to 32 steps", "train", "--run", at("offline"),
                    "--resume", "--set", "replay.chunk_length=20", NULL);
    /* A file that knows nothing of data sets changes nothing of that. */
    file_put_text(at("given.yaml"), "task: gym:CartPole-v1\n"
                                    "learner: {algorithm: dqn}\n"
                                    "replay: {samples_per_insert: 1, min_size: 50000}\n"
                                    "limits: {learner_steps: 900, env_steps: 60000}\n");
    result = program_gives("train", "--run", at("offline"), "--resume", "--config",
                           at("given.yaml"), "--no-evaluator", "--json", "--quiet", NULL);
    assert_true(whole(result, "learner_steps") >= 900);
    assert_int_equal(whole(result, "env_steps"), steps);
    assert_false(aq_path_exists(at("offline/logs/actor-0.log")));
    assert_int_equal(rename(at("offline/replay-0"), at("offline/gone")), 0);
    program_refuses("steps.aqds, are gone with", "train", "--run", at("offline"), "--resume",
                    "--set", "limits.learner_steps=1200", NULL);
}

/* Its run names the task with how the states are shown, and so does its data set. */
TEST(a_task_whose_states_are_counted_is_named_as_it_was_typed)
{
    program_succeeds("train", "gym:FrozenLake-v1", "--run", at("lake"), "--quiet", "--set",
                     "replay.storage=segments", "--set", "limits.env_steps=1000", "--no-evaluator",
                     NULL);
    program_succeeds("train", "gym:FrozenLake-v1", "--run", at("lake"), "--resume", "--quiet",
                     "--no-evaluator", NULL);
    program_succeeds("replay", "export", at("lake/replay-0"), at("lake.aqds"), NULL);
    json_t *result = program_gives("train", "gym:FrozenLake-v1", "--offline", at("lake.aqds"),
                                   "--run", at("still"), "--set", "limits.learner_steps=10",
                                   "--no-evaluator", "--json", "--quiet", NULL);
    assert_string_equal(json_string_value(json_object_get(result, "algorithm")), "q");
}

/* What is made for data sets has a preset that says how long. */
TEST(what_is_made_for_data_sets_needs_no_limit)
{
    program_succeeds("train", "--offline", at("steps.aqds"), "--print-config", NULL);
    program_assert_out("  algorithm: iql");
    program_assert_out("  learner_steps: 12000");
}

/* Steps, each of an episode that it ends or not, with what no algorithm here has recorded. */
static void write_recorded(const char *path, float reward, bool ends, uint64_t steps)
{
    static const aq_column column = {"log_probability", AQ_DTYPE_F32, AQ_PER_STEP, 4, {0}, {0}};
    aq_data_set_info info = {.task = "gym:CartPole-v1", .source = "a test", .run_id = 1};
    aq_env *env = NULL;
    aq_layout layout;
    aq_chunk *chunk;
    aq_data_set_writer *writer;
    assert_succeeds(aq_env_open(info.task, &env, &refusal));
    info.schema = env->schema;
    aq_env_unref(env);
    info.recorded[info.recorded_count++] = column;
    assert_succeeds(aq_data_set_run_layout(&info, 1, 1, &layout, &refusal));
    assert_int_equal(aq_chunk_create(&layout, 1, &chunk), 0);
    chunk->view.length = 1;
    chunk->view.terminated = ends;
    memcpy(aq_chunk_column(chunk, AQ_COLUMN_REWARD), &reward, sizeof(reward));
    aq_data_set_block block = {.actor = 1, .incarnation = 2, .view = chunk->view};
    assert_succeeds(aq_data_set_writer_create(path, &info, false, &writer, &refusal));
    for (uint64_t step = 0; step < steps; step++) {
        block.view.episode = step;
        assert_succeeds(aq_data_set_writer_add(writer, &block, &refusal));
    }
    assert_succeeds(aq_data_set_writer_finish(writer, &refusal));
    aq_data_set_writer_destroy(writer);
    aq_chunk_unref(chunk);
}

TEST(recorded_columns_are_listed_and_nothing_to_a_run_from_the_set)
{
    const char *path = at("recorded.aqds");
    write_recorded(path, 0.0f, true, 1);
    const json_t *recorded = json_object_get(inspect(path), "recorded");
    assert_int_equal(json_array_size(recorded), 1);
    assert_string_equal(json_string_value(json_array_get(recorded, 0)), "log_probability");
    program_succeeds("replay", "inspect", path, NULL);
    program_assert_out("\nrecorded   log_probability\nsteps      1 in 1 chunks");
    program_succeeds("train", "--offline", path, "--run", at("other"), "--quiet", "--set",
                     "limits.learner_steps=10", "--set", "learner.batch_size=1", "--no-evaluator",
                     NULL);
    assert_int_equal(json_array_size(json_object_get(inspect(at("other/replay-0")), "recorded")),
                     0);
}

/* Nobody would ever sample. */
TEST(a_data_set_of_too_few_steps_that_make_items_is_no_run)
{
    const char *path = at("gap.aqds");
    write_recorded(path, 0.0f, false, 1);
    const program_result *result = program_run(
        "train", "--offline", path, "--run", at("few"), "--quiet", "--set",
        "limits.learner_steps=10", "--set", "learner.batch_size=1", "--no-evaluator", NULL);
    assert_int_equal(result->exit_status, 1);
    assert_says(result->err, "only 0 steps make items of 10 steps, and 1 are needed; 1 are left "
                             "out, as too few follow them");
    assert_false(aq_path_exists(at("few")));
}

/* Ends the command by a signal as soon as something that has `part` in its name is there. */
static void interrupt(int number, const char *part, const char *command, const char *from,
                      const char *to, const char *option)
{
    (void)signal(number, SIG_DFL); /* in the background a shell has it ignored */
    program_start("replay", command, from, to, option, NULL);
    while (file_count(folder, part) == 0 && !aq_path_exists(to)) {
        aq_clock_wait_until(aq_clock_monotonic_ns() + AQ_NS_PER_MS);
    }
    assert_int_equal(kill(program_pid(), number), 0);
    (void)program_wait();
    program_assert_failure(128 + number, ": interrupted\n");
    assert_int_equal(file_count(folder, part), 0);
    assert_false(aq_path_exists(to));
}

TEST(what_is_interrupted_leaves_nothing)
{
    const char *set = at("many.aqds"), *store = at("many");
    write_recorded(set, 0.0f, true, EPISODES_MANY);
    interrupt(SIGINT, ".importing-", "import", set, store, "--standard-columns");
    program_succeeds("replay", "import", set, store, "--standard-columns", NULL);
    interrupt(SIGTERM, ".tmp-", "export", store, at("again.aqds"), "--quiet");
}

/* Whose steps have a column as wide as the network says. */
TEST(steps_of_a_memory_are_a_data_set_to_learn_from)
{
    program_succeeds("train", "gym:CartPole-v1", "--run", at("memory"), "--quiet", "--set",
                     "learner.algorithm=ppo", "--set", "learner.torso=gru:5", "--set",
                     "limits.env_steps=1000", "--no-evaluator", NULL);
    program_succeeds("replay", "export", at("memory/replay-0"), at("memory.aqds"), NULL);
    assert_int_equal(steps_of(at("memory.aqds")), steps_of(at("memory/replay-0")));
    program_succeeds("replay", "inspect", at("memory.aqds"), NULL);
    program_assert_out("\nrecorded   log_prob, state\n");
    program_succeeds("train", "--offline", at("memory.aqds"), "--run", at("remembered"), "--quiet",
                     "--set", "limits.learner_steps=10", "--no-evaluator", NULL);
}

/* The shard of a run on this host, once it has joined. */
static void find_shard(const char *run, char *url)
{
    const char *path = file_in(run, "endpoint.json");
    shell_succeeds("for i in $(seq %d); do test -e %s && exit 0; sleep 0.1; done; exit 1",
                   10 * PATIENCE_S, path);
    json_t *object = json_loads(file_text(path), 0, NULL);
    const char *learner = json_string_value(json_object_get(object, "learner"));
    assert_non_null(learner);
    const size_t stem = strlen(learner) - strlen("learner");
    (void)snprintf(url, TEXT_MAX, "%.*sreplay-0", (int)stem, learner);
    json_decref(object);
}

TEST(a_shard_that_runs_gives_and_takes)
{
    char url[TEXT_MAX];
    const json_int_t steps = steps_of(at("steps.aqds"));
    program_start("train", "--offline", at("steps.aqds"), "--run", at("live"), "--quiet",
                  "--no-evaluator", "--set", "learner.algorithm=dqn", "--set", "limits.wall_s=250",
                  NULL);
    const pid_t train = program_pid();
    find_shard(at("live"), url);
    /* program_run has one at a time, so these are started by the shell. */
    const char *actorq = program_path();
    shell_succeeds("for i in $(seq 300); do %s replay export %s %s/live.aqds 2>%s/why && exit 0; "
                   "sleep 0.1; done; cat %s/why; exit 1",
                   actorq, url, folder, folder, folder);
    assert_int_not_equal(
        shell("%s replay inspect %s/live/replay-0 2>%s/why", actorq, folder, folder), 0);
    assert_says(file_text(at("why")), "is in use: name the address");
    for (int i = 0; i < 2; i++) { /* the second time changes nothing */
        shell_succeeds("%s replay import %s/steps.aqds %s >%s/said", actorq, folder, url, folder);
    }
    assert_says(file_text(at("said")), ": 0 steps; ");
    for (int i = 0; i < 2; i++) { /* of which the run records nothing besides; of one sender */
        write_recorded(at("more.aqds"), (float)i, true, 1);
        shell_succeeds("%s replay import %s/more.aqds %s && rm %s/more.aqds", actorq, folder, url,
                       folder);
    }
    shell_succeeds("%s replay export %s %s/twice.aqds", actorq, url, folder);
    assert_int_not_equal(shell("%s checkpoint %s --shard 1 2>%s/why", actorq, url, folder), 0);
    assert_says(file_text(at("why")), "is another shard, ");
    shell_succeeds("%s checkpoint %s --shard $(sed 's/.*shard, //' %s/why) >%s/said", actorq, url,
                   folder, folder);
    assert_int_equal(kill(train, SIGTERM), 0);
    (void)program_wait();
    assert_int_equal(steps_of(at("live.aqds")), steps);
    assert_int_equal(steps_of(at("twice.aqds")), 2 * steps + 2);
    program_succeeds("replay", "export", at("live/replay-0"), at("folder.aqds"), NULL);
    assert_same_buffers(blocks_of(at("folder.aqds")), blocks_of(at("twice.aqds")));
}

/* Whose band is narrower than what a message of long episodes has room for. */
TEST(a_shard_that_keeps_a_proportion_takes_a_data_set_beside_its_actors)
{
    char url[TEXT_MAX];
    program_succeeds("train", "gym:MountainCar-v0", "--run", at("car"), "--quiet", "--json",
                     "--no-evaluator", "--set", "limits.env_steps=5000", NULL);
    program_succeeds("replay", "export", at("car/replay-0"), at("car.aqds"), "--quiet", NULL);
    program_start("train", "gym:MountainCar-v0", "--run", at("paced"), "--quiet", "--no-evaluator",
                  "--set", "replay.tolerance=512", "--set", "limits.env_steps=1000000000", "--set",
                  "limits.wall_s=250", NULL);
    const pid_t train = program_pid();
    find_shard(at("paced"), url);
    shell_succeeds("timeout %d sh -c 'until grep -q learner_steps.:[1-9] %s/paced/metrics.jsonl; "
                   "do sleep 0.1; done 2>/dev/null; %s replay import %s/car.aqds %s'",
                   PATIENCE_S, folder, program_path(), folder, url);
    assert_int_not_equal(
        shell("%s replay import %s/steps.aqds %s 2>%s/why", program_path(), folder, url, folder),
        0);
    assert_says(file_text(at("why")), "another task, or other recorded columns");
    assert_int_equal(kill(train, SIGTERM), 0);
    (void)program_wait();
    assert_true(steps_of(at("paced/replay-0")) > 0);
}

TEST_GROUP(make_data_set, remove_all);
