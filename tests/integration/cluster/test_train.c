/*
 * actorq train: a whole run from one command, what becomes of it when one of its processes is
 * killed, and of them when the command is.
 */
#include <jansson.h>
#include <signal.h>
#include <sys/wait.h>

#include "common/sys/file.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/integration/cluster/process_children.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

/* Learner, shard, two actors, evaluator. */
enum { DAEMONS = 5, ENV_STEPS = 5000, LEARNER_STEPS = 500, HTTP_BYTES = 128 };

static void start_train(test_cluster *cluster, const char *first, const char *second)
{
    const char *argv[DAEMON_ARGUMENTS_MAX + CLUSTER_SETTINGS_MAX * 2] = {
        cluster_program("actorq"), "train", "--json", "--quiet", "--run", cluster->run_dir,
    };
    size_t count = 6;
    argv[count++] = first;
    if (second != NULL) {
        argv[count++] = second;
    }
    for (size_t i = 0; i < cluster->setting_count; i++) {
        argv[count++] = "--set";
        argv[count++] = cluster->settings[i];
    }
    daemon_process_start(&cluster->processes[SEAT_OTHER], argv);
}

TEST_ENDING(release, json_decref);

/* The result: the one object in what was printed; it is the test's. */
static json_t *result_of(test_cluster *cluster)
{
    char *log = daemon_process_log(&cluster->processes[SEAT_OTHER], false);
    const char *object = strchr(log, '{');
    json_error_t where;
    json_t *result = object != NULL ? json_loads(object, JSON_REJECT_DUPLICATES, &where) : NULL;
    aq_free(log);
    assert_non_null(result);
    at_end(release, result);
    return result;
}

static json_int_t whole(const json_t *result, const char *key)
{
    const json_t *value = json_object_get(result, key);
    if (!json_is_integer(value)) {
        fail_msg("%s is not a whole number in the result", key);
    }
    return json_integer_value(value);
}

static double real(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_real(value)) {
        fail_msg("%s is not a real number", key);
    }
    return json_real_value(value);
}

/* What the run took, as its folder has it; it is the test's. */
static json_t *energy_of(const test_cluster *cluster)
{
    json_t *energy = json_load_file(file_in(cluster->run_dir, "energy.json"), 0, NULL);
    assert_non_null(energy);
    at_end(release, energy);
    return energy;
}

enum { ROLES = 4 };

static const char *const roles[ROLES] = {"learner", "replay", "actor", "evaluator"};

static double cpu_s(const json_t *energy, const char *role)
{
    return real(json_object_get(json_object_get(energy, "roles"), role), "cpu_s");
}

/* ---- the run's own files, while it lives ---------------------------------------------------- */

static bool has_endpoint(test_cluster *cluster, void *user)
{
    json_error_t where;
    (void)user;
    json_t *endpoint = json_load_file(file_in(cluster->run_dir, "endpoint.json"), 0, &where);
    const char *url = json_string_value(json_object_get(endpoint, "learner"));
    if (url != NULL) {
        (void)snprintf(cluster->learner_url, sizeof(cluster->learner_url), "%s", url);
    }
    json_decref(endpoint);
    return url != NULL;
}

/* Where the dashboard is, once it is known. */
static bool has_http(test_cluster *cluster, void *http)
{
    json_t *endpoint = json_load_file(file_in(cluster->run_dir, "endpoint.json"), 0, NULL);
    const char *url = json_string_value(json_object_get(endpoint, "http"));
    (void)snprintf(http, HTTP_BYTES, "%s", url != NULL ? url : "");
    json_decref(endpoint);
    return ((const char *)http)[0] != '\0';
}

/* At the port that is the run's own, where nobody else had it (learner_pages.c). */
static bool is_own_http(const char *http, uint64_t run_id)
{
    return strtoull(strrchr(http, ':') + 1, NULL, 10) == 20000 + run_id % 10000;
}

