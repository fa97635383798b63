/*
 * Remote calls over protobuf-c services, free of any transport: what a call is, how a caller makes
 * one and how a daemon answers it. NNG (rpc_client.h, rpc_server.h) and the simulated network of
 * the tests both carry the frames that are made and consumed here.
 *
 * Everything runs on one thread, the loop's.
 */
#ifndef AQ_COMMON_NET_RPC_RPC_H
#define AQ_COMMON_NET_RPC_RPC_H

#include <protobuf-c/protobuf-c.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/net/security/token.h"

/* gRPC's status codes. */
#define AQ_RPC_STATUS_LIST(X)                                                                      \
    X(OK, 0)                                                                                       \
    X(CANCELLED, 1)                                                                                \
    X(UNKNOWN, 2)                                                                                  \
    X(INVALID_ARGUMENT, 3)                                                                         \
    X(DEADLINE_EXCEEDED, 4)                                                                        \
    X(NOT_FOUND, 5)                                                                                \
    X(ALREADY_EXISTS, 6)                                                                           \
    X(PERMISSION_DENIED, 7)                                                                        \
    X(RESOURCE_EXHAUSTED, 8)                                                                       \
    X(FAILED_PRECONDITION, 9)                                                                      \
    X(ABORTED, 10)                                                                                 \
    X(OUT_OF_RANGE, 11)                                                                            \
    X(UNIMPLEMENTED, 12)                                                                           \
    X(INTERNAL, 13)                                                                                \
    X(UNAVAILABLE, 14)                                                                             \
    X(DATA_LOSS, 15)                                                                               \
    X(UNAUTHENTICATED, 16)

enum aq_rpc_code {
#define AQ_RPC_ENUM(name, code) AQ_RPC_##name = (code),
    AQ_RPC_STATUS_LIST(AQ_RPC_ENUM)
#undef AQ_RPC_ENUM
};

enum { AQ_RPC_MESSAGE_MAX = 1024, AQ_RPC_METHOD_MAX = 128, AQ_RPC_TIMEOUT_MS_MAX = 600000 };

typedef struct aq_rpc_status {
    uint32_t code; /* enum aq_rpc_code */
    char message[AQ_RPC_MESSAGE_MAX];
} aq_rpc_status;

const char *aq_rpc_code_name(uint32_t code); /* "UNAVAILABLE" */

/* ---- caller's side ------------------------------------------------------------------------- */

typedef struct aq_rpc_channel aq_rpc_channel;

/* The transport's answer: a reply frame, or error != 0 and no frame (AQ_E_TIMEOUT, AQ_E_CLOSED).
 * Called exactly once per accepted send, never from inside send. */
typedef void (*aq_rpc_answer_fn)(void *user, int error, const uint8_t *frame, size_t size);

/* A transport embeds this as its first member. `send` copies or takes what it needs of the frame
 * before it returns; on failure `answer` is not called. A channel that is closed by a closure it
 * runs stays in memory until that closure has returned. */
struct aq_rpc_channel {
    int (*send)(aq_rpc_channel *channel, const uint8_t *frame, size_t size, uint32_t timeout_ms,
                aq_rpc_answer_fn answer, void *user);
    /* NULL, or writes why the peer has not been reached, and "" when it has. */
    void (*write_unreached)(const aq_rpc_channel *channel, char *ret_text, size_t size);
    const aq_rpc_status *status; /* of the call whose closure is running */
    uint64_t caller;             /* random; the upper half of every request id */
    uint64_t next_call;
    size_t frame_bytes_max;  /* the largest frame that may be sent */
    uint32_t timeout_ms_min; /* calls on it have as long, whatever they say themselves */
    const aq_token *token;   /* what calls are signed with; NULL: nothing. Outlives the channel */
    aq_token_peer peer;      /* for whom */
    aq_token_peer expected;  /* whom alone calls are signed for: its role, its instance; 0: any */
};

/* Sets the common members, without a token; `seed` makes the request ids unique among callers. */
void aq_rpc_channel_init(aq_rpc_channel *channel, size_t frame_bytes_max, uint64_t seed);

/* Calls are signed for nobody but a daemon of that role (NONE: that serves the method), in that
 * start (0: any): whoever sits at the address cannot have them signed for somebody else. */
void aq_rpc_channel_expect(aq_rpc_channel *channel, enum aq_access_role role, uint64_t instance);

/* A protobuf-c service whose methods are remote: hand &stub.base to the generated functions.
 *
 *   actorq__v1__sampling__sample(&stub.base, &request, on_reply, user);
 *
 * The closure runs exactly once, on the loop; reply is NULL on failure, and while it runs
 * aq_rpc_stub_status tells which. It may run before the call returns only when the request could
 * not be sent at all. */
typedef struct aq_rpc_stub {
    ProtobufCService base;
    aq_rpc_channel *channel;
    uint32_t timeout_ms;
} aq_rpc_stub;

void aq_rpc_stub_init(aq_rpc_stub *stub, aq_rpc_channel *channel,
                      const ProtobufCServiceDescriptor *descriptor, uint32_t timeout_ms);
