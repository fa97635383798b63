/*
 * Any text in a token's place is refused without a word of it, or is a token; and no request made
 * of any bytes is taken for one that somebody signed. The first byte of the input says which.
 */
#include <string.h>

#include "common/base/assert.h"
#include "common/net/rpc/rpc_guard.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/must.h"

static const char secret[] = "correct horse battery staple";

static void read_token(const uint8_t *bytes, size_t size)
{
    aq_token *token = NULL;
    aq_error error = {0};
    int rc = aq_token_parse((const char *)bytes, size, &token, &error);
    AQ_ASSERT(error.code == rc);
    if (rc == 0) {
        AQ_ASSERT((int)aq_token_role(token) < (int)AQ_ACCESS_ROLE_COUNT);
        AQ_ASSERT(strlen(aq_access_role_name(aq_token_role(token))) > 0);
        (void)aq_token_is_for_listening(token);
        aq_token_destroy(token);
    }
}

static void check_request(const uint8_t *bytes, size_t size)
{
    aq_token *token;
    aq_rpc_guard *guard;
    enum aq_access_role role = AQ_ACCESS_NONE;
    const char *why = NULL;
    Actorq__V1__RpcRequest *request = actorq__v1__rpc_request__unpack(NULL, size, bytes);
    if (request == NULL) {
        return;
    }
    must(aq_token_parse(secret, strlen(secret), &token, NULL));
    must(aq_rpc_guard_create(token, AQ_ACCESS_LEARNER, 0, &guard));
    enum aq_guard_verdict verdict =
        aq_rpc_guard_check(guard, request, request->body.data, request->body.len, &role, &why);
    AQ_ASSERT(verdict != AQ_GUARD_GENUINE);
    AQ_ASSERT(verdict != AQ_GUARD_REFUSED || why != NULL);
    AQ_ASSERT(strlen(aq_access_role_name(role)) > 0); /* what it says may be anything */
    aq_rpc_guard_destroy(guard);
    aq_token_destroy(token);
    actorq__v1__rpc_request__free_unpacked(request, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(const uint8_t *bytes, size_t size) = {read_token, check_request};
    if (size > 0) {
        readers[fuzz_choice(data[0], 2)](data + 1, size - 1);
    }
    return 0;
}
