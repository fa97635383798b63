/*
 * Tokens: the secrets that prove what a caller is, and the proof itself.
 *
 * The text of a token is either a secret that all who hold it share, one line of at least 16
 * letters, not always the same few:
 *
 *   correct horse battery staple
 *
 * or what one role of a run is given by `actorq certs`:
 *
 *   actorq-token 1
 *   role replay
 *   key 64 hexadecimal digits           what this role's own calls are signed with
 *   accept learner 64 digits            and of each role that may call it, what proves that role
 *
 * A role's key is derived from the run's master secret, and what a listener accepts from the
 * caller's key and the listener's role. So a shard, which has to be able to check what the operator
 * signs for shards, cannot sign as the operator, and what was signed for one daemon's role is
 * worthless at another's.
 *
 * A token is never sent. A call carries a MAC over itself: HMAC-SHA256 over who calls whom, the
 * daemon's instance, the time, the request id, the deadline, the method and a keyed sum over the
 * body (seal.h): a shard is told priorities faster than SHA-256 reads.
 *
 * Immutable once made: any thread.
 */
#ifndef AQ_COMMON_NET_SECURITY_TOKEN_H
#define AQ_COMMON_NET_SECURITY_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/net/security/seal.h"

/* On the wire; numbers stay. */
#define AQ_ACCESS_ROLE_LIST(X)                                                                     \
    X(NONE, 0, "none")     /* nobody was asked for a token */                                      \
    X(SHARED, 1, "shared") /* holds the secret that all share */                                   \
    X(LEARNER, 2, "learner")                                                                       \
    X(REPLAY, 3, "replay")                                                                         \
    X(ACTOR, 4, "actor")                                                                           \
    X(OPERATOR, 5, "operator") /* a person with the command-line tool */                           \
    X(EVALUATOR, 6, "evaluator")

enum aq_access_role {
#define AQ_ACCESS_ENUM(name, number, text) AQ_ACCESS_##name = (number),
    AQ_ACCESS_ROLE_LIST(AQ_ACCESS_ENUM)
#undef AQ_ACCESS_ENUM
};

enum {
#define AQ_ACCESS_ONE(name, number, text) +1
    AQ_ACCESS_ROLE_COUNT = AQ_ACCESS_ROLE_LIST(AQ_ACCESS_ONE),
#undef AQ_ACCESS_ONE
    AQ_TOKEN_KEY_BYTES = 32,
    AQ_TOKEN_MAC_BYTES = 32,
    AQ_TOKEN_TEXT_MAX = 4096,
    AQ_TOKEN_SECRET_MIN = 16,
    AQ_TOKEN_LETTERS_MIN = 6, /* of a secret that differ */
};

const char *aq_access_role_name(enum aq_access_role role);

/* Whether daemons of that role are called. */
static inline bool aq_access_role_listens(enum aq_access_role role)
{
    return role == AQ_ACCESS_LEARNER || role == AQ_ACCESS_REPLAY;
}

typedef struct aq_token aq_token;

/* The token in a text of `size` bytes; blanks around it do not count. AQ_E_INVALID says what is
 * wrong without a word of the text; AQ_E_NOMEM. */
int aq_token_parse(const char *text, size_t size, aq_token **ret_token,
                   aq_error *error) AQ_MUST_USE;

/* Wipes it. NULL is fine. */
void aq_token_destroy(aq_token *token);

enum aq_access_role aq_token_role(const aq_token *token);

/* True when it can tell callers apart from strangers: a daemon that listens needs such a one. */
bool aq_token_is_for_listening(const aq_token *token);

/* 64 hexadecimal digits, and nothing else; false: they are not. */
bool aq_token_read_key(const char *text, uint8_t ret_key[AQ_TOKEN_KEY_BYTES]) AQ_MUST_USE;

/* Appends the text of a role's token. AQ_E_NOMEM, AQ_E_TOO_BIG. */
int aq_token_write_role(const uint8_t master[AQ_TOKEN_KEY_BYTES], enum aq_access_role role,
                        aq_buffer *out) AQ_MUST_USE;

/* ---- the proof ----------------------------------------------------------------------------- */

/* What a MAC is over. */
typedef struct aq_token_call {
    enum aq_access_role caller;
    enum aq_access_role listener;
    uint64_t instance;  /* of the daemon that is called */
    uint64_t issued_ms; /* by that daemon's clock */
    uint64_t request_id;
    uint32_t timeout_ms;
    const char *method;
    const uint8_t *body;
    size_t body_size;
} aq_token_call;

/* Signs as token's role; call->caller is not looked at. AQ_E_INVALID of a listener whose role is
 * none of a daemon; AQ_E_NOMEM. */
int aq_token_sign(const aq_token *token, const aq_token_call *call,
                  uint8_t ret_mac[AQ_TOKEN_MAC_BYTES]) AQ_MUST_USE;

/* True when somebody signed this call, to call->listener, who holds the key of call->caller. Who
 * holds a role's token listens as that role. */
bool aq_token_verify(const aq_token *token, const aq_token_call *call,
                     const uint8_t mac[AQ_TOKEN_MAC_BYTES]);

/* What experience is sealed with: on its way by a token of an actor, at its end by one that actors
 * may call replay with. AQ_E_INVALID of any other token; AQ_E_NOMEM. */
int aq_token_seal(const aq_token *token, aq_seal *ret_seal) AQ_MUST_USE;

/* What a caller knows of the daemon that it calls; all 0: nothing yet. */
typedef struct aq_token_peer {
    enum aq_access_role role;
    uint64_t instance;
    uint64_t ahead_ms; /* of the daemon's clock, before ours; it may wrap */
} aq_token_peer;

/* Overwrites a secret, also where the compiler thinks that nobody would notice. */
void aq_wipe(void *bytes, size_t size);

#endif
