/*
 * Children are started, started again with growing pauses, given up, and stopped. The shell plays
 * the children.
 */
#include <sys/stat.h>
#include <uv.h>

#include "cli/launch/supervisor.h"
#include "common/base/parse.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

enum { PATIENCE_MS = 120000, EVENTS_MAX = 16 };

/* As the supervisor has it, and so much more, so that all deaths on a slow machine are quick. */
enum { QUICK_DEATH_MS = 2000, SLOW_MACHINE_MS = 60000 };

typedef struct death {
    char name[32], how[512];
    int delay_ms;
    uint64_t at_ms;
} death;

typedef struct supervisor_desk {
    void *folder; /* cli_fixture's state */
    uv_loop_t loop;
    uv_timer_t tick, watchdog;
    aq_supervisor *supervisor;
    bool stop_at_death; /* the owner stops all when it is told of one */
    int alone_ms;       /* of children that are started */
    bool answers;       /* they have to, and die slowly however quick this machine is */
    death restarts[EVENTS_MAX];
    size_t restart_count;
    death gave_up;
    aq_child_end end; /* of it; `how` is in gave_up */
    unsigned gave_up_count, finished_count;
    unsigned dead_count, failed_count; /* of those that were asked to end, and did not in order */
} supervisor_desk;

static void note(supervisor_desk *desk, const char *name, const char *how, int delay_ms, death *out)
{
    *out = (death){.delay_ms = delay_ms, .at_ms = uv_hrtime() / 1000000};
    assert_int_equal(aq_text_set(out->name, sizeof(out->name), name), 0);
    assert_int_equal(aq_text_set(out->how, sizeof(out->how), how), 0);
    if (desk->stop_at_death) {
        aq_supervisor_stop(desk->supervisor, "", 1000);
    }
}

static void on_restarting(void *user, const char *name, const char *how, int delay_ms)
{
    supervisor_desk *desk = user;
    assert_true(desk->restart_count < EVENTS_MAX);
    note(desk, name, how, delay_ms, &desk->restarts[desk->restart_count++]);
}

static void on_finished(void *user, const char *name)
{
    (void)name;
    ((supervisor_desk *)user)->finished_count++;
}

static void on_gave_up(void *user, const aq_child_end *end)
{
    supervisor_desk *desk = user;
    desk->end = *end;
    note(desk, end->name, end->how, 0, &desk->gave_up);
    desk->gave_up_count++;
}

static void on_cut_short(void *user, const aq_child_end *end)
{
    supervisor_desk *desk = user;
    *(end->has_refused ? &desk->failed_count : &desk->dead_count) += 1;
}

static void on_tick(uv_timer_t *timer)
{
    (void)timer; /* only so that the loop comes round */
}

static void on_watchdog(uv_timer_t *timer)
{
    (void)timer;
    fail_msg("waited for %d ms", PATIENCE_MS);
}

static supervisor_desk *open_supervisor_desk(void)
{
    supervisor_desk *desk = aq_alloc(1, sizeof(*desk));
    aq_supervisor_owner owner = {.user = desk,
                                 .restarting = on_restarting,
                                 .finished = on_finished,
                                 .gave_up = on_gave_up,
                                 .cut_short = on_cut_short};
    assert_non_null(desk);
    assert_int_equal(cli_fixture_setup(&desk->folder), 0);
    assert_int_equal(uv_loop_init(&desk->loop), 0);
    uv_timer_init(&desk->loop, &desk->tick);
    uv_timer_init(&desk->loop, &desk->watchdog);
    uv_timer_start(&desk->tick, on_tick, 0, 2);
    uv_timer_start(&desk->watchdog, on_watchdog, PATIENCE_MS, 0);
    assert_int_equal(aq_supervisor_create(&desk->loop, &owner, &desk->supervisor), 0);
    return desk;
}

static void run_until_gone(supervisor_desk *desk, const char *prefix)
{
    while (aq_supervisor_alive(desk->supervisor, prefix) > 0) {
        uv_run(&desk->loop, UV_RUN_ONCE);
    }
}

