/*
 * Whatever comes in at the ports of a run that works, it goes on working, says so in the log, and
 * counts nothing that no actor made.
 */
#include <sys/resource.h>

#include "common/net/address/url.h"
#include "common/net/rpc/frame.h"
#include "common/net/sockets/net.h"
#include "common/net/sockets/push.h"
#include "common/wire/wire_experience.h"
#include "tests/integration/cluster/cluster_account.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/integration/cluster/foreign_peer.h"
#include "tests/support/chunks.h"
#include "tests/support/test.h"

enum { ENV_STEPS = 2000, LEARNER_STEPS = 200, PORTS = 4, NOISE_PEERS = 24, SILENT_PEERS = 64 };
enum { NOISE_SEED = 20260131, NOISE_BYTES = 512, MESSAGE_BYTES_MAX = 262144 };
enum { FEW_DESCRIPTORS = 256, GUESTS = 100 }; /* more than a quarter of the few */

static const char experience_rejected[] = "event=experience_rejected";

/* Under load, over tcp. */
static void start_well(test_cluster *cluster)
{
    cluster_set(cluster, "learner.n_step=1");
    cluster_start_well(cluster, ENV_STEPS, LEARNER_STEPS);
}

/* Everything works as if nobody had come, and the account is right. */
static void finish_well(test_cluster *cluster)
{
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_account account = cluster_drain(cluster, SEAT_ACTOR);
    cluster_check_account(&account, cluster_received(cluster, account.incarnation));
    cluster_check_account(&account, cluster_inserted(cluster, SEAT_REPLAY));
    cluster_check_counted(cluster, &account);
}

/* Of the four: the learner's calls, policies, the shard's calls, experience. */
static uint16_t port_of(const test_cluster *cluster, int index)
{
    return (uint16_t)(cluster->port + index);
}

/* ---- what does not even speak SP ------------------------------------------------------------ */

static void send_browser(const test_cluster *cluster, int port)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    int peer = foreign_connect(port_of(cluster, port));
    foreign_send(peer, request, strlen(request));
    foreign_expect_close(peer);
    (void)close(peer);
}

/* NNG does not count whom it closes while it hands another connection over, so browsers come until
 * one was counted. */
static bool both_say_so(test_cluster *cluster, void *user)
{
    (void)user;
    send_browser(cluster, 0);
    send_browser(cluster, 2);
    return daemon_process_said(&cluster->processes[SEAT_LEARNER], "event=foreign_peer") &&
           daemon_process_said(&cluster->processes[SEAT_REPLAY], "event=foreign_peer");
}

CLUSTER_TEST(a_browser_is_shown_out, tcp)
{
    start_well(cluster);
    for (int i = 0; i < PORTS; i++) {
        send_browser(cluster, i);
    }
    cluster_wait(cluster, "event=foreign_peer", both_say_so, NULL);
    finish_well(cluster);
}

CLUSTER_TEST(noise_is_shown_out, tcp)
{
    aq_rng rng = rng_of(NOISE_SEED, 0);
    start_well(cluster);
    for (int i = 0; i < NOISE_PEERS; i++) {
        uint8_t noise[NOISE_BYTES];
        for (int j = 0; j < NOISE_BYTES; j++) {
            noise[j] = (uint8_t)aq_rng_next(&rng);
        }
        int peer = foreign_connect(port_of(cluster, i % PORTS));
        foreign_send(peer, noise, 8 + (size_t)aq_rng_below(&rng, NOISE_BYTES - 8));
        foreign_expect_close(peer);
        (void)close(peer);
    }
    finish_well(cluster);
}

CLUSTER_TEST(whoever_says_nothing_is_in_nobodys_way, tcp)
{
    int peers[SILENT_PEERS];
    start_well(cluster);
    for (int i = 0; i < SILENT_PEERS; i++) {
        peers[i] = foreign_connect(port_of(cluster, i % PORTS));
        foreign_send(peers[i], "\0SP", (size_t)i % 4); /* up to three bytes of a handshake */
    }
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    for (int i = 0; i < SILENT_PEERS; i++) {
        (void)close(peers[i]);
    }
    finish_well(cluster);
}

/* ---- how many there may be ------------------------------------------------------------------ */

/* As from an ordinary shell, whose hard limit is far above the soft one. A library of the learner's
 * makes a thread before main. */
static void start_learner_with_few_descriptors(test_cluster *cluster)
{
    struct rlimit own;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &own), 0);
    assert_true(own.rlim_max >= 1024);
    const struct rlimit few = {.rlim_cur = FEW_DESCRIPTORS, .rlim_max = own.rlim_max};
    (void)setenv("OPENBLAS_NUM_THREADS", "2", 1);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    cluster_start(cluster, SEAT_LEARNER);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &own), 0);
}

/* They come in one after the other: when the last one has been greeted or sent away, all have been
 * let in or not. */