static bool has_daemons(test_cluster *cluster, void *user)
{
    process_child children[PROCESS_CHILDREN_MAX];
    (void)user;
    return process_children(cluster->processes[SEAT_OTHER].pid, children) == DAEMONS;
}

/* Starts a run that goes on until end_run, and from then on cluster_look asks its learner. */
static void start_well(test_cluster *cluster)
{
    start_train(cluster, "gym:CartPole-v1", NULL);
    cluster_wait(cluster, "the address of the learner", has_endpoint, NULL);
    cluster_wait(cluster, "all daemons", has_daemons, NULL);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_wait_checkpoint(cluster);
}

static bool has_taken_limit(test_cluster *cluster, void *user)
{
    (void)user;
    return shell("'%s' set '%s' limits.env_steps=1000 --timeout-ms 240000 >/dev/null 2>&1",
                 cluster_program("actorq"), cluster->run_dir) == 0;
}

/* The run has been long enough: it ends as one that reaches its limit, which is below. */
static void end_run(test_cluster *cluster)
{
    cluster_wait(cluster, "the run to take a limit", has_taken_limit, NULL);
    assert_int_equal(cluster_wait_end(cluster, SEAT_OTHER), 0);
}

/* A supervisor that was killed could not remove its folder of sockets. */
static void remove_socket_folder(const test_cluster *cluster)
{
    static const char *const names[] = {"learner", "learner.policy", "replay-0", "replay-0.push",
                                        "config.yaml"};
    char folder[CLUSTER_URL_MAX];
    (void)snprintf(folder, sizeof(folder), "%s", cluster->learner_url + strlen("ipc://"));
    *strrchr(folder, '/') = '\0';
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)unlink(file_in(folder, names[i]));
    }
    (void)rmdir(folder);
}

/* ---- the facts ------------------------------------------------------------------------------ */

CLUSTER_TEST(one_command_trains_and_tells_how_it_went, ipc)
{
    cluster->setting_count = 0; /* as users run it */
    cluster_set(cluster, "limits.env_steps=8000");
    start_train(cluster, "gym:CartPole-v1", "--seed=1");
    assert_int_equal(cluster_wait_end(cluster, SEAT_OTHER), 0);
    json_t *result = result_of(cluster);
    static const char *const texts[][2] = {
        {"task", "gym:CartPole-v1"}, {"algorithm", "dqn"}, {"precision", "int8"}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const char *text = json_string_value(json_object_get(result, texts[i][0]));
        assert_non_null(text);
        assert_string_equal(text, texts[i][1]);
    }
    assert_int_equal(whole(result, "seed"), 1);
    assert_true(whole(result, "env_steps") > 1000);
    assert_true(whole(result, "learner_steps") > 100);
    assert_true(whole(result, "policy_versions") > 1);
    assert_true(whole(result, "episodes") >= 1);
    assert_true(whole(result, "broadcast_bytes") > 0);
    assert_true(whole(result, "broadcast_bytes_fp32") > whole(result, "broadcast_bytes"));
    assert_true(real(result, "wall_s") > 0);
    assert_true(real(result, "return_mean") > 0);
    (void)real(result, "return_std");
    assert_true(json_is_boolean(json_object_get(result, "solved")));
    assert_string_equal(json_string_value(json_object_get(result, "run")), cluster->run_dir);
    const json_t *energy = energy_of(cluster);
    assert_string_not_equal(json_string_value(json_object_get(energy, "source")), "");
    for (size_t i = 0; i < ROLES; i++) {
        const bool may_be_late = strcmp(roles[i], "evaluator") == 0;
        assert_true(cpu_s(energy, roles[i]) > 0 || may_be_late);
    }
    assert_int_equal(file_count(cluster->run_dir, "tfevents"), 1);
    assert_says(file_text(file_in(cluster->run_dir, "metrics.csv")), "\nprogress,");
}

