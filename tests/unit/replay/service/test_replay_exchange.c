/*
 * Exchange calls over a dispatcher: all that is held comes in pages, once; messages are taken.
 */
#include "common/net/rpc/frame.h"
#include "common/net/security/incarnation.h"
#include "proto/exchange.pb-c.h"
#include "proto/experience.pb-c.h"
#include "tests/support/test.h"
#include "tests/unit/replay/service_kit.h"

enum { MESSAGES = 7 };

typedef struct page {
    const aq_rpc_stub *stub;
    bool done;
    int code;
    size_t frames;
    uint64_t last;
    bool more;
    uint64_t messages;
    bool stored;
    uint8_t *frame; /* a copy of the first */
    size_t frame_size;
} page;

static void on_page(const Actorq__V1__ExportReply *reply, void *user)
{
    page *answer = user;
    answer->done = true;
    answer->code = (int)aq_rpc_stub_status(answer->stub)->code;
    if (reply == NULL) {
        return;
    }
    answer->frames = reply->n_frames;
    answer->last = reply->last;
    answer->more = reply->more;
    answer->messages = reply->messages;
    assert_true(reply->run_id == KIT_RUN_ID);
    assert_true(reply->store == KIT_STORE);
    assert_int_equal(reply->n_step, KIT_N_STEP);
    assert_string_equal(reply->task, "test:Steps-v0");
    if (reply->n_frames > 0) {
        answer->frame_size = reply->frames[0].len;
        answer->frame = aq_alloc(answer->frame_size, 1);
        assert_non_null(answer->frame);
        at_end(aq_free, answer->frame);
        memcpy(answer->frame, reply->frames[0].data, answer->frame_size);
    }
}

static void on_stored(const Actorq__V1__ImportReply *reply, void *user)
{
    page *answer = user;
    answer->done = true;
    answer->code = (int)aq_rpc_stub_status(answer->stub)->code;
    answer->stored = reply != NULL && reply->stored;
}

static page ask(service_kit *kit, uint64_t after, uint32_t bytes_max)
{
    aq_rpc_stub stub;
    page answer = {.stub = &stub};
    Actorq__V1__ExportRequest request = ACTORQ__V1__EXPORT_REQUEST__INIT;
    request.after = after;
    request.bytes_max = bytes_max;
    aq_rpc_stub_init(&stub, &kit->loop.channel, &actorq__v1__exchange__descriptor, 20000);
    actorq__v1__exchange__export(&stub.base, &request, on_page, &answer);
    kit_pass(kit, 4);
    assert_true(answer.done);
    return answer;
}

static page bring(service_kit *kit, const uint8_t *bytes, size_t size)
{
    aq_rpc_stub stub;
    page answer = {.stub = &stub};
    Actorq__V1__ImportRequest request = ACTORQ__V1__IMPORT_REQUEST__INIT;
    request.frame = (ProtobufCBinaryData){.len = size, .data = (uint8_t *)(uintptr_t)bytes};
    aq_rpc_stub_init(&stub, &kit->loop.channel, &actorq__v1__exchange__descriptor, 20000);
    actorq__v1__exchange__import(&stub.base, &request, on_stored, &answer);
    kit_pass(kit, 4);
    assert_true(answer.done);
    return answer;
}

TEST_IN(service_kit, kit, pages_hold_each_message_once)
{
    uint64_t after = 0;
    size_t frames = 0;
    for (uint64_t seq = 1; seq <= MESSAGES; seq++) {
        kit_insert(kit, seq, 8);
    }
    for (int pages = 1;; pages++) {
        page answer = ask(kit, after, 1); /* one frame always fits */
        assert_int_equal(answer.code, AQ_RPC_OK);
        assert_int_equal(answer.frames, 1);
        assert_int_equal(answer.messages, MESSAGES);
        assert_true(answer.last > after);
        after = answer.last;
        frames += answer.frames;
        if (!answer.more) {
            assert_int_equal(pages, MESSAGES);
            break;
        }
    }
    assert_int_equal(frames, MESSAGES);
    page all = ask(kit, 0, 1 << 20);
    assert_int_equal(all.frames, MESSAGES);
    assert_false(all.more);
    page none = ask(kit, after, 1 << 20);
    assert_int_equal(none.frames, 0);
    assert_int_equal(none.last, after);
}

/* Whoever may export must not be able to send in an actor's name. */
TEST_IN(service_kit, kit, a_page_names_senders_and_keeps_their_secrets)
{
    kit_insert(kit, 1, 8);
    page answer = ask(kit, 0, 1 << 20);
    assert_int_equal(answer.frames, 1);
    const uint8_t *payload;
    size_t size;
    assert_succeeds(aq_frame_check(answer.frame, answer.frame_size, AQ_FRAME_EXPERIENCE, &payload,
                                   &size, NULL));
    Actorq__V1__Experience *message = actorq__v1__experience__unpack(NULL, size, payload);
    assert_non_null(message);
    assert_true(message->incarnation == aq_incarnation_name(1001));
    assert_int_equal(message->seq, 1);
    actorq__v1__experience__free_unpacked(message, NULL);
}

TEST_IN(service_kit, kit, what_is_dropped_between_pages_is_passed_over)
{
    kit_insert(kit, 1, 200);
    kit_insert(kit, 2, 200);
    page first = ask(kit, 0, 1);
    for (uint64_t seq = 3; seq <= 12; seq++) {
        kit_insert(kit, seq, 200); /* 1000 transitions are held */
    }
    page next = ask(kit, first.last, 1 << 20);
    assert_int_equal(next.code, AQ_RPC_OK);
    assert_in_range(next.frames, 4, 6);
    assert_false(next.more);
}

TEST_IN(service_kit, kit, a_message_is_taken_and_its_repetition_changes_nothing)
{
    kit_insert(kit, 1, 8);
    page first = ask(kit, 0, 1); /* of a sender of another name */
    for (int i = 0; i < 2; i++) {
        page again = bring(kit, first.frame, first.frame_size);
        assert_int_equal(again.code, AQ_RPC_OK);
        assert_true(again.stored);
        assert_int_equal(ask(kit, 0, 1 << 20).messages, 2);
    }
}

TEST_IN(service_kit, kit, a_message_that_is_too_long_is_refused_and_counted)
{
    static const uint8_t zeros[(1 << 16) + AQ_FRAME_HEADER_BYTES + 1];
    const aq_replay_core *core = aq_replay_service_core(kit->service);
    assert_int_equal(aq_replay_core_settings(core)->config.net.message_bytes, 1 << 16);
    assert_int_not_equal(bring(kit, zeros, sizeof(zeros)).code, AQ_RPC_OK);
    assert_int_equal(aq_replay_core_counters(core).rejected, 1);
}

TEST_IN(service_kit, kit, bytes_that_are_no_message_are_refused)
{
    page answer = bring(kit, (const uint8_t *)"GET / HTTP/1.1", 14);
    assert_int_not_equal(answer.code, AQ_RPC_OK);
    answer = ask(kit, 0, 0);
    assert_int_equal(answer.code, AQ_RPC_INVALID_ARGUMENT);
    answer = ask(kit, 0, UINT32_MAX);
    assert_int_equal(answer.code, AQ_RPC_INVALID_ARGUMENT);
}

TEST_IN(idle_kit, kit, a_shard_without_a_run_says_so)
{
    assert_int_equal(ask(kit, 0, 1).code, AQ_RPC_UNAVAILABLE);
    assert_int_equal(bring(kit, (const uint8_t *)"x", 1).code, AQ_RPC_UNAVAILABLE);
}
