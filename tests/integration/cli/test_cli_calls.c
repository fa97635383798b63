/*
 * A live daemon is asked, called and watched, and one that is not there is named.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/sys/folder_lock.h"
#include "tests/integration/cli/program.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"
#include "tests/unit/cli/fake_daemon.h"

/* What nobody listens at. */
#define NOWHERE "ipc:///nonexistent/actorq.sock"

typedef struct live_fixture {
    void *folder;
    fake_daemon *daemon;
    const char *url;
    aq_folder_lock *learner; /* of the folder, once it is a run's */
} live_fixture;

static void live_fixture_setup(live_fixture *live)
{
    live->learner = NULL;
    assert_int_equal(cli_fixture_setup(&live->folder), 0);
    live->daemon = fake_daemon_start("tcp://127.0.0.1:0");
    live->url = fake_daemon_url(live->daemon);
}

static void end_learner(live_fixture *live)
{
    aq_folder_lock_release(live->learner);
    live->learner = NULL;
}

static void live_fixture_teardown(live_fixture *live)
{
    end_learner(live);
    fake_daemon_stop(live->daemon);
    cli_fixture_teardown(&live->folder);
}

#define TEST_LIVE(name) TEST_IN(live_fixture, live, name)

static void restart_daemon(live_fixture *live, const char *url)
{
    fake_daemon_stop(live->daemon);
    live->daemon = fake_daemon_start(url);
    live->url = fake_daemon_url(live->daemon);
}

/* A run folder whose learner is the fake daemon. */
static const char *live_folder(live_fixture *live)
{
    char endpoint[512];
    if (live->learner == NULL) {
        assert_succeeds(aq_folder_lock_take(live->folder, &live->learner, &refusal));
    }
    (void)snprintf(endpoint, sizeof(endpoint), "{\"learner\": \"%s\"}\n", live->url);
    file_put_text(cli_path(&live->folder, "endpoint.json"), endpoint);
    return live->folder;
}

static const json_t *at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!value) {
        fail_msg("there is no %s", key);
    }
    return value;
}

/* ---- status --------------------------------------------------------------------------------- */

TEST_LIVE(a_status_is_shown_to_people)
{
    program_succeeds("status", live->url, NULL);
    program_assert_out("gym:CartPole-v1, running\n");
    program_assert_out("187.2 +- 45.5 over 100 episodes");
    program_assert_out("box-a");
}

TEST_LIVE(a_status_is_shown_to_programs_as_it_came)
{
    json_t *object = program_gives("status", live->url, "--json", NULL);
    assert_int_equal(json_integer_value(at(at(object, "learner"), "env_steps")), 12345);
    assert_string_equal(json_string_value(at(object, "state")), "RUN_STATE_RUNNING");
    assert_int_equal(json_array_size(at(object, "members")), 4);
    assert_true(json_real_value(at(at(object, "learner"), "return_mean")) == 187.25);
}

TEST_LIVE(a_run_folder_stands_for_its_learner)
{
    program_succeeds("status", live_folder(live), NULL);
    program_assert_out("learner at tcp://127.0.0.1:");
}

TEST(a_learner_that_is_not_there_is_named)
{
    program_refuses("actorq status: " NOWHERE " could not be reached within 200 ms", "status",
                    NOWHERE, "--timeout-ms", "200", NULL);
    program_refuses("actorq call: " NOWHERE " could not be reached within 200 ms", "call", NOWHERE,
                    "Operations/Status", "--timeout-ms", "200", NULL);
    program_refuses("actorq drain: " NOWHERE " could not be reached within 200 ms", "drain",
                    NOWHERE, "actor", "--timeout-ms", "1", NULL);
    program_refuses(NOWHERE " gave no answer within 200 ms", "status", NOWHERE, "--watch",
                    "--timeout-ms", "200", NULL);
}

TEST(a_command_that_waits_says_for_whom)
{
    const program_result *ran = program_run("status", NOWHERE, "--timeout-ms", "1500", NULL);
    assert_int_equal(ran->exit_status, 1);
    assert_string_equal(ran->err,
                        "waiting for " NOWHERE "\n"
                        "actorq status: " NOWHERE " could not be reached within 1500 ms\n");
}

/* ---- watching ------------------------------------------------------------------------------- */