CLUSTER_TEST(a_table_is_learned_of_a_task_that_shows_its_states_as_choices, ipc)
{
    cluster->setting_count = 0;
    cluster_set(cluster, "learner.algorithm=q");
    cluster_set(cluster, "evaluator.threshold=-13"); /* the fewest steps along the cliff */
    /* Steps are made before the evaluator is there, where others use the machine. */
    cluster_set(cluster, "limits.env_steps=10000000");
    start_train(cluster, "gym:CliffWalking-v1", "--seed=1");
    assert_int_equal(cluster_wait_end(cluster, SEAT_OTHER), 0);
    json_t *result = result_of(cluster);
    assert_string_equal(json_string_value(json_object_get(result, "task")),
                        "gym:CliffWalking-v1?one_hot=bytes");
    assert_string_equal(json_string_value(json_object_get(result, "precision")), "int8");
    assert_true(json_is_true(json_object_get(result, "solved")));
    assert_true(real(result, "return_mean") == -13);
}

enum { NAMED_ACTORS = 3 };

/* The slots of actor-0 and so on; false while the learner does not list all of them. */
static bool has_slots(test_cluster *cluster, void *slots)
{
    const Actorq__V1__StatusReply *status = cluster_look(cluster, SEAT_LEARNER);
    size_t found = 0;
    for (size_t i = 0; status != NULL && i < NAMED_ACTORS; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "actor-%zu", i);
        const pid_t pid = process_child_named(cluster->processes[SEAT_OTHER].pid, name);
        for (size_t k = 0; k < status->n_members; k++) {
            if ((pid_t)status->members[k]->pid == pid) {
                ((uint32_t *)slots)[i] = status->members[k]->slot;
                found++;
            }
        }
    }
    return found == NAMED_ACTORS;
}

/* Whoever of them joined first. */
CLUSTER_TEST(an_actor_has_the_slot_of_its_name, ipc)
{
    uint32_t slots[NAMED_ACTORS];
    cluster_set(cluster, "actor.count=3");
    start_train(cluster, "gym:CartPole-v1", NULL);
    cluster_wait(cluster, "the address of the learner", has_endpoint, NULL);
    cluster_wait(cluster, "all actors in the learner's list", has_slots, slots);
    for (uint32_t i = 0; i < NAMED_ACTORS; i++) {
        assert_int_equal(slots[i], i);
    }
    end_run(cluster);
}

static bool are_gone(test_cluster *cluster, void *user)
{
    const process_child *children = user;
    bool gone = true;
    (void)cluster;
    for (size_t i = 0; i < DAEMONS; i++) {
        gone = gone && !process_lives(children[i].pid);
    }
    return gone;
}

CLUSTER_TEST(whoever_kills_the_command_leaves_nothing_running, ipc)
{
    process_child children[PROCESS_CHILDREN_MAX];
    start_well(cluster);
    assert_int_equal(process_children(cluster->processes[SEAT_OTHER].pid, children), DAEMONS);
    cluster_kill(cluster, SEAT_OTHER);
    cluster_wait(cluster, "the end of all daemons", are_gone, children);
    remove_socket_folder(cluster);
}

typedef struct replaced_child {
    const char *name;
    pid_t killed;
} replaced_child;

static bool is_replaced(test_cluster *cluster, void *user)
{
    const replaced_child *child = user;
    pid_t pid = process_child_named(cluster->processes[SEAT_OTHER].pid, child->name);
    return pid != 0 && pid != child->killed;
}