/* Nothing is left behind: the loop ends and closes. */
static void close_supervisor_desk(supervisor_desk *desk)
{
    aq_supervisor_stop(desk->supervisor, "", 0);
    run_until_gone(desk, "");
    aq_supervisor_close(desk->supervisor);
    uv_close((uv_handle_t *)&desk->tick, NULL);
    uv_close((uv_handle_t *)&desk->watchdog, NULL);
    assert_int_equal(uv_run(&desk->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&desk->loop), 0);
    cli_fixture_teardown(&desk->folder);
    aq_free(desk);
}

#define TEST_OF_SUPERVISOR_DESK(name)                                                              \
    TEST_OF(name, supervisor_desk *desk, open_supervisor_desk(), close_supervisor_desk)

static const char *log_of(supervisor_desk *desk, const char *name)
{
    char file[64];
    snprintf(file, sizeof(file), "%s.log", name);
    const char *path = cli_path(&desk->folder, file);
    return access(path, F_OK) == 0 ? file_text(path) : "";
}

/* A child that runs `script`; "$1" is "again" from the second start on. */
static int try_start(supervisor_desk *desk, const char *name, const char *script, aq_error *error)
{
    char file[64];
    snprintf(file, sizeof(file), "%s.log", name);
    aq_child_spec spec = {.name = name,
                          .program = "/bin/sh",
                          .log_path = cli_path(&desk->folder, file),
                          .args = {"-c", script, "sh"},
                          .restart_args = {"again"},
                          .launch_ms = desk->answers ? -QUICK_DEATH_MS : SLOW_MACHINE_MS,
                          .alone_ms = desk->alone_ms,
                          .answers = desk->answers};
    return aq_supervisor_start(desk->supervisor, &spec, error);
}

static void start(supervisor_desk *desk, const char *name, const char *script)
{
    assert_succeeds(try_start(desk, name, script, &refusal));
}

static void run_until_logged(supervisor_desk *desk, const char *name, const char *word)
{
    while (!strstr(log_of(desk, name), word)) {
        uv_run(&desk->loop, UV_RUN_ONCE);
    }
}

static void run_for(supervisor_desk *desk, uint64_t ms)
{
    uint64_t until_ms = uv_hrtime() / 1000000 + ms;
    do {
        uv_run(&desk->loop, UV_RUN_ONCE);
    } while (uv_hrtime() / 1000000 < until_ms);
}

/* ---- launchers ----------------------------------------------------------------------------- */

/* The second time it stays without having launched anything, which is its own affair. */
TEST_OF_SUPERVISOR_DESK(a_launcher_that_outlives_what_it_launched_is_killed)
{
    desk->alone_ms = 50;
    start(desk, "mpirun",
          "[ $# -gt 0 ] || { sleep 600 & echo $!; wait; }; echo alone $1; exec sleep 600");
    run_until_logged(desk, "mpirun", "\n");
    run_for(desk, 100); /* what it launched is seen */
    assert_int_equal(kill(atoi(log_of(desk, "mpirun")), SIGKILL), 0);
    run_until_logged(desk, "mpirun", "alone again");
    run_for(desk, 300);
    assert_int_equal(desk->restart_count, 1);
    assert_string_equal(desk->restarts[0].how, "killed by signal 9");
}

/* It does not hear of it itself: mpirun would take its time, and end them. */
TEST_OF_SUPERVISOR_DESK(what_a_launcher_launched_is_asked_to_end)
{
    desk->alone_ms = 5000;
    start(desk, "end",
          "trap 'echo x' TERM; sleep 600 & echo $!; wait; "
          "until [ ${#i} = 9999 ]; do i=0$i; done");
    start(desk, "mpirun",
          "trap 'echo launcher' TERM; sh -c 'trap \"echo rank; exit\" TERM; echo ready; "
          "while :; do sleep 0.01; done'; echo bye");
    run_until_logged(desk, "mpirun", "ready");
    run_until_logged(desk, "end", "\n");
    run_for(desk, 1500); /* what it launched is seen */
    assert_int_equal(kill(atoi(log_of(desk, "end")), SIGKILL), 0);
    aq_supervisor_stop(desk->supervisor, "", 60000);
    run_until_gone(desk, "");
    assert_string_equal(log_of(desk, "mpirun"), "ready\nrank\nbye\n");
    assert_null(strchr(log_of(desk, "end"), 'x')); /* what it launched had ended */
}

