/*
 * Tokens: see token.h. The hash is mbedTLS's, which NNG brings along.
 */
#define _GNU_SOURCE /* explicit_bzero */

#include "common/net/security/token.h"

#include <mbedtls/md.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/little_endian.h"
#include "common/base/memory.h"

#define FIRST_LINE "actorq-token 1"
#define BODY_LABEL "actorq body"

enum { LINE_MAX_BYTES = 256, HEX_BYTES = 2 * AQ_TOKEN_KEY_BYTES, LABEL_MAX = 64 };

/* What calls of one role to another are signed with, and what is derived from that for bodies. */
typedef struct call_key {
    uint8_t key[AQ_TOKEN_KEY_BYTES];
    aq_seal body;
} call_key;

struct aq_token {
    enum aq_access_role role;
    uint8_t key[AQ_TOKEN_KEY_BYTES];
    bool accepts[AQ_ACCESS_ROLE_COUNT];
    call_key to[AQ_ACCESS_REPLAY + 1]; /* by the listener's role */
    call_key of[AQ_ACCESS_ROLE_COUNT]; /* by the caller's; not of a secret that all share */
};

/* Who calls whom. */
static const struct {
    enum aq_access_role listener;
    enum aq_access_role caller;
} calls_made[] = {
    {AQ_ACCESS_LEARNER, AQ_ACCESS_REPLAY},    {AQ_ACCESS_LEARNER, AQ_ACCESS_ACTOR},
    {AQ_ACCESS_LEARNER, AQ_ACCESS_OPERATOR},  {AQ_ACCESS_REPLAY, AQ_ACCESS_LEARNER},
    {AQ_ACCESS_REPLAY, AQ_ACCESS_ACTOR},      {AQ_ACCESS_REPLAY, AQ_ACCESS_OPERATOR},
    {AQ_ACCESS_LEARNER, AQ_ACCESS_EVALUATOR},
};

enum { CALLS_MADE = sizeof(calls_made) / sizeof(calls_made[0]) };

void aq_wipe(void *bytes, size_t size)
{
    explicit_bzero(bytes, size);
}

const char *aq_access_role_name(enum aq_access_role role)
{
    static const char *const names[AQ_ACCESS_ROLE_COUNT] = {
#define AQ_ACCESS_NAME(name, number, text) [number] = (text),
        AQ_ACCESS_ROLE_LIST(AQ_ACCESS_NAME)
#undef AQ_ACCESS_NAME
    };

    return (unsigned)role < AQ_ACCESS_ROLE_COUNT ? names[role] : "unknown";
}

/* A role that a token of its own is made for; AQ_ACCESS_NONE for any other text. */
static enum aq_access_role own_role_from_name(const char *name)
{
    for (int role = AQ_ACCESS_LEARNER; role < AQ_ACCESS_ROLE_COUNT; role++) {
        if (strcmp(aq_access_role_name((enum aq_access_role)role), name) == 0) {
            return (enum aq_access_role)role;
        }
    }
    return AQ_ACCESS_NONE;
}

/* ---- keys ---------------------------------------------------------------------------------- */

static const mbedtls_md_info_t *sha256(void)
{
    const mbedtls_md_info_t *info = mbedtls_md_info_from_type(MBEDTLS_MD_SHA256);

    AQ_ASSERT(info != NULL);
    AQ_ASSERT(mbedtls_md_get_size(info) == AQ_TOKEN_KEY_BYTES);
    return info;
}

/* HMAC of a label. It allocates, so it can fail. */
static int derive(const void *key, size_t key_size, const char *label,
                  uint8_t ret_key[AQ_TOKEN_KEY_BYTES])
{
    int rc =
        mbedtls_md_hmac(sha256(), key, key_size, (const uint8_t *)label, strlen(label), ret_key);

    return rc == 0 ? 0 : AQ_E_NOMEM;
}

static int derive_role_key(const uint8_t master[AQ_TOKEN_KEY_BYTES], enum aq_access_role role,
                           uint8_t ret_key[AQ_TOKEN_KEY_BYTES])
{
    char label[LABEL_MAX];

    snprintf(label, sizeof(label), "actorq role %s", aq_access_role_name(role));
    return derive(master, AQ_TOKEN_KEY_BYTES, label, ret_key);
}

/* What calls to a listener are signed with, from the caller's key. */
static int derive_call_key(const uint8_t caller_key[AQ_TOKEN_KEY_BYTES],
                           enum aq_access_role listener, uint8_t ret_key[AQ_TOKEN_KEY_BYTES])
{
    char label[LABEL_MAX];

