/*
 * The guard of a daemon's calls: says who calls, and that the call is new.
 *
 * Nobody's clock is trusted. A daemon draws a number for itself at its start, its instance, and
 * counts milliseconds from there; a caller learns both from the daemon's first answer, a challenge,
 * and signs each call with them. So what was recorded from another daemon, or before a restart, is
 * worth nothing, and no two hosts have to agree on the time. What comes a second time, or later
 * than AQ_GUARD_WINDOW_MS after it was signed, is answered with a challenge again: its caller signs
 * anew, and whoever only has the recording cannot.
 *
 * Private to rpc; loop thread only.
 */
#ifndef AQ_COMMON_NET_RPC_RPC_GUARD_H
#define AQ_COMMON_NET_RPC_RPC_GUARD_H

#include "common/net/security/token.h"
#include "proto/rpc.pb-c.h"

enum {
    AQ_GUARD_WINDOW_MS = 60000,
    AQ_GUARD_REMEMBERED = 16384, /* calls; with more in a window, the window is shorter */
    AQ_GUARD_HELLO_BYTES = 1,    /* a token that asks for a challenge: the caller's role */
    AQ_GUARD_PROOF_BYTES = 1 + 8 + 8 + AQ_TOKEN_MAC_BYTES,
};

typedef struct aq_rpc_guard aq_rpc_guard;

/* `token` outlives the guard and is for listening; `role` is LEARNER or REPLAY; instance 0: one is
 * drawn. */
int aq_rpc_guard_create(const aq_token *token, enum aq_access_role role, uint64_t instance,
                        aq_rpc_guard **ret_guard) AQ_MUST_USE;
void aq_rpc_guard_destroy(aq_rpc_guard *guard); /* NULL is fine */

enum aq_guard_verdict {
    AQ_GUARD_GENUINE,
    AQ_GUARD_CHALLENGE, /* nothing is wrong yet: it has to be signed, or signed anew */
    AQ_GUARD_REFUSED,
};

/* Who has made this request. `*ret_role` is what the caller says it is where nothing was proved,
 * `*ret_why` is set with AQ_GUARD_REFUSED. */
enum aq_guard_verdict aq_rpc_guard_check(const aq_rpc_guard *guard,
                                         const Actorq__V1__RpcRequest *request, const uint8_t *body,
                                         size_t body_size, enum aq_access_role *ret_role,
                                         const char **ret_why);

/* True for the first time that a genuine request comes, if that is soon after it was signed; it is
 * remembered. False asks for a challenge. */
bool aq_rpc_guard_is_new(aq_rpc_guard *guard, const Actorq__V1__RpcRequest *request,
                         int64_t now_ns);

void aq_rpc_guard_challenge(const aq_rpc_guard *guard, int64_t now_ns,
                            Actorq__V1__RpcChallenge *ret_challenge);

/* ---- the caller's end ---------------------------------------------------------------------- */

void aq_guard_peer_take(aq_token_peer *peer, const Actorq__V1__RpcChallenge *challenge,
                        int64_t now_ns);

/* Writes what goes into request->token, with the daemon known or not, and how many bytes that is.
 * `call` holds request id, deadline, method and body. Fails as aq_token_sign does. */
int aq_guard_peer_sign(const aq_token_peer *peer, const aq_token *token, int64_t now_ns,
                       aq_token_call *call, uint8_t ret_token[AQ_GUARD_PROOF_BYTES],
                       size_t *ret_size) AQ_MUST_USE;

#endif