TEST_OF_SUPERVISOR_DESK(a_launcher_is_killed_with_what_it_launched)
{
    char rank[64] = "/proc/", program[64];
    desk->alone_ms = 250;
    start(desk, "ant", "sh -c 'trap \"\" TERM; echo $$/exe; exec sleep 60'; echo bye");
    run_until_logged(desk, "ant", "\n");
    (void)strncat(rank, log_of(desk, "ant"), strcspn(log_of(desk, "ant"), "\n"));
    aq_supervisor_stop(desk->supervisor, "", 100);
    run_until_gone(desk, "");
    assert_int_equal(desk->dead_count, 1);
    while (readlink(rank, program, sizeof(program)) > 0) {
        uv_run(&desk->loop, UV_RUN_ONCE);
    }
}

/* ---- starting ------------------------------------------------------------------------------ */

TEST_OF_SUPERVISOR_DESK(a_program_runs_with_its_arguments_and_writes_to_its_log)
{
    file_put_text(cli_path(&desk->folder, "ant.log"), "before\n");
    aq_child_spec spec = {.name = "ant",
                          .program = "/bin/sh",
                          .log_path = cli_path(&desk->folder, "ant.log"),
                          .args = {"-c", "echo out \"$@\"; echo err >&2", "sh", "a b", "c"}};
    assert_int_equal(aq_supervisor_start(desk->supervisor, &spec, NULL), 0);
    assert_int_equal(aq_supervisor_alive(desk->supervisor, ""), 1);
    run_until_gone(desk, "");
    assert_string_equal(log_of(desk, "ant"), "before\nout a b c\nerr\n");
}

/* And whoever starts it goes on where it was. */
TEST_OF_SUPERVISOR_DESK(a_child_runs_on_the_processors_that_it_is_given)
{
    aq_cpus before, after, one = {{false}};
    char text[AQ_CPUS_TEXT_MAX], expected[AQ_CPUS_TEXT_MAX + 32];
    aq_cpus_allowed(&before);
    for (size_t i = AQ_CPUS_MAX; i-- > 0 && aq_cpus_count(&one) == 0;) {
        one.has[i] = before.has[i];
    }
    aq_child_spec spec = {.name = "ant",
                          .program = "/bin/sh",
                          .log_path = cli_path(&desk->folder, "ant.log"),
                          .args = {"-c", "grep Cpus_allowed_list /proc/self/status"},
                          .cpus = &one};
    assert_succeeds(aq_supervisor_start(desk->supervisor, &spec, NULL));
    run_until_gone(desk, "");
    aq_cpus_text(&one, text, sizeof(text));
    (void)snprintf(expected, sizeof(expected), "Cpus_allowed_list:\t%s\n", text);
    assert_string_equal(log_of(desk, "ant"), expected);
    aq_cpus_allowed(&after);
    assert_memory_equal(&after, &before, sizeof(after));
}

TEST_OF_SUPERVISOR_DESK(a_child_that_finishes_is_not_started_again)
{
    start(desk, "ant", "echo run; exit 0");
    start(desk, "bee", "exit 74"); /* its end could not be kept, for as long as it tried */
    run_until_gone(desk, "");
    run_for(desk, 150);
    assert_string_equal(log_of(desk, "ant"), "run\n");
    assert_int_equal(desk->restart_count + desk->gave_up_count, 0);
    assert_int_equal(desk->finished_count, 2);
    assert_int_equal(desk->failed_count, 1);
    assert_int_equal(aq_supervisor_restarts(desk->supervisor), 0);
}