CLUSTER_TEST(a_daemon_that_is_killed_is_started_again_and_the_run_completes, ipc)
{
    static const char *const names[] = {"learner", "replay-0", "actor-0", "evaluator"};
    enum { KILLS = sizeof(names) / sizeof(names[0]) };
    char http[HTTP_BYTES], http_after[HTTP_BYTES];
    start_well(cluster);
    cluster_wait(cluster, "the address of the dashboard", has_http, http);
    for (size_t i = 0; i < KILLS; i++) {
        replaced_child child = {.name = names[i]};
        child.killed = process_child_named(cluster->processes[SEAT_OTHER].pid, names[i]);
        assert_true(child.killed > 0);
        assert_int_equal(kill(child.killed, SIGKILL), 0);
        cluster_wait(cluster, "a new process for a killed one", is_replaced, &child);
        cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    }
    const Actorq__V1__StatusReply *status = cluster_look_surely(cluster, SEAT_LEARNER);
    const uint64_t env_steps = status->learner->env_steps;
    if (is_own_http(http, status->run_id)) { /* else another run had that port at first */
        assert_string_equal(status->http, http);
        assert_true(has_http(cluster, http_after));
        assert_string_equal(http_after, http); /* of another learner: a page that is open goes on */
    }
    end_run(cluster);
    json_t *result = result_of(cluster);
    assert_int_equal(whole(result, "restarts"), KILLS);
    assert_true(whole(result, "env_steps") >= (json_int_t)env_steps);
}

/* The files of a run that stay as they are while it goes on, one after the other. */
static const aq_buffer *read_still_files(const test_cluster *cluster)
{
    static const char *const names[] = {"run.json", "config.yaml", "endpoint.json", "lock"};
    aq_buffer *out = buffer_up_to(1 << 20);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(aq_file_read(file_in(cluster->run_dir, names[i]), out, NULL), 0);
    }
    return out;
}

static char *said_by(const char *command)
{
    static char text[4096];
    FILE *said = popen(command, "r");
    assert_non_null(said);
    text[fread(text, 1, sizeof(text) - 1, said)] = '\0';
    const int status = pclose(said);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 0);
    return text;
}

CLUSTER_TEST(a_run_that_is_under_way_is_not_resumed_beside_it, ipc)
{
    char command[8192], words[64], http[HTTP_BYTES];
    start_well(cluster);
    cluster_wait(cluster, "the dashboard's address", has_http, http); /* endpoint.json is whole */
    const pid_t learner = process_child_named(cluster->processes[SEAT_OTHER].pid, "learner");
    const aq_buffer *before = read_still_files(cluster);
    (void)snprintf(command, sizeof(command), "'%s' train --run '%s' --resume 2>&1",
                   cluster_program("actorq"), cluster->run_dir);
    (void)snprintf(words, sizeof(words), "in use by pid %ld since ", (long)learner);
    assert_says(said_by(command), words);
    (void)snprintf(command, sizeof(command),
                   "'%s' --config '%s/config.yaml' --run '%s' --resume --listen 'ipc://%s/x' 2>&1",
                   cluster_program("actorq-learner"), cluster->run_dir, cluster->run_dir,
                   cluster->run_dir);
    assert_says(said_by(command), words);
    assert_same_buffers(read_still_files(cluster), before);
    const uint64_t env_steps = cluster_look_surely(cluster, SEAT_LEARNER)->learner->env_steps;
    cluster_wait_progress(cluster, env_steps + 1000, LEARNER_STEPS);
    end_run(cluster);
    assert_int_equal(whole(result_of(cluster), "restarts"), 0);
}

/* What the shard found in its folder when it was started last; 0 for none. */
static unsigned long long restored_steps(const test_cluster *cluster)
{
    char line[2560];
    unsigned long long steps = 0;
    FILE *log = fopen(file_in(cluster->run_dir, "logs/replay-0.log"), "r");
    assert_non_null(log);
    while (fgets(line, sizeof(line), log) != NULL) {
        const char *words = strstr(line, "event=store_restored") ? strstr(line, " steps=") : NULL;
        if (words != NULL) {
            assert_int_equal(sscanf(words, " steps=%llu", &steps), 1);
        }
    }
    (void)fclose(log);
    return steps;
}

static bool has_steps_on_disk(const test_cluster *cluster)
{
    return aq_path_exists(file_in(cluster->run_dir, "replay-0"));
}

