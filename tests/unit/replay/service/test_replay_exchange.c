/*
 * Exchange calls over a dispatcher: all that is held comes in pages, once; messages are taken.
 */
#include "common/net/rpc/frame.h"
#include "common/net/security/incarnation.h"
#include "tests/support/test.h"
#include "tests/unit/replay/service_kit.h"

enum { MESSAGES = 7 };

static const loopback_answer *answer_to(service_kit *kit, const ProtobufCMessage *request)
{
    const loopback_answer *answer = loopback_call(&kit->loop, request);
    kit_pass(kit, 4);
    assert_true(answer->done);
    return answer;
}

static const loopback_answer *ask(service_kit *kit, uint64_t after, uint32_t bytes_max)
{
    Actorq__V1__ExportRequest request = ACTORQ__V1__EXPORT_REQUEST__INIT;
    request.after = after;
    request.bytes_max = bytes_max;
    return answer_to(kit, &request.base);
}

static const Actorq__V1__ExportReply *page_after(service_kit *kit, uint64_t after,
                                                 uint32_t bytes_max)
{
    const loopback_answer *answer = ask(kit, after, bytes_max);
    assert_int_equal(answer->status.code, AQ_RPC_OK);
    assert_true(answer->page->run_id == KIT_RUN_ID);
    assert_true(answer->page->store == KIT_STORE);
    assert_int_equal(answer->page->n_step, KIT_N_STEP);
    assert_string_equal(answer->page->task, "test:Steps-v0");
    return answer->page;
}

static const loopback_answer *bring(service_kit *kit, const uint8_t *bytes, size_t size)
{
    Actorq__V1__ImportRequest request = ACTORQ__V1__IMPORT_REQUEST__INIT;
    request.frame = (ProtobufCBinaryData){.len = size, .data = (uint8_t *)(uintptr_t)bytes};
    return answer_to(kit, &request.base);
}

TEST_IN(service_kit, kit, pages_hold_each_message_once)
{
    uint64_t after = 0;
    size_t frames = 0;
    for (uint64_t seq = 1; seq <= MESSAGES; seq++) {
        kit_insert(kit, seq, 8);
    }
    for (int pages = 1;; pages++) {
        const Actorq__V1__ExportReply *page = page_after(kit, after, 1); /* one frame always fits */
        assert_int_equal(page->n_frames, 1);
        assert_int_equal(page->messages, MESSAGES);
        assert_true(page->last > after);
        after = page->last;
        frames += page->n_frames;
        if (!page->more) {
            assert_int_equal(pages, MESSAGES);
            break;
        }
    }
    assert_int_equal(frames, MESSAGES);
    const Actorq__V1__ExportReply *all = page_after(kit, 0, 1 << 20);
    assert_int_equal(all->n_frames, MESSAGES);
    assert_false(all->more);
    const Actorq__V1__ExportReply *none = page_after(kit, after, 1 << 20);
    assert_int_equal(none->n_frames, 0);
    assert_int_equal(none->last, after);
}

/* Whoever may export must not be able to send in an actor's name. */
TEST_IN(service_kit, kit, a_page_names_senders_and_keeps_their_secrets)
{
    kit_insert(kit, 1, 8);
    const Actorq__V1__ExportReply *page = page_after(kit, 0, 1 << 20);
    assert_int_equal(page->n_frames, 1);
    const uint8_t *payload;
    size_t size;
    assert_succeeds(aq_frame_check(page->frames[0].data, page->frames[0].len, AQ_FRAME_EXPERIENCE,
                                   &payload, &size, NULL));
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
    const Actorq__V1__ExportReply *first = page_after(kit, 0, 1);
    for (uint64_t seq = 3; seq <= 12; seq++) {
        kit_insert(kit, seq, 200); /* 1000 transitions are held */
    }
    const Actorq__V1__ExportReply *next = page_after(kit, first->last, 1 << 20);
    assert_in_range(next->n_frames, 4, 6);
    assert_false(next->more);
}

TEST_IN(service_kit, kit, a_message_is_taken_and_its_repetition_changes_nothing)
{
    kit_insert(kit, 1, 8);
    const Actorq__V1__ExportReply *first = page_after(kit, 0, 1); /* of a sender of another name */
    for (int i = 0; i < 2; i++) {
        const ProtobufCBinaryData *frame = &first->frames[0];
        const loopback_answer *again = bring(kit, frame->data, frame->len);
        assert_int_equal(again->status.code, AQ_RPC_OK);
        assert_true(again->taken->stored);
        assert_int_equal(page_after(kit, 0, 1 << 20)->messages, 2);
    }
}

TEST_IN(service_kit, kit, a_message_that_is_too_long_is_refused_and_counted)
{
    static const uint8_t zeros[(1 << 16) + AQ_FRAME_HEADER_BYTES + 1];
    const aq_replay_core *core = aq_replay_service_core(kit->service);
    assert_int_equal(aq_replay_core_settings(core)->config.net.message_bytes, 1 << 16);
    assert_int_not_equal(bring(kit, zeros, sizeof(zeros))->status.code, AQ_RPC_OK);
    assert_int_equal(aq_replay_core_counters(core).rejected, 1);
}

TEST_IN(service_kit, kit, bytes_that_are_no_message_are_refused)
{
    const loopback_answer *answer = bring(kit, (const uint8_t *)"GET / HTTP/1.1", 14);
    assert_int_not_equal(answer->status.code, AQ_RPC_OK);
    assert_int_equal(ask(kit, 0, 0)->status.code, AQ_RPC_INVALID_ARGUMENT);
    assert_int_equal(ask(kit, 0, UINT32_MAX)->status.code, AQ_RPC_INVALID_ARGUMENT);
}

TEST_IN(idle_kit, kit, a_shard_without_a_run_says_so)
{
    assert_int_equal(ask(kit, 0, 1)->status.code, AQ_RPC_UNAVAILABLE);
    assert_int_equal(bring(kit, (const uint8_t *)"x", 1)->status.code, AQ_RPC_UNAVAILABLE);
}