CLUSTER_TEST(as_many_are_let_in_as_the_hard_limit_has_room_for, tcp)
{
    static const uint8_t greeting[] = {0, 'S', 'P', 0, 0, SP_REQ, 0, 0};
    int guests[GUESTS];
    start_learner_with_few_descriptors(cluster);
    (void)cluster_look_surely(cluster, SEAT_LEARNER);
    for (int i = 0; i < GUESTS; i++) {
        guests[i] = foreign_connect(port_of(cluster, 0));
        foreign_send(guests[i], greeting, sizeof(greeting));
    }
    int last = foreign_connect(port_of(cluster, 0));
    foreign_shake_hands(last, SP_REQ);
    const Actorq__V1__StatusReply *status = cluster_look_surely(cluster, SEAT_LEARNER);
    assert_non_null(status->peers);
    assert_int_equal(status->peers->refused_connections, 0);
    (void)close(last);
    for (int i = 0; i < GUESTS; i++) {
        (void)close(guests[i]);
    }
}

/* ---- what speaks SP, and no sense ----------------------------------------------------------- */

static const uint16_t protocols[PORTS] = {SP_REQ, SP_SUB, SP_REQ, SP_PUSH};

CLUSTER_TEST(a_message_that_breaks_off_is_forgotten, tcp)
{
    static const uint8_t part[100] = {0x80, 0, 0, 1};
    start_well(cluster);
    for (int i = 0; i < PORTS; i++) {
        int peer = foreign_connect(port_of(cluster, i));
        foreign_shake_hands(peer, protocols[i]);
        foreign_announce(peer, 1000);
        foreign_send(peer, part, sizeof(part));
        (void)close(peer);
    }
    finish_well(cluster);
}

/* Of the learner more than a request takes; of the shard more than this run's messages do. */
CLUSTER_TEST(an_absurd_announcement_ends_the_connection, tcp)
{
    start_well(cluster);
    uint64_t resident_kb = process_figure(cluster->processes[SEAT_REPLAY].pid, "VmHWM");
    for (int i = 0; i < 2 * PORTS; i++) {
        int peer = foreign_connect(port_of(cluster, i % PORTS));
        foreign_shake_hands(peer, protocols[i % PORTS]);
        foreign_announce(peer, i < PORTS ? UINT64_C(1) << 60 : UINT64_C(400000));
        foreign_send(peer, "x", 1);
        foreign_expect_close(peer);
        (void)close(peer);
    }
    /* AddressSanitizer keeps 256 MB of what was freed. */
    assert_true(process_figure(cluster->processes[SEAT_REPLAY].pid, "VmHWM") <
                resident_kb + 512 * 1024);
    finish_well(cluster);
}

static bool learner_has_refused(test_cluster *cluster, void *user)
{
    const Actorq__V1__StatusReply *status = cluster_look(cluster, SEAT_LEARNER);
    return status != NULL && status->learner->rejected_messages >= *(uint64_t *)user;
}

CLUSTER_TEST(a_call_that_is_none_is_counted, tcp)
{
    static const uint8_t call[] = {0x80, 0, 0, 1, 'n', 'o', 'n', 's', 'e', 'n', 's', 'e'};
    start_well(cluster);
    uint64_t refused = cluster_look_surely(cluster, SEAT_LEARNER)->learner->rejected_messages + 1;
    int learner = foreign_connect(port_of(cluster, 0));
    int shard = foreign_connect(port_of(cluster, 2));
    foreign_shake_hands(learner, SP_REQ);
    foreign_shake_hands(shard, SP_REQ);
    foreign_announce(learner, sizeof(call));
    foreign_send(learner, call, sizeof(call));
    foreign_announce(shard, sizeof(call));
    foreign_send(shard, call, sizeof(call));
    cluster_wait(cluster, "the learner to count a call that is none", learner_has_refused,
                 &refused);
    (void)close(learner);
    (void)close(shard);
    finish_well(cluster);
}

/* ---- experience that is none ---------------------------------------------------------------- */

/* What the run's members know of it. */
typedef struct run_facts {
    uint64_t run_id;
    uint64_t actor;
    uint64_t incarnation;
    aq_layout layout;
} run_facts;

static run_facts learn_facts(test_cluster *cluster)
{
    const Actorq__V1__StatusReply *status = cluster_look_surely(cluster, SEAT_LEARNER);
    const Actorq__V1__MemberStatus *actor = cluster_member(cluster, status, SEAT_ACTOR);
    assert_non_null(actor);
    return (run_facts){
        .run_id = status->run_id,
        .actor = actor->member,
        .incarnation = actor->incarnation,
        .layout = chunk_layout(4, 2, 1, 32), /* whose bounds are not the task's */
    };
}

