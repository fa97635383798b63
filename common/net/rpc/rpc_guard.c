/*
 * The guard: see rpc_guard.h.
 *
 * A proof in RpcRequest.token: the caller's role (a byte), the daemon's instance and the time of
 * signing in its milliseconds (8 bytes each, little-endian), and the MAC. Calls that were carried
 * out are remembered by the first eight bytes of their MAC, in a ring: what leaves it raises the
 * time before which nothing is taken any more, so that forgetting is never a hole.
 */
#include "common/net/rpc/rpc_guard.h"

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/little_endian.h"
#include "common/base/memory.h"
#include "common/net/rpc/id_map.h"
#include "common/net/security/incarnation.h"

/* A caller's clock may run a little faster than ours; what it learned of ours is late, not early.
 * What leaves the ring is never stamped later than now, unless the whole ring was filled in this
 * time, which is more calls than a thread can check: or one caller that stamps its calls ahead
 * would make everybody else's too old. */
enum { FUTURE_MS = 50 };

typedef struct remembered {
    aq_id_node node; /* first: the table hands it back */
    uint64_t issued_ms;
} remembered;

struct aq_rpc_guard {
    const aq_token *token;
    enum aq_access_role role; /* of this daemon */
    uint64_t instance;
    int64_t started_ns;
    uint64_t oldest_ms; /* nothing that was signed before or then is taken */
    aq_id_map map;
    size_t next; /* where the next one goes: the oldest, once the ring is full */
    remembered ring[AQ_GUARD_REMEMBERED];
};

typedef struct proof {
    enum aq_access_role caller;
    uint64_t instance;
    uint64_t issued_ms;
    const uint8_t *mac;
} proof;

static proof read_proof(const Actorq__V1__RpcRequest *request)
{
    const uint8_t *at = request->token.data;

    AQ_ASSERT(request->token.len == AQ_GUARD_PROOF_BYTES);
    return (proof){.caller = (enum aq_access_role)at[0],
                   .instance = aq_u64_get(at + 1),
                   .issued_ms = aq_u64_get(at + 9),
                   .mac = at + 17};
}

/* ---- the daemon's end ---------------------------------------------------------------------- */

int aq_rpc_guard_create(const aq_token *token, enum aq_access_role role, uint64_t instance,
                        aq_rpc_guard **ret_guard)
{
    AQ_ASSERT(aq_token_is_for_listening(token));
    AQ_ASSERT(aq_access_role_listens(role));
    aq_rpc_guard *guard = aq_alloc(1, sizeof(*guard));
    if (guard == NULL) {
        return AQ_E_NOMEM;
    }
    if (aq_id_map_init(&guard->map, AQ_GUARD_REMEMBERED) < 0) {
        aq_free(guard);
        return AQ_E_NOMEM;
    }
    guard->token = token;
    guard->started_ns = aq_clock_monotonic_ns();
    guard->role = role;
    guard->instance = instance != 0 ? instance : aq_incarnation_draw();
    *ret_guard = guard;
    return 0;
}

void aq_rpc_guard_destroy(aq_rpc_guard *guard)
{
    if (guard != NULL) {
        aq_id_map_fini(&guard->map);
        aq_free(guard);
    }
}

enum aq_guard_verdict aq_rpc_guard_check(const aq_rpc_guard *guard,
                                         const Actorq__V1__RpcRequest *request, const uint8_t *body,
                                         size_t body_size, enum aq_access_role *ret_role,
                                         const char **ret_why)
{
    aq_token_call call = {.listener = guard->role,
                          .instance = guard->instance,
                          .request_id = request->request_id,
                          .timeout_ms = request->timeout_ms,
                          .method = request->method,
                          .body = body,
                          .body_size = body_size};

    *ret_role = AQ_ACCESS_NONE;
    if (request->token.len == 0) {
        *ret_why = "this daemon asks for a token; give --token-file FILE, or --certs DIR with a "
                   "token in it";
        return AQ_GUARD_REFUSED;
    }
    *ret_role = (enum aq_access_role)request->token.data[0];
    if (request->token.len == AQ_GUARD_HELLO_BYTES) {
        return AQ_GUARD_CHALLENGE;
    }
    if (request->token.len != AQ_GUARD_PROOF_BYTES) {
        *ret_why = "what the call carries is not a proof of a token";
        return AQ_GUARD_REFUSED;
    }
    proof given = read_proof(request);
    if (given.instance != guard->instance) {
        return AQ_GUARD_CHALLENGE;
    }
    call.caller = given.caller;
    call.issued_ms = given.issued_ms;
    if (!aq_token_verify(guard->token, &call, given.mac)) {
        *ret_why = "the caller's token is not of this run, or of a role that does not call here";
        return AQ_GUARD_REFUSED;
    }
    return AQ_GUARD_GENUINE;
}