static size_t count_lines(const char *text, const char *start)
{
    size_t count = 0;
    for (const char *line = text; line && *line != '\0'; line = strchr(line, '\n')) {
        line += *line == '\n';
        count += strncmp(line, start, strlen(start)) == 0;
    }
    return count;
}

TEST_LIVE(a_watch_ends_when_the_run_is_over_and_the_daemon_gone)
{
    program_start("status", live->url, "--watch", "--json", NULL);
    program_wait_for_out("RUN_STATE_RUNNING", 2);
    fake_daemon_end_run(live->daemon);
    program_wait_for_out("RUN_STATE_SOLVED", 2);
    restart_daemon(live, "tcp://127.0.0.1:0"); /* at another port */
    (void)program_wait();
    program_assert_success();
}

TEST_LIVE(a_watch_of_a_folder_ends_when_it_names_no_learner)
{
    program_start("status", live_folder(live), "--watch", "--json", NULL);
    fake_daemon_wait_asked(live->daemon, 2);
    assert_int_equal(unlink(cli_path(&live->folder, "endpoint.json")), 0);
    restart_daemon(live, "tcp://127.0.0.1:0");
    program_wait();
    program_assert_success();
    program_assert_out("RUN_STATE_RUNNING");
}

TEST_LIVE(a_watch_of_a_folder_follows_its_run_to_another_address)
{
    program_start("status", live_folder(live), "--watch", "--json", NULL);
    fake_daemon_wait_asked(live->daemon, 1);
    end_learner(live);
    restart_daemon(live, "tcp://127.0.0.1:0");
    program_wait_for_words("does not answer any more; still asking\n");
    (void)live_folder(live); /* as a resume writes it */
    fake_daemon_wait_asked(live->daemon, 1);
    assert_int_equal(kill(program_pid(), SIGTERM), 0);
    (void)program_wait();
}

TEST_LIVE(a_watch_outlasts_a_daemon_that_is_away)
{
    char url[CLI_PATH_MAX];
    (void)snprintf(url, sizeof(url), "ipc://%s", cli_path(&live->folder, "learner"));
    restart_daemon(live, url);
    program_start("status", url, "--watch", "--json", NULL);
    fake_daemon_wait_asked(live->daemon, 1);
    fake_daemon_stop(live->daemon);
    program_wait_for_words("does not answer any more; still asking\n");
    live->daemon = fake_daemon_start(url);
    fake_daemon_wait_asked(live->daemon, 2);
    assert_int_equal(kill(program_pid(), SIGTERM), 0);
    const program_result *result = program_wait();
    assert_int_equal(count_lines(result->err, "actorq status: "), 1);
    assert_true(count_lines(result->out, "{") >= 2);
}

TEST_LIVE(a_watch_ends_when_it_is_refused)
{
    fake_daemon_refuse(live->daemon);
    program_refuses("actorq status: not for you", "status", live->url, "--watch", NULL);
}

TEST(a_watch_of_nobody_says_why)
{
    program_refuses("tcp://localhost:1 gave no answer within 5000 ms: localhost is ", "status",
                    "tcp://localhost:1", "--watch", "--timeout-ms", "5000", NULL);
}

TEST_LIVE(a_watch_shows_page_after_page)
{
    program_start("status", live->url, "-w", NULL);
    program_wait_for_out("learner at ", 2);
    assert_int_equal(kill(program_pid(), SIGINT), 0);
    const program_result *result = program_wait();
    assert_int_equal(result->exit_status, -1); /* Ctrl-C ends it, as it says */
    assert_null(strchr(result->out, '\033'));
}

/* ---- logs ----------------------------------------------------------------------------------- */

TEST_LIVE(logs_are_followed_until_no_learner_holds_the_folder)
{
    const char *folder = live_folder(live), *log = cli_path(&live->folder, "logs/learner.log");
    cli_make_folder(cli_path(&live->folder, "logs"));
    file_put_text(log, "words of a learner\n");
    program_start("logs", folder, "--follow", NULL);
    program_wait_for_out("words of a learner", 1);
    shell_succeeds("echo later words >>'%s'", log);
    program_wait_for_out("later words", 1);
    end_learner(live); /* `actorq train` was killed, and left endpoint.json behind */
    (void)program_wait();
    program_assert_success();
}