    snprintf(label, sizeof(label), "actorq call to %s", aq_access_role_name(listener));
    return derive(caller_key, AQ_TOKEN_KEY_BYTES, label, ret_key);
}

static int derive_seal(const uint8_t key[AQ_TOKEN_KEY_BYTES], const char *label, aq_seal *ret_seal)
{
    uint8_t seal_key[AQ_TOKEN_KEY_BYTES];

    _Static_assert(sizeof(seal_key) >= AQ_SEAL_KEY_BYTES, "one is the beginning of the other");
    int rc = derive(key, AQ_TOKEN_KEY_BYTES, label, seal_key);
    if (rc == 0) {
        aq_seal_init(ret_seal, seal_key);
    }
    aq_wipe(seal_key, sizeof(seal_key));
    return rc;
}

/* All that is derived from what the text says. */
static int derive_all(aq_token *token)
{
    int rc = 0;

    for (int role = AQ_ACCESS_LEARNER; rc == 0 && role <= AQ_ACCESS_REPLAY; role++) {
        call_key *to = &token->to[role];

        rc = derive_call_key(token->key, (enum aq_access_role)role, to->key);
        rc = rc == 0 ? derive_seal(to->key, BODY_LABEL, &to->body) : rc;
    }
    for (int role = 0; rc == 0 && role < AQ_ACCESS_ROLE_COUNT; role++) {
        call_key *of = &token->of[role];

        rc = token->accepts[role] ? derive_seal(of->key, BODY_LABEL, &of->body) : 0;
    }
    return rc;
}

/* ---- text ---------------------------------------------------------------------------------- */

static int hex_digit(char letter)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = letter == '\0' ? NULL : strchr(digits, letter);

    return at == NULL ? -1 : (int)(at - digits);
}

bool aq_token_read_key(const char *text, uint8_t ret_key[AQ_TOKEN_KEY_BYTES])
{
    if (strlen(text) != HEX_BYTES) {
        return false;
    }
    for (size_t i = 0; i < AQ_TOKEN_KEY_BYTES; i++) {
        int high = hex_digit(text[2 * i]);
        int low = hex_digit(text[2 * i + 1]);

        if (high < 0 || low < 0) {
            return false;
        }
        ret_key[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static void write_hex(const uint8_t key[AQ_TOKEN_KEY_BYTES], char ret_text[HEX_BYTES + 1])
{
    for (size_t i = 0; i < AQ_TOKEN_KEY_BYTES; i++) {
        snprintf(ret_text + 2 * i, 3, "%02x", key[i]);
    }
}

/* Takes "role ROLE", "key HEX" or "accept ROLE HEX". */
static bool take_line(aq_token *token, char *line)
{
    char *rest = NULL;
    const char *word = strtok_r(line, " \t\r", &rest);
    const char *first = word == NULL ? NULL : strtok_r(NULL, " \t\r", &rest);
    const char *second = first == NULL ? NULL : strtok_r(NULL, " \t\r", &rest);

    if (word == NULL) {
        return true; /* an empty line */
    }
    if (first == NULL || strtok_r(NULL, " \t\r", &rest) != NULL) {
        return false;
    }
    enum aq_access_role role = own_role_from_name(first);
    if (strcmp(word, "role") == 0 && second == NULL) {
        token->role = role;
        return role != AQ_ACCESS_NONE;
    }
    if (strcmp(word, "key") == 0 && second == NULL) {
        return aq_token_read_key(first, token->key);
    }
    if (strcmp(word, "accept") == 0 && second != NULL && role != AQ_ACCESS_NONE) {
        token->accepts[role] = true;
        return aq_token_read_key(second, token->of[role].key);
    }
    return false;
}

/* `text` is what is behind the words of the first line. */
static int parse_role_lines(aq_token *token, const char *text, aq_error *error)
{
    static const uint8_t no_key[AQ_TOKEN_KEY_BYTES];
    char line[LINE_MAX_BYTES];
    unsigned number = 0;
    int rc = 0;

    while (rc == 0 && *text != '\0') {
        size_t size = strcspn(text, "\n");

        number++;
        if (size >= sizeof(line)) {
            rc = AQ_E_INVALID;
            break;
        }
        memcpy(line, text, size);
        line[size] = '\0';
        rc = take_line(token, line) ? 0 : AQ_E_INVALID;
        text += size + (text[size] == '\n');
    }
    aq_wipe(line, sizeof(line));
    if (rc < 0) {
        return aq_fail(error, rc, "line %u of the token is not one that 'actorq certs' writes",
                       number);
    }
    if (token->role == AQ_ACCESS_NONE || memcmp(token->key, no_key, sizeof(no_key)) == 0) {
        return aq_fail(error, AQ_E_INVALID, "the token has no role or no key");
    }
    return 0;
}

/* How many there are that differ. */
static size_t count_letters(const char *text, size_t size)
{
    size_t count = 0;

    for (size_t i = 0; i < size; i++) {
        count += memchr(text, text[i], i) == NULL;
    }
    return count;
}

static int parse_secret(aq_token *token, const char *text, size_t size, aq_error *error)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\n' || text[i] == '\0') {
            return aq_fail(error, AQ_E_INVALID,
                           "the token is neither one line of text nor what 'actorq certs' writes");
        }
    }
    if (size < AQ_TOKEN_SECRET_MIN) {
        return aq_fail(error, AQ_E_INVALID,
                       "the token has %zu letters; at least %d are asked for, such as of "
                       "'openssl rand -hex 32'",
                       size, AQ_TOKEN_SECRET_MIN);
    }
    if (count_letters(text, size) < AQ_TOKEN_LETTERS_MIN) {
        return aq_fail(error, AQ_E_INVALID,
                       "the token is made of fewer than %d different letters, so it is soon "
                       "guessed; take one such as of 'openssl rand -hex 32'",
                       AQ_TOKEN_LETTERS_MIN);
    }
    token->role = AQ_ACCESS_SHARED;
    token->accepts[AQ_ACCESS_SHARED] = true;
    int rc = derive(text, size, "actorq shared secret", token->key);
    return rc < 0 ? aq_fail(error, rc, "%s", aq_error_text(rc)) : 0;
}

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
}