/* A frame of one transition, as a stranger would make it who knows the run but not its schema. */
static void pack_foreign(const run_facts *facts, aq_buffer *ret_frame)
{
    aq_chunk *chunk;
    assert_int_equal(aq_chunk_create(&facts->layout, 1, &chunk), 0);
    chunk->view.length = 1;
    chunk->view.terminated = true;
    const aq_experience experience = {
        .run_id = facts->run_id,
        .actor = facts->actor,
        .incarnation = facts->incarnation + 1,
        .seq = 1,
        .chunk_count = 1,
        .chunks = &chunk,
    };
    assert_int_equal(aq_wire_experience_pack(&experience, &facts->layout, ret_frame), 0);
    aq_chunk_unref(chunk);
}

typedef struct sending {
    aq_push *push;
    const void *bytes;
    size_t size;
} sending;

static bool is_sent(test_cluster *cluster, void *user)
{
    const sending *wanted = user;
    (void)cluster;
    return aq_push_send(wanted->push, wanted->bytes, wanted->size) == 0;
}

static bool shard_has_refused(test_cluster *cluster, void *user)
{
    const Actorq__V1__StatusReply *status = cluster_look(cluster, SEAT_REPLAY);
    return status != NULL && status->replay->rejected >= *(uint64_t *)user;
}

/* Pushes it to the shard, who counts it as refused. */
static void push_refused(test_cluster *cluster, aq_push *push, const void *bytes, size_t size)
{
    sending wanted = {push, bytes, size};
    uint64_t refused = cluster_look_surely(cluster, SEAT_REPLAY)->replay->rejected + 1;
    cluster_wait(cluster, "a connection to the shard", is_sent, &wanted);
    cluster_wait(cluster, "the shard to count a refused message", shard_has_refused, &refused);
    assert_int_equal(cluster_look_surely(cluster, SEAT_REPLAY)->replay->rejected, refused);
}

static aq_push *push_to_shard(test_cluster *cluster)
{
    const aq_push_events silent = {0};
    const aq_net_limits limits = {
        .message_bytes_max = (size_t)32 << 20, .reconnect_min_ms = 20, .reconnect_max_ms = 100};
    char push_url[CLUSTER_URL_MAX];
    aq_push *push;
    assert_int_equal(aq_url_sibling(cluster->replay_url, "push", push_url, sizeof(push_url)), 0);
    assert_int_equal(aq_push_create(&cluster->loop, push_url, &limits, &silent, &push, NULL), 0);
    return push;
}

CLUSTER_TEST(experience_that_is_none_is_refused_and_counted, both)
{
    start_well(cluster);
    run_facts facts = learn_facts(cluster);
    aq_push *push = push_to_shard(cluster);
    aq_buffer *frame = buffer_up_to(MESSAGE_BYTES_MAX);
    pack_foreign(&facts, frame);
    push_refused(cluster, push, frame->data, frame->size);               /* another schema */
    push_refused(cluster, push, frame->data, frame->size - 1);           /* cut */
    push_refused(cluster, push, frame->data, AQ_FRAME_HEADER_BYTES / 2); /* cut very short */
    push_refused(cluster, push, frame->data + 1, frame->size - 1);       /* out of step */
    push_refused(cluster, push, "", 0);                                  /* nothing */
    frame->data[frame->size / 2] ^= 1;
    push_refused(cluster, push, frame->data, frame->size); /* a bit fell over */

    uint8_t *large = aq_alloc(MESSAGE_BYTES_MAX + AQ_FRAME_HEADER_BYTES + 1, 1);
    assert_non_null(large);
    push_refused(cluster, push, large, MESSAGE_BYTES_MAX + AQ_FRAME_HEADER_BYTES + 1);
    aq_free(large);
    assert_true(daemon_process_said(&cluster->processes[SEAT_REPLAY], experience_rejected));
    aq_push_close(push);
    finish_well(cluster);
}

static unsigned count_words(const daemon_process *process, const char *words)
{
    unsigned count = 0;
    char *log = daemon_process_log(process, true);
    for (const char *at = log; (at = strstr(at, words)) != NULL; at++) {
        count++;
    }
    aq_free(log);
    return count;
}

CLUSTER_TEST(a_thousand_refused_messages_are_a_few_lines, tcp)
{
    enum { MESSAGES = 1000 };
    start_well(cluster);
    aq_push *push = push_to_shard(cluster);
    sending wanted = {push, "nonsense", 8};
    uint64_t refused = cluster_look_surely(cluster, SEAT_REPLAY)->replay->rejected + MESSAGES;
    for (int i = 0; i < MESSAGES; i++) {
        cluster_wait(cluster, "room for another message", is_sent, &wanted);
    }
    cluster_wait(cluster, "the shard to count them all", shard_has_refused, &refused);
    unsigned lines = count_words(&cluster->processes[SEAT_REPLAY], experience_rejected);
    assert_in_range(lines, 1, MESSAGES / 10);
    aq_push_close(push);
    finish_well(cluster);
}
