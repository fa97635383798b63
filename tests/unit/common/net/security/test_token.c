/*
 * Tokens: what is one, and what a proof is worth.
 */
#include "common/net/security/token.h"
#include "tests/support/test.h"
#include "tests/unit/common/net/secure_kit.h"

static const uint8_t master[AQ_TOKEN_KEY_BYTES] = "a run's master secret, 32 bytes";
static const uint8_t body[] = "a request";

TEST_ENDING(destroy, aq_token_destroy);

static aq_token *parse(const char *text)
{
    aq_token *token = NULL;
    assert_succeeds(aq_token_parse(text, strlen(text), &token, &refusal));
    at_end(destroy, token);
    return token;
}

static aq_token *role_token(enum aq_access_role role)
{
    return secure_kit_token(master, role);
}

static aq_token_call a_call(void)
{
    return (aq_token_call){.caller = AQ_ACCESS_ACTOR,
                           .listener = AQ_ACCESS_REPLAY,
                           .instance = 77,
                           .issued_ms = 1234,
                           .request_id = 42,
                           .timeout_ms = 1000,
                           .method = "actorq.v1.Flow/Credit",
                           .body = body,
                           .body_size = sizeof(body)};
}

/* An actor's, with its proof. */
static aq_token_call signed_call(uint8_t ret_mac[AQ_TOKEN_MAC_BYTES])
{
    const aq_token_call call = a_call();
    assert_int_equal(aq_token_sign(role_token(AQ_ACCESS_ACTOR), &call, ret_mac), 0);
    return call;
}

static void expect_refused(const char *text, const char *words)
{
    aq_token *token = NULL;
    assert_refused(aq_token_parse(text, strlen(text), &token, &refusal), AQ_E_INVALID, words);
    assert_null(token);
}

TEST(a_line_of_text_is_a_secret_that_all_share)
{
    aq_token *token = parse("  correct horse battery staple\r\n");
    aq_token *same = parse("correct horse battery staple");
    aq_token_call call = a_call();
    uint8_t mac[AQ_TOKEN_MAC_BYTES];
    assert_int_equal(aq_token_role(token), AQ_ACCESS_SHARED);
    assert_true(aq_token_is_for_listening(token));
    assert_int_equal(aq_token_sign(token, &call, mac), 0);
    call.caller = AQ_ACCESS_SHARED;
    assert_true(aq_token_verify(same, &call, mac));
    call.listener = AQ_ACCESS_SHARED; /* which no daemon is */
    assert_int_equal(aq_token_sign(token, &call, mac), AQ_E_INVALID);
    assert_false(aq_token_verify(same, &call, mac));
}

/* Who holds the secret may be either daemon; what was signed for one is nothing to the other. */
TEST(a_shared_secret_signs_for_one_daemon)
{
    aq_token *token = parse("correct horse battery staple");
    aq_token_call call = a_call();
    uint8_t mac[AQ_TOKEN_MAC_BYTES];
    call.caller = AQ_ACCESS_SHARED;
    call.listener = AQ_ACCESS_REPLAY;
    assert_int_equal(aq_token_sign(token, &call, mac), 0);
    assert_true(aq_token_verify(token, &call, mac));
    call.listener = AQ_ACCESS_LEARNER;
    assert_false(aq_token_verify(token, &call, mac));
}

/* As the actor's end and the shard's make it. */
TEST(actors_and_shards_have_one_seal)
{
    static const struct {
        const char *sender, *receiver; /* secrets; NULL: roles' tokens */
        bool is_same;
    } rows[] = {{NULL, NULL, true},
                {"correct horse battery staple", "correct horse battery staple", true},
                {"correct horse battery staple", "correct horse battery staplf", false},
                {NULL, "correct horse battery staple", false}};
    EACH_ROW(i, rows) {
        aq_token *sender = rows[i].sender ? parse(rows[i].sender) : role_token(AQ_ACCESS_ACTOR);
        aq_token *receiver =
            rows[i].receiver ? parse(rows[i].receiver) : role_token(AQ_ACCESS_REPLAY);
        const uint8_t bytes[100] = {1};
        uint8_t message[sizeof(bytes) + AQ_SEAL_BYTES];
        aq_seal here, there;
        assert_int_equal(aq_token_seal(sender, &here), 0);
        assert_int_equal(aq_token_seal(receiver, &there), 0);
        aq_seal_copy(&here, bytes, sizeof(bytes), message);
        assert_int_equal(aq_seal_is_whole(&there, message, sizeof(message)), rows[i].is_same);
    }
    aq_seal none;
    assert_int_equal(aq_token_seal(role_token(AQ_ACCESS_OPERATOR), &none), AQ_E_INVALID);
    assert_int_equal(aq_token_seal(role_token(AQ_ACCESS_LEARNER), &none), AQ_E_INVALID);
}