CLUSTER_TEST(what_a_run_is_told_not_to_write_is_not_on_the_disk, ipc)
{
    cluster_set(cluster, "replay.storage=memory");
    cluster_set(cluster, "log.csv=false");
    cluster_set(cluster, "log.tensorboard=false");
    cluster_set(cluster, "limits.env_steps=5000");
    start_train(cluster, "gym:CartPole-v1", NULL);
    assert_int_equal(cluster_wait_end(cluster, SEAT_OTHER), 0);
    (void)result_of(cluster);
    assert_false(has_steps_on_disk(cluster));
    assert_int_equal(file_count(cluster->run_dir, "metrics.csv"), 0);
    assert_int_equal(file_count(cluster->run_dir, "tfevents"), 0);
}

CLUSTER_TEST(a_run_that_was_interrupted_is_resumed, ipc)
{
    start_well(cluster);
    daemon_process_signal(&cluster->processes[SEAT_OTHER], SIGINT);
    assert_int_equal(cluster_wait_end(cluster, SEAT_OTHER), 0);
    const json_t *before = result_of(cluster);
    assert_true(json_is_true(json_object_get(before, "interrupted")));
    const json_t *spent_before = energy_of(cluster);
    assert_true(has_steps_on_disk(cluster));
    assert_int_equal(restored_steps(cluster), 0);

    cluster_watch_close(cluster, SEAT_LEARNER);
    start_train(cluster, "--resume", NULL);
    cluster_wait(cluster, "the address of the learner", has_endpoint, NULL);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    end_run(cluster);
    assert_true(restored_steps(cluster) >= test_rounds(ENV_STEPS)); /* none had to be made again */
    const json_t *after = result_of(cluster);
    assert_true(json_is_false(json_object_get(after, "interrupted")));
    static const char *const counted[] = {"env_steps", "learner_steps", "policy_versions",
                                          "broadcast_bytes"};
    for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
        assert_true(whole(after, counted[i]) >= whole(before, counted[i]));
    }
    const json_t *spent = energy_of(cluster);
    assert_true(real(spent, "wall_s") >= real(spent_before, "wall_s"));
    for (size_t i = 0; i < ROLES; i++) {
        assert_true(cpu_s(spent, roles[i]) >= cpu_s(spent_before, roles[i]));
    }
}

/* Its folder has all settings, and a newer build need not have the preset that they are from. */
CLUSTER_TEST(a_run_whose_preset_is_gone_is_resumed, ipc)
{
    const char *config = file_in(cluster->run_dir, "config.yaml");
    cluster_set(cluster, "limits.env_steps=2000");
    start_train(cluster, "gym:CartPole-v1", NULL);
    assert_int_equal(cluster_wait_end(cluster, SEAT_OTHER), 0);
    shell_succeeds("sed -i 's/^preset: .*/preset: gone-dqn/' '%s'", config);
    start_train(cluster, "--resume", NULL);
    assert_int_equal(cluster_wait_end(cluster, SEAT_OTHER), 0);
    assert_says(file_text(config), "preset: \"gone-dqn\"");
}

/* The learner ends before anybody could ask it anything. */
CLUSTER_TEST(a_run_that_has_ended_ends_again_at_once_when_resumed, ipc)
{
    cluster_set(cluster, "limits.env_steps=20000");
    start_train(cluster, "gym:CartPole-v1", NULL);
    assert_int_equal(cluster_wait_end(cluster, SEAT_OTHER), 0);
    json_t *result = result_of(cluster);
    json_int_t env_steps = whole(result, "env_steps");
    json_int_t learner_steps = whole(result, "learner_steps");
    assert_true(env_steps >= 20000);

    start_train(cluster, "--resume", NULL);
    assert_int_equal(cluster_wait_end(cluster, SEAT_OTHER), 0);
    result = result_of(cluster);
    /* Steps that were under way at the end are in no checkpoint; those that came while it was
     * written are in the store, as many as the limiter lets in. */
    assert_in_range(whole(result, "env_steps"), 20000, env_steps + 2000);
    assert_int_equal(whole(result, "learner_steps"), learner_steps);
    assert_string_equal(json_string_value(json_object_get(result, "algorithm")), "dqn");
    assert_string_equal(json_string_value(json_object_get(result, "precision")), "int8");
}
