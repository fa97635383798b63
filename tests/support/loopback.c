/*
 * A list of calls under way, each with its answer, and one of what came back.
 */
#include "tests/support/loopback.h"

#include "common/base/assert.h"
#include "proto/membership.pb-c.h"
#include "proto/policy.pb-c.h"
#include "tests/support/test.h"

typedef struct loopback_passage {
    struct loopback_passage *next;
    uint64_t number; /* as it was sent */
    bool is_ready;
    bool is_abandoned; /* closed before the answer came */
    int error;
    uint8_t *frame;
    size_t size;
    aq_rpc_answer_fn answer;
    void *user;
} loopback_passage;

static void *zeroed(size_t size)
{
    void *block = calloc(1, size);
    AQ_ASSERT(block != NULL);
    return block;
}

/* ---- the wire ------------------------------------------------------------------------------ */

static void free_passage(loopback_passage *passage)
{
    free(passage->frame);
    free(passage);
}

static void on_reply(void *user, const uint8_t *frame, size_t size)
{
    loopback_passage *passage = user;
    AQ_ASSERT(!passage->is_ready);
    if (passage->is_abandoned) {
        free_passage(passage);
        return;
    }
    passage->frame = zeroed(size);
    memcpy(passage->frame, frame, size);
    passage->size = size;
    passage->is_ready = true;
}

static int send_request(aq_rpc_channel *channel, const uint8_t *frame, size_t size,
                        uint32_t timeout_ms, aq_rpc_answer_fn answer, void *user)
{
    loopback *loop = (loopback *)channel;
    loopback_passage *passage = zeroed(sizeof(*passage));
    loopback_passage **end = &loop->passages;
    (void)timeout_ms;
    *passage = (loopback_passage){.number = loop->sent++, .answer = answer, .user = user};
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = passage;
    if (loop->is_cut) {
        passage->error = AQ_E_TIMEOUT;
        passage->is_ready = true;
    } else {
        aq_rpc_dispatch(loop->dispatcher, frame, size, loop->peer, on_reply, passage);
    }
    return 0;
}

void loopback_init(loopback *loop, aq_rpc_dispatcher *dispatcher)
{
    static uint64_t seed; /* no dispatcher takes a call for one that came before */
    memset(loop, 0, sizeof(*loop));
    aq_rpc_channel_init(&loop->channel, LOOPBACK_FRAME_BYTES_MAX, ++seed);
    loop->channel.send = send_request;
    loop->dispatcher = dispatcher;
    loop->timeout_ms = 20000;
    snprintf(loop->peer, sizeof(loop->peer), "tcp://10.0.0.9:4711");
}

/* The oldest that is ready, of those below this number; off the list. NULL: there is none. */
static loopback_passage *take_ready(loopback *loop, uint64_t end)
{
    for (loopback_passage **at = &loop->passages; *at != NULL; at = &(*at)->next) {
        loopback_passage *passage = *at;
        if (passage->is_ready && passage->number < end) {
            *at = passage->next;
            return passage;
        }
    }
    return NULL;
}

/* Whoever gets an answer may send and close: each is looked for anew. */
bool loopback_pump(loopback *loop)
{
    const uint64_t end = loop->sent;
    bool any = false;
    for (loopback_passage *it; (it = take_ready(loop, end)) != NULL; any = true) {
        it->answer(it->user, it->error, it->frame, it->size);
        free_passage(it);
    }
    return any;
}

void loopback_close(loopback *loop)
{
    while (loop->passages != NULL) {
        loopback_passage *passage = loop->passages;
        loop->passages = passage->next;
        passage->answer(passage->user, AQ_E_CLOSED, NULL, 0);
        if (passage->is_ready) {
            free_passage(passage);
        } else {
            passage->is_abandoned = true;
        }
    }
}

void loopback_fini(loopback *loop)
{
    AQ_ASSERT(loop->passages == NULL);
    while (loop->answers != NULL) {
        loopback_answer *answer = loop->answers;
        loop->answers = answer->next;
        protobuf_c_message_free_unpacked(answer->reply, NULL);
        free(answer);
    }
}

/* ---- calls --------------------------------------------------------------------------------- */

static void on_answer(const ProtobufCMessage *reply, void *user)
{
    loopback_answer *answer = user;
    assert_false(answer->done);
    answer->done = true;
    answer->status = *aq_rpc_stub_status(&answer->stub);
    answer->reply = reply != NULL ? loopback_copy(reply) : NULL;
}

/* The service with a method that takes such requests. */
static const ProtobufCServiceDescriptor *service_of(const ProtobufCMessageDescriptor *type,
                                                    unsigned *ret_method)
{
    static const ProtobufCServiceDescriptor *const services[] = {
        &actorq__v1__membership__descriptor, &actorq__v1__policy__descriptor,
        &actorq__v1__operations__descriptor, &actorq__v1__flow__descriptor,
        &actorq__v1__sampling__descriptor,   &actorq__v1__exchange__descriptor};
    for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++) {
        for (unsigned method = 0; method < services[i]->n_methods; method++) {
            if (services[i]->methods[method].input == type) {
                *ret_method = method;
                return services[i];
            }
        }
    }
    fail_msg("no method takes a %s", type->name);
    return NULL;
}

const loopback_answer *loopback_call(loopback *loop, const ProtobufCMessage *request)
{
    unsigned method = 0;
    const ProtobufCServiceDescriptor *service = service_of(request->descriptor, &method);
    loopback_answer *answer = zeroed(sizeof(*answer));
    answer->next = loop->answers;
    loop->answers = answer;
    aq_rpc_stub_init(&answer->stub, &loop->channel, service, loop->timeout_ms);
    answer->stub.base.invoke(&answer->stub.base, method, request, on_answer, answer);
    loopback_pump(loop);
    loopback_pump(loop); /* what had to be signed goes again */
    return answer;
}

const void *loopback_ask(loopback *loop, const ProtobufCMessage *request)
{
    const loopback_answer *answer = loopback_call(loop, request);
    loopback_assert_answered(answer, AQ_RPC_OK, "");
    return answer->reply;
}

void loopback_refuses(loopback *loop, const ProtobufCMessage *request, enum aq_rpc_code code,
                      const char *words)
{
    const loopback_answer *answer = loopback_call(loop, request);
    loopback_assert_answered(answer, code, words);
    assert_null(answer->reply);
}

void loopback_assert_answered(const loopback_answer *answer, enum aq_rpc_code code,
                              const char *words)
{
    assert_true(answer->done);
    if (answer->status.code != code) {
        fail_msg("%s, not %s: %s", aq_rpc_code_name(answer->status.code), aq_rpc_code_name(code),
                 answer->status.message);
    }
    assert_says(answer->status.message, words);
}

ProtobufCMessage *loopback_copy(const ProtobufCMessage *message)
{
    const size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = zeroed(size + 1);
    protobuf_c_message_pack(message, bytes);
    ProtobufCMessage *copy = protobuf_c_message_unpack(message->descriptor, NULL, size, bytes);
    free(bytes);
    assert_non_null(copy);
    return copy;
}
