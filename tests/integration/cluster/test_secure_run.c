/*
 * A run with certificates and tokens: it works, members of other runs get nothing, a role gets what
 * is its own, and no secret is in a log.
 */
#include <inttypes.h>
#include <time.h>

#include "common/net/security/certs_folder.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

enum {
    ENV_STEPS = 1000,
    LEARNER_STEPS = 100,
    FAILURE = 1,
    CALL_DENIED = 64 + 7,
    CALL_ELSEWHERE = 64 + 14,
    CALL_UNPROVED = 64 + 16
};

/* ---- secrets in logs ------------------------------------------------------------------------- */

/* Every word of a token that is long enough to be a key. */
static void expect_no_key_in(const char *log, const char *token_path)
{
    unsigned keys = 0;
    char *rest = NULL;
    for (char *word = strtok_r(file_text(token_path), " \n", &rest); word != NULL;
         word = strtok_r(NULL, " \n", &rest)) {
        if (strlen(word) == 64) {
            keys++;
            assert_null(strstr(log, word));
            word[16] = '\0'; /* nor a part of it */
            assert_null(strstr(log, word));
        }
    }
    assert_true(keys >= 1);
}

static void expect_no_secret_in_logs(const test_cluster *cluster)
{
    static const char *const tokens[] = {"learner/token", "replay/token", "actor/token",
                                         "evaluator/token", "operator/token"};
    for (int seat = 0; seat < SEAT_COUNT; seat++) {
        if (cluster->processes[seat].lives == 0) {
            continue;
        }
        char *log = daemon_process_log(&cluster->processes[seat], true);
        for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
            expect_no_key_in(log, file_in(cluster->certs_dir, tokens[i]));
        }
        assert_null(strstr(log, "PRIVATE KEY"));
        aq_free(log);
    }
}

/* ---- those who may not ----------------------------------------------------------------------- */

static void expect_said(test_cluster *cluster, enum cluster_seat seat, const char *words)
{
    if (!daemon_process_said(&cluster->processes[seat], words)) {
        daemon_process_print(&cluster->processes[seat]);
        fail_msg("'%s' was not said", words);
    }
}

/* A member of another run is not let in, and counted. */
static void send_a_stranger(test_cluster *cluster)
{
    const char *foreign = file_in(cluster->folder, "foreign");
    assert_int_equal(aq_certs_folder_make(foreign, (int64_t)time(NULL), 7, NULL), 0);
    cluster_run_other(cluster, cluster_program("actorq-actor"), "--learner", cluster->learner_url,
                      "--certs", file_in(foreign, "actor"), NULL);
    cluster_wait_said(cluster, SEAT_LEARNER, "event=foreign_peer");
    cluster_kill(cluster, SEAT_OTHER);
}

/* A certificate of this run, and a token of another. */
static void send_a_pretender(test_cluster *cluster)
{
    cluster_run_other(cluster, cluster_program("actorq-actor"), "--learner", cluster->learner_url,
                      "--certs", file_in(cluster->certs_dir, "actor"), "--token-file",
                      file_in(cluster->folder, "foreign/actor/token"), NULL);
    assert_int_equal(cluster_wait_end(cluster, SEAT_OTHER), FAILURE);
    expect_said(cluster, SEAT_OTHER, "not of this run");
    expect_said(cluster, SEAT_LEARNER, "event=call_refused");
}

/* An actor's token does not make a shard, neither as a daemon nor in a call of one's own. */
static void send_a_false_shard(test_cluster *cluster)
{
    cluster_run_other(cluster, cluster_program("actorq-replay"), "--learner", cluster->learner_url,
                      "--certs", file_in(cluster->certs_dir, "replay"), "--token-file",
                      file_in(cluster->certs_dir, "actor/token"), NULL);
    assert_int_equal(cluster_wait_end(cluster, SEAT_OTHER), FAILURE);
    expect_said(cluster, SEAT_OTHER, "this daemon needs that of the role replay");
    cluster_run_other(cluster, cluster_program("actorq"), "call", cluster->learner_url,
                      "Membership/Join",
                      "{\"role\": \"ROLE_REPLAY\", \"incarnation\": 7, \"rpc_url\": "
                      "\"tcp://127.0.0.1:1\", \"push_url\": \"tcp://127.0.0.1:2\"}",
                      "--certs", file_in(cluster->certs_dir, "actor"), CLUSTER_PATIENT_CALL, NULL);
    assert_int_equal(cluster_wait_end(cluster, SEAT_OTHER), CALL_DENIED);
    expect_said(cluster, SEAT_OTHER, "is for other members");
}

/* `shard` is its name; 0: the learner is meant. */
static void call_as(test_cluster *cluster, const char *role, const char *url, const char *method,
                    uint64_t shard, int expected)
{
    char name[24];
    (void)snprintf(name, sizeof(name), "%" PRIu64, shard);
    cluster_run_other(cluster, cluster_program("actorq"), "call", url, method, "--certs",
                      file_in(cluster->certs_dir, role), CLUSTER_PATIENT_CALL,
                      shard != 0 ? "--shard" : NULL, name, NULL);
    assert_int_equal(cluster_wait_end(cluster, SEAT_OTHER), expected);
}