TEST_OF_SUPERVISOR_DESK(a_child_has_a_process_group_of_its_own)
{
    int pid = 0, group = 0;
    start(desk, "ant", "set -- $(cat /proc/$$/stat); echo $1 $5");
    run_until_gone(desk, "");
    assert_int_equal(sscanf(log_of(desk, "ant"), "%d %d", &pid, &group), 2);
    assert_int_equal(pid, group); /* a Ctrl-C at the terminal does not reach it */
}

TEST_OF_SUPERVISOR_DESK(a_program_that_is_not_there_is_named)
{
    aq_child_spec spec = {.name = "ant",
                          .program = "/nowhere/actorq-ant",
                          .log_path = cli_path(&desk->folder, "ant.log")};
    assert_refused(aq_supervisor_start(desk->supervisor, &spec, &refusal), AQ_E_IO, "ant");
    assert_says(refusal.text, "/nowhere/actorq-ant");
    assert_int_equal(aq_supervisor_alive(desk->supervisor, ""), 0);
}

TEST_OF_SUPERVISOR_DESK(a_log_that_can_not_be_written_is_named)
{
    aq_child_spec spec = {.name = "ant", .program = "/bin/sh", .log_path = "/nowhere/ant.log"};
    assert_refused(aq_supervisor_start(desk->supervisor, &spec, &refusal), AQ_E_NOT_FOUND,
                   "/nowhere/ant.log");
    assert_int_equal(aq_supervisor_alive(desk->supervisor, ""), 0);
}

/* ---- dying --------------------------------------------------------------------------------- */

TEST_OF_SUPERVISOR_DESK(a_child_that_dies_is_started_again_with_its_further_arguments)
{
    start(desk, "ant", "echo run $1; [ \"$1\" = again ] || exit 3");
    run_until_gone(desk, "");
    assert_string_equal(log_of(desk, "ant"), "run\nrun again\n");
    assert_int_equal(desk->restart_count, 1);
    assert_string_equal(desk->restarts[0].name, "ant");
    assert_string_equal(desk->restarts[0].how, "exit status 3");
    assert_int_equal(desk->restarts[0].delay_ms, 100);
    assert_int_equal(aq_supervisor_restarts(desk->supervisor), 1);
    assert_int_equal(desk->gave_up_count, 0);
}

TEST_OF_SUPERVISOR_DESK(a_child_that_refuses_its_first_start_is_given_up_at_once)
{
    start(desk, "ant", "echo run; exit 1");
    run_until_gone(desk, "");
    assert_int_equal(desk->restart_count, 0);
    assert_int_equal(desk->gave_up_count, 1);
    assert_string_equal(desk->gave_up.how, "exit status 1");
    assert_true(desk->end.has_refused && desk->end.is_first);
    assert_string_equal(log_of(desk, "ant"), "run\n");
}

TEST_OF_SUPERVISOR_DESK(who_has_to_answer_and_did_not_may_take_its_time_to_refuse)
{
    desk->answers = true;
    start(desk, "ant", "exit 1");
    run_until_gone(desk, "");
    assert_int_equal(desk->restart_count, 0);
    assert_int_equal(desk->gave_up_count, 1);
}

TEST_OF_SUPERVISOR_DESK(who_has_answered_is_started_again)
{
    desk->answers = true;
    desk->stop_at_death = true;
    start(desk, "ant", "exit 1");
    aq_supervisor_answered(desk->supervisor, "ant");
    run_until_gone(desk, "");
    assert_int_equal(desk->restart_count, 1);
    assert_int_equal(desk->gave_up_count, 0);
}

TEST_OF_SUPERVISOR_DESK(what_a_child_refuses_later_is_tried_again)
{
    desk->answers = true; /* so none of the deaths is quick, but that a refusal takes longer */
    start(desk, "ant", "[ \"$1\" = again ] || kill -9 $$; echo no; exit 1");
    run_until_gone(desk, "");
    assert_int_equal(desk->restart_count, 5);
    assert_string_equal(desk->restarts[0].how, "killed by signal 9");
    assert_int_equal(desk->gave_up_count, 1);
    assert_true(desk->end.has_refused && !desk->end.is_first);
    assert_int_equal(desk->end.log_start, 4 * strlen("no\n")); /* the fifth time */
}