TEST(a_secret_of_few_letters_is_refused)
{
    expect_refused("aaaaaaaaaaaaaaaa", "different letters");
    expect_refused("abcabcabcabcabcabcabc", "different letters");
}

TEST(another_secret_proves_nothing)
{
    aq_token *token = parse("correct horse battery staple");
    aq_token *other = parse("correct horse battery staplf");
    aq_token_call call = a_call();
    uint8_t mac[AQ_TOKEN_MAC_BYTES];
    call.caller = AQ_ACCESS_SHARED;
    assert_int_equal(aq_token_sign(other, &call, mac), 0);
    assert_false(aq_token_verify(token, &call, mac));
}

TEST(a_role_proves_itself_to_those_that_it_calls)
{
    aq_token *actor = role_token(AQ_ACCESS_ACTOR);
    aq_token *replay = role_token(AQ_ACCESS_REPLAY);
    aq_token_call call = a_call();
    uint8_t mac[AQ_TOKEN_MAC_BYTES];
    assert_int_equal(aq_token_role(actor), AQ_ACCESS_ACTOR);
    assert_false(aq_token_is_for_listening(actor));
    assert_true(aq_token_is_for_listening(replay));
    assert_int_equal(aq_token_sign(actor, &call, mac), 0);
    assert_true(aq_token_verify(replay, &call, mac));
}

TEST(a_role_cannot_prove_to_be_another)
{
    const aq_token *replay = role_token(AQ_ACCESS_REPLAY);
    uint8_t mac[AQ_TOKEN_MAC_BYTES];
    aq_token_call call = signed_call(mac);
    call.caller = AQ_ACCESS_OPERATOR;
    assert_false(aq_token_verify(replay, &call, mac));
    call.caller = AQ_ACCESS_REPLAY; /* which no shard accepts */
    assert_false(aq_token_verify(replay, &call, mac));
    call.caller = AQ_ACCESS_SHARED;
    assert_false(aq_token_verify(replay, &call, mac));
    call.caller = (enum aq_access_role)200;
    assert_false(aq_token_verify(replay, &call, mac));
}

TEST(what_is_signed_for_a_shard_is_nothing_to_the_learner)
{
    aq_token *person = role_token(AQ_ACCESS_OPERATOR);
    aq_token *learner = role_token(AQ_ACCESS_LEARNER);
    aq_token_call call = a_call();
    uint8_t mac[AQ_TOKEN_MAC_BYTES];
    assert_int_equal(aq_token_sign(person, &call, mac), 0);
    call.caller = AQ_ACCESS_OPERATOR;
    assert_false(aq_token_verify(learner, &call, mac));
}

TEST(every_part_of_a_call_is_signed)
{
    static const uint8_t other_body[] = "a requesu";
    aq_token *actor = role_token(AQ_ACCESS_ACTOR);
    aq_token *replay = role_token(AQ_ACCESS_REPLAY);
    aq_token_call call = a_call();
    aq_token_call changed;
    uint8_t mac[AQ_TOKEN_MAC_BYTES];
    assert_int_equal(aq_token_sign(actor, &call, mac), 0);
#define EXPECT_NOTICED(change)                                                                     \
    changed = call;                                                                                \
    changed.change;                                                                                \
    assert_false(aq_token_verify(replay, &changed, mac))
    EXPECT_NOTICED(instance++);
    EXPECT_NOTICED(issued_ms++);
    EXPECT_NOTICED(request_id++);
    EXPECT_NOTICED(timeout_ms++);
    EXPECT_NOTICED(method = "actorq.v1.Flow/Credis");
    EXPECT_NOTICED(method = "actorq.v1.Flow/Credi");
    EXPECT_NOTICED(body = other_body);
    EXPECT_NOTICED(body_size--);
#undef EXPECT_NOTICED
    mac[31] ^= 1;
    assert_false(aq_token_verify(replay, &call, mac));
}