static void stop_as(test_cluster *cluster, const char *role, const char *url, uint64_t shard,
                    int expected)
{
    call_as(cluster, role, url, "Operations/Stop", shard, expected);
}

/* Each does what it was meant for; looking is free. */
static void keep_states(test_cluster *cluster, uint64_t shard)
{
    static const char checkpoint[] = "Operations/Checkpoint", status[] = "Operations/Status";
    call_as(cluster, "operator", cluster->replay_url, checkpoint, 0, CALL_UNPROVED);
    call_as(cluster, "operator", cluster->learner_url, checkpoint, shard, CALL_UNPROVED);
    call_as(cluster, "operator", cluster->replay_url, checkpoint, shard, 0);
    call_as(cluster, "operator", cluster->learner_url, checkpoint, 0, 0);
    call_as(cluster, "operator", cluster->replay_url, status, 0, 0);
    cluster_run_other(cluster, cluster_program("actorq"), "checkpoint", cluster->replay_url,
                      "--certs", file_in(cluster->certs_dir, "operator"), CLUSTER_PATIENT_CALL,
                      NULL);
    assert_int_equal(cluster_wait_end(cluster, SEAT_OTHER), FAILURE);
    expect_said(cluster, SEAT_OTHER, "not learner");
}

static uint64_t name_of_shard(test_cluster *cluster)
{
    const Actorq__V1__StatusReply *status = cluster_look_surely(cluster, SEAT_LEARNER);
    for (size_t i = 0; i < status->n_members; i++) {
        if (status->members[i]->role == ACTORQ__V1__ROLE__ROLE_REPLAY) {
            return status->members[i]->incarnation;
        }
    }
    fail_msg("the learner has no shard");
    return 0;
}

CLUSTER_TEST(a_run_with_certificates_goes_on_whoever_tries, tcp)
{
    cluster_secure(cluster);
    cluster_start_three(cluster);
    cluster_start(cluster, SEAT_EVALUATOR);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_wait_member(cluster, SEAT_EVALUATOR);
    expect_said(cluster, SEAT_LEARNER, "event=secured by=tls+token holder=learner");
    send_a_stranger(cluster);
    send_a_pretender(cluster);
    send_a_false_shard(cluster);
    stop_as(cluster, "actor", cluster->learner_url, 0, CALL_DENIED);
    stop_as(cluster, "actor", cluster->replay_url, name_of_shard(cluster), CALL_DENIED);
    /* What is meant for a learner, or for another shard, is not signed for this one. */
    stop_as(cluster, "operator", cluster->replay_url, 0, CALL_UNPROVED);
    stop_as(cluster, "operator", cluster->replay_url, name_of_shard(cluster) + 1, CALL_ELSEWHERE);
    keep_states(cluster, name_of_shard(cluster));
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    assert_int_equal(cluster_look_surely(cluster, SEAT_LEARNER)->n_members, 3);
    expect_no_secret_in_logs(cluster);
}

CLUSTER_TEST(members_prove_themselves_anew_to_who_was_restarted, tcp)
{
    cluster_secure(cluster);
    cluster_start_well(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_wait_checkpoint(cluster);
    cluster_kill(cluster, SEAT_LEARNER);
    cluster_kill(cluster, SEAT_REPLAY);
    cluster_start(cluster, SEAT_REPLAY);
    cluster_start(cluster, SEAT_LEARNER);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_wait_member(cluster, SEAT_ACTOR);
    cluster_wait_member(cluster, SEAT_REPLAY);
    assert_false(daemon_process_said(&cluster->processes[SEAT_LEARNER], "event=call_refused"));
    cluster->may_end = true;
    stop_as(cluster, "operator", cluster->learner_url, 0, 0);
    assert_int_equal(cluster_wait_end(cluster, SEAT_ACTOR), 0);
    assert_int_equal(cluster_wait_end(cluster, SEAT_REPLAY), 0);
    assert_int_equal(cluster_wait_end(cluster, SEAT_LEARNER), 0);
}

CLUSTER_TEST(nobody_listens_in_the_open_by_mistake, tcp)
{
    cluster_run_other(cluster, cluster_program("actorq-learner"), "--listen", "tcp://0.0.0.0:0",
                      "--run", cluster->run_dir, NULL);
    assert_int_equal(cluster_wait_end(cluster, SEAT_OTHER), FAILURE);
    expect_said(cluster, SEAT_OTHER, "--insecure");
    cluster_run_other(cluster, cluster_program("actorq-replay"), "--learner",
                      "tcp://learner.invalid:5550", NULL);
    assert_int_equal(cluster_wait_end(cluster, SEAT_OTHER), FAILURE);
    expect_said(cluster, SEAT_OTHER, "tcp://*:0");
}