TEST_OF_SUPERVISOR_DESK(a_child_that_keeps_dying_is_given_up_after_growing_pauses)
{
    static const int delays_ms[] = {100, 200, 400, 800};
    start(desk, "ant", "echo run; exit 3");
    run_until_gone(desk, "");
    assert_int_equal(desk->restart_count, 4);
    assert_int_equal(desk->gave_up_count, 1);
    assert_string_equal(desk->gave_up.name, "ant");
    assert_string_equal(desk->gave_up.how, "exit status 3");
    assert_false(desk->end.has_refused || desk->end.is_first);
    assert_string_equal(desk->end.log_path, cli_path(&desk->folder, "ant.log"));
    assert_string_equal(log_of(desk, "ant"), "run\nrun\nrun\nrun\nrun\n");
    assert_int_equal(aq_supervisor_restarts(desk->supervisor), 4);
    for (int i = 0; i < 4; i++) {
        uint64_t next_ms = i < 3 ? desk->restarts[i + 1].at_ms : desk->gave_up.at_ms;
        assert_int_equal(desk->restarts[i].delay_ms, delays_ms[i]);
        /* libuv counts in whole milliseconds. */
        assert_true(next_ms - desk->restarts[i].at_ms + 2 >= (uint64_t)delays_ms[i]);
    }
}

/* Its log can't be opened at first; then its program is back, and gone again. */
TEST_OF_SUPERVISOR_DESK(what_can_not_be_started_is_tried_again_and_given_up_at_last)
{
    const char *program = cli_path(&desk->folder, "ant"), *log = cli_path(&desk->folder, "ant.log");
    file_put_text(program, "#!/bin/sh\n"
                           "mv $0 $0.away; [ $1 ] || { rm $0.log; mkdir $0.log; }; exit 3\n");
    assert_int_equal(chmod(program, 0755), 0);
    aq_child_spec spec = {"ant", program, log, .restart_args = {"again"}};
    spec.launch_ms = SLOW_MACHINE_MS;
    assert_int_equal(aq_supervisor_start(desk->supervisor, &spec, NULL), 0);
    while (desk->restart_count < 2) {
        uv_run(&desk->loop, UV_RUN_ONCE);
    }
    assert_says(desk->restarts[1].how, "ant.log: Is a directory");
    assert_true(rmdir(log) == 0 && rename(cli_path(&desk->folder, "ant.away"), program) == 0);
    run_until_gone(desk, "");
    assert_int_equal(aq_supervisor_restarts(desk->supervisor), 1);
    assert_int_equal(desk->restart_count, 4);
    assert_says(desk->gave_up.how, "could not be started");
}

/* ---- stopping ------------------------------------------------------------------------------ */

TEST_OF_SUPERVISOR_DESK(a_stopped_child_gets_sigterm_and_is_not_started_again)
{
    start(desk, "ant", "trap 'echo bye; exit 1' TERM; echo ready; while :; do sleep 0.01; done");
    start(desk, "bee", "trap 'kill -9 $$' TERM; echo ready; while :; do sleep 0.01; done");
    run_until_logged(desk, "ant", "ready");
    run_until_logged(desk, "bee", "ready");
    aq_supervisor_stop(desk->supervisor, "", 60000);
    run_until_gone(desk, "");
    run_for(desk, 150);
    assert_string_equal(log_of(desk, "ant"), "ready\nbye\n");
    assert_int_equal(desk->dead_count, 1);
    assert_int_equal(desk->failed_count, 1); /* which is told, so that its words are read */
    assert_int_equal(desk->restart_count + desk->gave_up_count + desk->finished_count, 0);
}