static uint64_t clock_ms(const aq_rpc_guard *guard, int64_t now_ns)
{
    return (uint64_t)((now_ns - guard->started_ns) / AQ_NS_PER_MS) + 1;
}

static void remember(aq_rpc_guard *guard, uint64_t id, uint64_t issued_ms)
{
    remembered *place = &guard->ring[guard->next];

    if (guard->map.count == AQ_GUARD_REMEMBERED) {
        if (place->issued_ms > guard->oldest_ms) {
            guard->oldest_ms = place->issued_ms;
        }
        aq_id_map_remove(&guard->map, &place->node);
    }
    place->node.id = id;
    place->issued_ms = issued_ms;
    aq_id_map_insert(&guard->map, &place->node);
    guard->next = (guard->next + 1) % AQ_GUARD_REMEMBERED;
}

bool aq_rpc_guard_is_new(aq_rpc_guard *guard, const Actorq__V1__RpcRequest *request, int64_t now_ns)
{
    proof given = read_proof(request);
    uint64_t now_ms = clock_ms(guard, now_ns);
    uint64_t id = aq_u64_get(given.mac);

    if (now_ms > AQ_GUARD_WINDOW_MS && guard->oldest_ms < now_ms - AQ_GUARD_WINDOW_MS) {
        guard->oldest_ms = now_ms - AQ_GUARD_WINDOW_MS;
    }
    if (given.issued_ms <= guard->oldest_ms || given.issued_ms > now_ms + FUTURE_MS ||
        aq_id_map_find(&guard->map, id) != NULL) {
        return false;
    }
    remember(guard, id, given.issued_ms);
    return true;
}

void aq_rpc_guard_challenge(const aq_rpc_guard *guard, int64_t now_ns,
                            Actorq__V1__RpcChallenge *ret_challenge)
{
    *ret_challenge = (Actorq__V1__RpcChallenge)ACTORQ__V1__RPC_CHALLENGE__INIT;
    ret_challenge->instance = guard->instance;
    ret_challenge->now_ms = clock_ms(guard, now_ns);
    ret_challenge->role = (uint32_t)guard->role;
}

/* ---- the caller's end ---------------------------------------------------------------------- */

void aq_guard_peer_take(aq_token_peer *peer, const Actorq__V1__RpcChallenge *challenge,
                        int64_t now_ns)
{
    peer->role = challenge->role < AQ_ACCESS_ROLE_COUNT ? (enum aq_access_role)challenge->role
                                                        : AQ_ACCESS_NONE;
    peer->instance = challenge->instance;
    peer->ahead_ms = challenge->now_ms - (uint64_t)(now_ns / AQ_NS_PER_MS);
}

int aq_guard_peer_sign(const aq_token_peer *peer, const aq_token *token, int64_t now_ns,
                       aq_token_call *call, uint8_t ret_token[AQ_GUARD_PROOF_BYTES],
                       size_t *ret_size)
{
    ret_token[0] = (uint8_t)aq_token_role(token);
    if (peer->instance == 0) {
        *ret_size = AQ_GUARD_HELLO_BYTES;
        return 0;
    }
    call->listener = peer->role;
    call->instance = peer->instance;
    call->issued_ms = (uint64_t)(now_ns / AQ_NS_PER_MS) + peer->ahead_ms;
    aq_u64_put(ret_token + 1, call->instance);
    aq_u64_put(ret_token + 9, call->issued_ms);
    int rc = aq_token_sign(token, call, ret_token + 17);
    if (rc == 0) {
        *ret_size = AQ_GUARD_PROOF_BYTES;
    }
    return rc;
}