/* Priorities of a request: a body is signed by its keyed sum, whatever its length. */
TEST(every_bit_of_a_long_body_is_signed)
{
    enum { BODY_BYTES = 24640 };
    static uint8_t long_body[BODY_BYTES];
    aq_token *replay = role_token(AQ_ACCESS_REPLAY);
    aq_token_call call = a_call();
    uint8_t mac[AQ_TOKEN_MAC_BYTES];
    call.body = long_body;
    call.body_size = sizeof(long_body);
    assert_int_equal(aq_token_sign(role_token(AQ_ACCESS_ACTOR), &call, mac), 0);
    assert_true(aq_token_verify(replay, &call, mac));
    for (size_t at = 0; at < sizeof(long_body); at += 331) {
        long_body[at] ^= (uint8_t)(1 << at % 8);
        assert_false(aq_token_verify(replay, &call, mac));
        long_body[at] ^= (uint8_t)(1 << at % 8);
    }
    call.listener = AQ_ACCESS_OPERATOR; /* which nobody calls, whatever a challenge says */
    assert_int_equal(aq_token_sign(role_token(AQ_ACCESS_ACTOR), &call, mac), AQ_E_INVALID);
}

TEST(the_border_of_method_and_body_is_signed)
{
    aq_token *actor = role_token(AQ_ACCESS_ACTOR);
    aq_token *replay = role_token(AQ_ACCESS_REPLAY);
    aq_token_call call = a_call();
    uint8_t mac[AQ_TOKEN_MAC_BYTES];
    call.method = "ab";
    call.body = (const uint8_t *)"c";
    call.body_size = 1;
    assert_int_equal(aq_token_sign(actor, &call, mac), 0);
    call.method = "a";
    call.body = (const uint8_t *)"bc";
    call.body_size = 2;
    assert_false(aq_token_verify(replay, &call, mac));
}

TEST(roles_of_two_runs_do_not_know_each_other)
{
    static const uint8_t other_master[AQ_TOKEN_KEY_BYTES] = "another run's master secret, 32";
    aq_token *replay = role_token(AQ_ACCESS_REPLAY);
    aq_token *actor = secure_kit_token(other_master, AQ_ACCESS_ACTOR);
    aq_token_call call = a_call();
    uint8_t mac[AQ_TOKEN_MAC_BYTES];
    assert_int_equal(aq_token_sign(actor, &call, mac), 0);
    assert_false(aq_token_verify(replay, &call, mac));
}

TEST(what_is_no_token_is_refused_in_words)
{
    expect_refused("", "0 letters");
    expect_refused("short", "5 letters");
    expect_refused("one line of text\nand another", "neither");
    expect_refused("actorq-token 1\nrole actor\n", "no role or no key");
    expect_refused("actorq-token 1\nkey 00\n", "line 2");
    expect_refused("actorq-token 1\nrole king\n", "line 2");
    expect_refused("actorq-token 1\nrole actor\nkey "
                   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdeg\n",
                   "line 3");
    expect_refused("actorq-token 1\nrole actor\naccept actor\n", "line 3");
    expect_refused("actorq-token 1 x\nrole actor\n", "line 1");
}

TEST(a_token_that_is_refused_is_not_told)
{
    static const char text[] = "actorq-token 1\nrole actor\nkey swordfish\n";
    aq_token *token = NULL;
    assert_int_equal(aq_token_parse(text, strlen(text), &token, &refusal), AQ_E_INVALID);
    assert_null(strstr(refusal.text, "swordfish"));
}

TEST(a_token_that_is_too_long_is_refused)
{
    static char text[AQ_TOKEN_TEXT_MAX + 2];
    aq_token *token = NULL;
    for (size_t i = 0; i + 1 < sizeof(text); i++) {
        text[i] = (char)('a' + i % 26);
    }
    assert_int_equal(aq_token_parse(text, strlen(text), &token, &refusal), AQ_E_INVALID);
    text[AQ_TOKEN_TEXT_MAX] = '\0';
    (void)parse(text);
}

TEST(no_memory_for_a_token_is_said)
{
    aq_token *token = NULL;
    assert_fails_without_memory(
        aq_token_parse("correct horse battery staple", 28, &token, &refusal));
    assert_null(token);
}

TEST(roles_have_names)
{
    assert_string_equal(aq_access_role_name(AQ_ACCESS_OPERATOR), "operator");
    assert_string_equal(aq_access_role_name(AQ_ACCESS_NONE), "none");
    assert_string_equal(aq_access_role_name((enum aq_access_role)99), "unknown");
}