TEST_OF_SUPERVISOR_DESK(a_stubborn_child_is_killed_when_patience_ends)
{
    start(desk, "ant", "trap '' TERM; echo ready; exec sleep 60");
    run_until_logged(desk, "ant", "ready");
    uint64_t from_ms = uv_hrtime() / 1000000;
    while (aq_supervisor_alive(desk->supervisor, "") > 0) {
        aq_supervisor_stop(desk->supervisor, "", 200); /* again and again does not prolong it */
        uv_run(&desk->loop, UV_RUN_ONCE);
    }
    assert_true(uv_hrtime() / 1000000 - from_ms + 2 >= 200);
    assert_int_equal(desk->restart_count + desk->gave_up_count, 0);
    assert_int_equal(desk->dead_count, 1);
}

TEST_OF_SUPERVISOR_DESK(a_child_that_waits_to_be_started_again_is_not)
{
    start(desk, "ant", "echo run; exit 3");
    while (desk->restart_count == 0) {
        uv_run(&desk->loop, UV_RUN_ONCE);
    }
    assert_int_equal(aq_supervisor_alive(desk->supervisor, ""), 1);
    aq_supervisor_stop(desk->supervisor, "", 60000);
    assert_int_equal(aq_supervisor_alive(desk->supervisor, ""), 0);
    assert_int_equal(desk->dead_count, 1);
    run_for(desk, 150);
    assert_string_equal(log_of(desk, "ant"), "run\n");
}

TEST_OF_SUPERVISOR_DESK(an_owner_may_stop_all_when_it_is_told_of_a_death)
{
    desk->stop_at_death = true;
    start(desk, "ant", "echo run; exit 3");
    start(desk, "bee", "exec sleep 60");
    run_until_gone(desk, "");
    run_for(desk, 150);
    assert_string_equal(log_of(desk, "ant"), "run\n");
    assert_int_equal(desk->restart_count, 1);
}

TEST_OF_SUPERVISOR_DESK(a_prefix_chooses_who_is_stopped)
{
    static const char *const names[] = {"actor-0", "actor-1", "replay-0", "act"};
    for (size_t i = 0; i < 4; i++) {
        start(desk, names[i], "exec sleep 60");
    }
    assert_int_equal(aq_supervisor_alive(desk->supervisor, "actor"), 2);
    assert_int_equal(aq_supervisor_alive(desk->supervisor, "act"), 3);
    assert_int_equal(aq_supervisor_alive(desk->supervisor, ""), 4);
    aq_supervisor_stop(desk->supervisor, "actor", 60000);
    run_until_gone(desk, "actor");
    assert_int_equal(aq_supervisor_alive(desk->supervisor, ""), 2);
    assert_int_equal(aq_supervisor_alive(desk->supervisor, "replay"), 1);
    assert_int_equal(desk->restart_count + desk->dead_count, 0); /* SIGTERM is what they died of */
}

TEST_OF_SUPERVISOR_DESK(starting_survives_every_failed_allocation)
{
    int rc = AQ_E_NOMEM;
    EACH_ALLOCATION_FAILS(rc) {
        rc = try_start(desk, "ant", "exit 0", NULL);
        assert_int_equal(aq_supervisor_alive(desk->supervisor, ""), rc == 0);
    }
    run_until_gone(desk, "");
}

TEST_OF_SUPERVISOR_DESK(a_supervisor_without_children_is_fine)
{
    aq_supervisor_owner owner = {.user = NULL};
    int untouched = 0;
    aq_supervisor *supervisor = (aq_supervisor *)(void *)&untouched;
    assert_fails_without_memory(aq_supervisor_create(&desk->loop, &owner, &supervisor));
    assert_ptr_equal(supervisor, &untouched);
    assert_int_equal(aq_supervisor_create(&desk->loop, &owner, &supervisor), 0);
    assert_int_equal(aq_supervisor_alive(supervisor, ""), 0);
    aq_supervisor_stop(supervisor, "", 0);
    aq_supervisor_close(supervisor);
    aq_supervisor_close(NULL);
}