TEST_IN_FOLDER(logs_of_a_run_that_was_over_are_followed_to_their_end)
{
    cli_make_folder(cli_path(state, "logs"));
    file_put_text(cli_path(state, "run.json"), "{}");
    file_put_text(cli_path(state, "logs/learner.log"), "words of a learner\n");
    program_run("logs", cli_path(state, ""), "--follow", NULL);
    program_assert_success();
    program_assert_out("words of a learner");
}

/* ---- health and dashboard ------------------------------------------------------------------- */

TEST(what_answers_for_a_daemon_cannot_command_the_terminal)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nA: b\r\n\r\nwell\n\033[2J";
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    char place[32], request[512];
    const int at = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(at, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(at, 1), 0);
    assert_int_equal(getsockname(at, (struct sockaddr *)&address, &size), 0);
    (void)snprintf(place, sizeof(place), "127.0.0.1:%u", (unsigned)ntohs(address.sin_port));
    program_start("health", place, "--timeout-ms", "60000", NULL);
    const int caller = accept(at, NULL, NULL);
    assert_true(recv(caller, request, sizeof(request), 0) > 0);
    assert_true(send(caller, answer, sizeof(answer) - 1, MSG_NOSIGNAL) > 0);
    (void)close(caller);
    (void)close(at);
    assert_string_equal(program_wait()->out, "well\n?[2J\n");
    program_assert_success();
}

TEST_IN_FOLDER(a_runs_folder_cannot_command_the_terminal)
{
    aq_folder_lock *learner;
    cli_write_run(*state);
    file_put_text(cli_path(state, "endpoint.json"), "{\"http\": \"http://\\u001b[2J\"}\n");
    assert_succeeds(aq_folder_lock_take(*state, &learner, &refusal));
    program_succeeds("dashboard", *state, "-o", cli_path(state, "page.html"), NULL);
    program_assert_out(" goes on: http://?[2J/\n");
    aq_folder_lock_release(learner);
}

/* ---- call ----------------------------------------------------------------------------------- */

TEST_LIVE(any_method_is_called_by_its_name)
{
    static const char *const names[] = {"Operations/Status", "actorq.v1.Operations/Status",
                                        "Status"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        json_t *object = program_gives("call", live->url, names[i], NULL);
        assert_string_equal(json_string_value(at(object, "task")), "gym:CartPole-v1");
    }
}

TEST_LIVE(a_request_is_given_as_json)
{
    json_t *object = program_gives("call", live_folder(live), "Operations/Stop",
                                   "{\"reason\": \"enough\"}", NULL);
    assert_int_equal(json_object_size(object), 0);
}

TEST_LIVE(what_is_meant_for_a_shard_is_not_done_by_a_learner)
{
    static const char *const commands[] = {"stop", "checkpoint"};
    for (size_t i = 0; i < 2; i++) {
        program_refuses("--shard is for the URL of a shard", commands[i], live_folder(live),
                        "--shard", "7", NULL);
        program_refuses(" is no replay shard", commands[i], live->url, "--shard", "7", NULL);
    }
    program_refuses(" is no replay shard", "call", live->url, "Operations/Stop", "--shard", "7",
                    NULL);
}

TEST_LIVE(an_error_is_told_by_name_and_by_exit_status)
{
    program_run("call", live->url, "Operations/Checkpoint", NULL);
    program_assert_failure(64 + 12, "UNIMPLEMENTED: nothing to keep?[2J\n");
    program_run("call", live->url, "Policy/Fetch", NULL);
    program_assert_failure(64 + 12, "UNIMPLEMENTED: ");
}

TEST_LIVE(an_answer_that_does_not_come_exceeds_the_deadline)
{
    /* A busy host may need all of that to reach the daemon, which is another failure. */
    static const char *const timeouts_ms[] = {"2000", "8000", "30000"};
    const program_result *result = NULL;
    for (int i = 0; i < 3 && (result == NULL || result->exit_status == 1); i++) {
        result = program_run("call", live->url, "Stop", "{\"reason\": \"hold\"}", "--timeout-ms",
                             timeouts_ms[i], NULL);
    }
    program_assert_failure(64 + 4, "DEADLINE_EXCEEDED: ");
}

TEST(programs_get_a_list_of_methods_without_a_daemon)
{
    json_t *object = program_gives("call", "--list", "--json", NULL);
    assert_true(json_array_size(at(object, "methods")) >= 10);
}