int aq_token_parse(const char *text, size_t size, aq_token **ret_token, aq_error *error)
{
    static const size_t first_size = sizeof(FIRST_LINE) - 1;
    char copy[AQ_TOKEN_TEXT_MAX + 1];
    int rc;

    while (size > 0 && is_blank(text[size - 1])) {
        size--;
    }
    while (size > 0 && is_blank(text[0])) {
        text++;
        size--;
    }
    if (size > AQ_TOKEN_TEXT_MAX) {
        return aq_fail(error, AQ_E_INVALID, "the token is longer than %d bytes", AQ_TOKEN_TEXT_MAX);
    }
    aq_token *token = aq_alloc(1, sizeof(*token));
    if (token == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s", aq_error_text(AQ_E_NOMEM));
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    if (strncmp(copy, FIRST_LINE, first_size) == 0 && is_blank(copy[first_size])) {
        rc = parse_role_lines(token, copy + first_size, error);
    } else {
        rc = parse_secret(token, copy, size, error);
    }
    aq_wipe(copy, sizeof(copy));
    if (rc == 0 && derive_all(token) != 0) {
        rc = aq_fail(error, AQ_E_NOMEM, "%s", aq_error_text(AQ_E_NOMEM));
    }
    if (rc < 0) {
        aq_token_destroy(token);
        return rc;
    }
    *ret_token = token;
    return 0;
}

void aq_token_destroy(aq_token *token)
{
    if (token != NULL) {
        aq_wipe(token, sizeof(*token));
        aq_free(token);
    }
}

enum aq_access_role aq_token_role(const aq_token *token)
{
    return token->role;
}

bool aq_token_is_for_listening(const aq_token *token)
{
    for (size_t role = 0; role < AQ_ACCESS_ROLE_COUNT; role++) {
        if (token->accepts[role]) {
            return true;
        }
    }
    return false;
}

static int append_line(aq_buffer *out, const char *what, enum aq_access_role role,
                       const uint8_t key[AQ_TOKEN_KEY_BYTES])
{
    char hex[HEX_BYTES + 1];
    char line[LINE_MAX_BYTES];

    write_hex(key, hex);
    if (role == AQ_ACCESS_NONE) {
        snprintf(line, sizeof(line), "%s %s\n", what, hex);
    } else {
        snprintf(line, sizeof(line), "%s %s %s\n", what, aq_access_role_name(role), hex);
    }
    int rc = aq_buffer_append(out, line, strlen(line));
    aq_wipe(line, sizeof(line));
    aq_wipe(hex, sizeof(hex));
    return rc;
}

int aq_token_write_role(const uint8_t master[AQ_TOKEN_KEY_BYTES], enum aq_access_role role,
                        aq_buffer *out)
{
    uint8_t key[AQ_TOKEN_KEY_BYTES];
    char head[LINE_MAX_BYTES];

    snprintf(head, sizeof(head), "%s\nrole %s\n", FIRST_LINE, aq_access_role_name(role));
    int rc = aq_buffer_append(out, head, strlen(head));
    if (rc == 0) {
        rc = derive_role_key(master, role, key);
    }
    if (rc == 0) {
        rc = append_line(out, "key", AQ_ACCESS_NONE, key);
    }
    for (size_t i = 0; rc == 0 && i < CALLS_MADE; i++) {
        if (calls_made[i].listener == role) {
            rc = derive_role_key(master, calls_made[i].caller, key);
            if (rc == 0) {
                rc = derive_call_key(key, role, key);
            }
            if (rc == 0) {
                rc = append_line(out, "accept", calls_made[i].caller, key);
            }
        }
    }
    aq_wipe(key, sizeof(key));
    return rc;
}

/* ---- the proof ----------------------------------------------------------------------------- */

/* What of a call has one length, in a fixed layout. */
enum { FACTS_BYTES = 34, SUM_BYTES = 8 };

static int make_mac(const call_key *key, enum aq_access_role caller, const aq_token_call *call,
                    uint8_t *ret_mac)
{
    size_t method_size = strlen(call->method);
    uint8_t facts[FACTS_BYTES];
    uint8_t sum[SUM_BYTES];
    mbedtls_md_context_t hash;

    facts[0] = (uint8_t)caller;
    facts[1] = (uint8_t)call->listener;
    aq_u64_put(facts + 2, call->instance);
    aq_u64_put(facts + 10, call->issued_ms);
    aq_u64_put(facts + 18, call->request_id);
    aq_u32_put(facts + 26, call->timeout_ms);
    aq_u32_put(facts + 30, (uint32_t)method_size);
    aq_u64_put(sum, aq_seal_sum(&key->body, call->body, call->body_size));
    mbedtls_md_init(&hash);
    int rc = mbedtls_md_setup(&hash, sha256(), 1);
    if (rc == 0) {
        rc = mbedtls_md_hmac_starts(&hash, key->key, sizeof(key->key));
    }
    if (rc == 0) {
        rc = mbedtls_md_hmac_update(&hash, facts, sizeof(facts));
    }
    if (rc == 0) {
        rc = mbedtls_md_hmac_update(&hash, (const uint8_t *)call->method, method_size);
    }
    if (rc == 0) {
        rc = mbedtls_md_hmac_update(&hash, sum, sizeof(sum));
    }
    if (rc == 0) {
        rc = mbedtls_md_hmac_finish(&hash, ret_mac);
    }
    mbedtls_md_free(&hash); /* which wipes it */
    return rc == 0 ? 0 : AQ_E_NOMEM;
}

int aq_token_sign(const aq_token *token, const aq_token_call *call,
                  uint8_t ret_mac[AQ_TOKEN_MAC_BYTES])
{
    if (!aq_access_role_listens(call->listener)) {
        return AQ_E_INVALID;
    }
    return make_mac(&token->to[call->listener], token->role, call, ret_mac);
}

/* In a time that does not tell where they differ. */
static bool are_equal(const uint8_t *one, const uint8_t *other, size_t size)
{
    uint8_t difference = 0;

    for (size_t i = 0; i < size; i++) {
        difference |= (uint8_t)(one[i] ^ other[i]);
    }
    return difference == 0;
}

/* NULL: such a call is never genuine here. */
static const call_key *accepted_key(const aq_token *token, const aq_token_call *call)
{
    if ((unsigned)call->caller >= AQ_ACCESS_ROLE_COUNT || !token->accepts[call->caller]) {
        return NULL;
    }
    if (token->role == AQ_ACCESS_SHARED) {
        return aq_access_role_listens(call->listener) ? &token->to[call->listener] : NULL;
    }
    return call->listener == token->role ? &token->of[call->caller] : NULL;
}

bool aq_token_verify(const aq_token *token, const aq_token_call *call,
                     const uint8_t mac[AQ_TOKEN_MAC_BYTES])
{
    uint8_t expected[AQ_TOKEN_MAC_BYTES];

    const call_key *key = accepted_key(token, call);
    if (key == NULL || make_mac(key, call->caller, call, expected) < 0) {
        return false;
    }
    bool is_genuine = are_equal(expected, mac, sizeof(expected));
    aq_wipe(expected, sizeof(expected));
    return is_genuine;
}

int aq_token_seal(const aq_token *token, aq_seal *ret_seal)
{
    const call_key *key = NULL;

    if (token->role == AQ_ACCESS_REPLAY && token->accepts[AQ_ACCESS_ACTOR]) {
        key = &token->of[AQ_ACCESS_ACTOR];
    } else if (token->role == AQ_ACCESS_ACTOR || token->role == AQ_ACCESS_SHARED) {
        key = &token->to[AQ_ACCESS_REPLAY];
    }
    return key == NULL ? AQ_E_INVALID : derive_seal(key->key, "actorq experience", ret_seal);
}