const aq_rpc_status *aq_rpc_stub_status(const aq_rpc_stub *stub);

/* ---- daemon's side ------------------------------------------------------------------------- */

typedef struct aq_rpc_dispatcher aq_rpc_dispatcher;

/* Takes the reply frame; called exactly once per dispatched request, maybe much later. */
typedef void (*aq_rpc_reply_fn)(void *user, const uint8_t *frame, size_t size);

/* `calls_max` bounds calls in progress (RESOURCE_EXHAUSTED beyond); a reply frame larger than
 * `reply_bytes_max` becomes RESOURCE_EXHAUSTED.
 *
 * The most recent replies of all methods, failures included, are kept up to `repeat_bytes_max`, so
 * that a repeated request id is answered again without being carried out again. One reply of more
 * than a quarter of that is not kept: where large replies must not be made twice, leave room for
 * four. A request id that comes again while its call is in progress is not carried out twice
 * either: the answer goes to the newest asker and to the one before; an older one is told ABORTED.
 * A repeat is the same frame: the id with another content is refused. */
int aq_rpc_dispatcher_create(size_t calls_max, size_t reply_bytes_max, size_t repeat_bytes_max,
                             aq_rpc_dispatcher **ret_dispatcher) AQ_MUST_USE;

/* Replies of up to so many bytes are kept from now on, four of the largest. */
void aq_rpc_dispatcher_keep(aq_rpc_dispatcher *dispatcher, size_t reply_bytes);

/* The largest reply frame, in bytes. */
size_t aq_rpc_dispatcher_reply_bytes_max(const aq_rpc_dispatcher *dispatcher);

/* Who serves here, for callers that expect somebody: LEARNER or REPLAY, and a number that names
 * this start, or 0 for one that nobody expects. Before it is guarded. */
void aq_rpc_dispatcher_name(aq_rpc_dispatcher *dispatcher, enum aq_access_role role,
                            uint64_t instance);

/* From now on only callers are served that prove to hold a token of the run, each with what its
 * role may call (rpc_rights.h). `token` is for listening and outlives the dispatcher. Once. */
int aq_rpc_dispatcher_guard(aq_rpc_dispatcher *dispatcher, const aq_token *token) AQ_MUST_USE;

/* Called for each request that is turned away since its caller may not make it; `role` is what it
 * says it is. For the log, which has to bound what strangers can make it write. */
typedef void (*aq_rpc_refused_fn)(void *user, const char *peer, enum aq_access_role role,
                                  const char *method, const char *why);
void aq_rpc_dispatcher_on_refused(aq_rpc_dispatcher *dispatcher, aq_rpc_refused_fn refused,
                                  void *user);

/* Every call must have been answered. NULL is fine. Kept replies go with it. */
void aq_rpc_dispatcher_destroy(aq_rpc_dispatcher *dispatcher);

/* Offers the service's methods; at most 16 services. The service must outlive the dispatcher. */
int aq_rpc_dispatcher_add(aq_rpc_dispatcher *dispatcher, ProtobufCService *service) AQ_MUST_USE;

/* Carries out the request in `frame`. A bad frame, an unknown method or a body that does not unpack
 * is answered with a status; a frame that is not even a request is answered with INVALID_ARGUMENT
 * and request id 0, and counted. `peer` is the caller's address for people and logs. `frame` and
 * `peer` are not needed any more when this returns. `reply` may be called before that; it takes
 * what it needs of the frame and never dispatches. */
void aq_rpc_dispatch(aq_rpc_dispatcher *dispatcher, const uint8_t *frame, size_t size,
                     const char *peer, aq_rpc_reply_fn reply, void *user);

typedef struct aq_rpc_counters {
    uint64_t calls;          /* requests taken or refused, repeats left out */
    uint64_t failures;       /* of them, answered with another status than OK */
    uint64_t refused_frames; /* messages that held no request */
    uint64_t repeats;        /* requests that came again */
    uint64_t turned_away;    /* requests whose caller may not make them */
} aq_rpc_counters;
aq_rpc_counters aq_rpc_dispatcher_counters(const aq_rpc_dispatcher *dispatcher);

/* Inside a method (or later, when it holds the answer back), `closure_data` is the call. A method
 * answers exactly once: by its closure with a reply, or by aq_rpc_fail. Afterwards the call is
 * gone; its request message is there until the call is answered and the method has returned. */
void aq_rpc_fail(void *closure_data, enum aq_rpc_code code, const char *format, ...)
    AQ_PRINTF(3, 4);

/* Who calls; AQ_ACCESS_NONE where nobody is asked. */
enum aq_access_role aq_rpc_call_role(const void *closure_data);
const char *aq_rpc_call_peer(const void *closure_data);
uint32_t aq_rpc_call_timeout_ms(const void *closure_data);

/* The status that fits one of our error codes (AQ_E_NOT_FOUND -> NOT_FOUND, ...). */
enum aq_rpc_code aq_rpc_code_from_error(int error_code);

#endif
