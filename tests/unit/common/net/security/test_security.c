/*
 * Credentials: what is loaded, and what is refused in words.
 */
#include <sys/stat.h>
#include <time.h>

#include "common/net/security/certs_folder.h"
#include "common/net/security/secret_file.h"
#include "common/sys/file.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/common/net/secure_kit.h"

#define SECRET "correct horse battery staple"

enum { DAY_S = 24 * 3600 };

/* A run's certificates. */
typedef struct run {
    char *certs;
} run;

static void run_setup(run *r)
{
    r->certs = file_folder_make();
    secure_kit_certs(r->certs);
}

static void run_teardown(run *r)
{
    file_folder_remove(r->certs);
}

#define TEST_OF_RUN(name) TEST_IN(run, r, name)

static void expect_refused(const aq_daemon_options *options, enum aq_access_role own,
                           const char *words)
{
    aq_security *security = NULL;
    assert_true(aq_security_load(options, own, &security, &refusal) < 0);
    assert_null(security);
    assert_says(refusal.text, words);
}

static void expect_folder_refused(const char *folder, enum aq_access_role own, const char *words)
{
    expect_refused(&(aq_daemon_options){.certs_dir = folder}, own, words);
}

TEST(without_options_there_is_none)
{
    const aq_daemon_options options = {0};
    aq_security *security = NULL;
    assert_int_equal(aq_security_load(&options, AQ_ACCESS_LEARNER, &security, NULL), 0);
    assert_null(security);
    assert_false(aq_security_has_tls(NULL));
    assert_null(aq_security_token(NULL));
    assert_string_equal(aq_security_text(NULL), "none");
}

TEST_OF_RUN(every_role_loads_its_folder)
{
    for (int role = AQ_ACCESS_LEARNER; role < AQ_ACCESS_ROLE_COUNT; role++) {
        aq_security *security = secure_kit_load(r->certs, (enum aq_access_role)role);
        int64_t left_s = aq_security_expires_s(security) - (int64_t)time(NULL);
        assert_true(aq_security_has_tls(security));
        assert_string_equal(aq_security_text(security), "tls+token");
        assert_int_equal(aq_token_role(aq_security_token(security)), role);
        assert_true(left_s > 6 * DAY_S);
        assert_true(left_s <= 7 * DAY_S);
    }
}

TEST_OF_RUN(a_folder_without_a_token_is_tls_alone)
{
    assert_int_equal(unlink(file_in(r->certs, "actor/token")), 0);
    aq_security *security = secure_kit_load(r->certs, AQ_ACCESS_ACTOR);
    assert_string_equal(aq_security_text(security), "tls");
}

TEST_OF_RUN(a_token_that_is_a_link_to_nothing_is_refused)
{
    const char *token = file_in(r->certs, "replay/token");
    assert_int_equal(unlink(token), 0);
    assert_int_equal(symlink("nothing", token), 0);
    expect_folder_refused(file_in(r->certs, "replay"), AQ_ACCESS_REPLAY, "/token: No such file");
}

TEST_OF_RUN(another_roles_token_is_refused)
{
    for (int held = AQ_ACCESS_LEARNER; held < AQ_ACCESS_ROLE_COUNT; held++) {
        const char *folder = file_in(r->certs, aq_access_role_name((enum aq_access_role)held));
        for (int own = AQ_ACCESS_LEARNER; own <= AQ_ACCESS_EVALUATOR; own++) {
            if (own != held && own != AQ_ACCESS_OPERATOR) {
                expect_folder_refused(folder, (enum aq_access_role)own,
                                      "/token is the token of the role");
                assert_says(refusal.text, aq_access_role_name((enum aq_access_role)own));
            }
        }
    }
}

TEST_OF_RUN(a_token_that_lets_nobody_call_is_refused)
{
    secure_kit_write(file_in(r->certs, "replay"), "token",
                     "actorq-token 1\nrole replay\nkey "
                     "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n",
                     0600);
    expect_folder_refused(file_in(r->certs, "replay"), AQ_ACCESS_REPLAY, "names no role");
}

TEST_OF_RUN(an_actors_certificate_cannot_listen)
{
    const char *actor = file_in(r->certs, "actor");
    assert_int_equal(unlink(file_in(actor, "token")), 0);
    expect_folder_refused(actor, AQ_ACCESS_LEARNER, "is not made out to the name");
}

TEST_OF_RUN(files_that_are_missing_are_named)
{
    static const char *const names[] = {"cert.pem", "ca.pem", "key.pem"};
    const char *folder = file_in(r->certs, "replay");
    for (size_t i = 0; i < 3; i++) {
        const char *kept = file_in(folder, "kept");
        assert_int_equal(rename(file_in(folder, names[i]), kept), 0);
        expect_folder_refused(folder, AQ_ACCESS_REPLAY, names[i]);
        assert_int_equal(rename(kept, file_in(folder, names[i])), 0);
    }
    expect_folder_refused("/nonexistent", AQ_ACCESS_ACTOR, "/nonexistent/");
}

TEST_OF_RUN(files_that_are_no_such_thing_are_named)
{
    const char *folder = file_in(r->certs, "replay");
    secure_kit_write(folder, "key.pem", "-----BEGIN NOTHING-----\n", 0600);
    expect_folder_refused(folder, AQ_ACCESS_REPLAY, "key.pem holds no unencrypted private key");
    secure_kit_write(folder, "cert.pem", "", 0600);
    expect_folder_refused(folder, AQ_ACCESS_REPLAY, "cert.pem holds no certificate");
    secure_kit_write(folder, "token", "actorq-token 1\nrole king\n", 0600);
    expect_folder_refused(folder, AQ_ACCESS_REPLAY, "token: line 2");
}

TEST_OF_RUN(a_key_of_another_certificate_is_refused)
{
    const char *folder = file_in(r->certs, "replay");
    assert_int_equal(rename(file_in(r->certs, "learner/key.pem"), file_in(folder, "key.pem")), 0);
    expect_folder_refused(folder, AQ_ACCESS_REPLAY, "is not the key of cert.pem");
}

TEST_OF_RUN(a_certificate_of_another_authority_is_refused)
{
    const char *foreign = file_folder();
    secure_kit_certs(foreign);
    const char *folder = file_in(r->certs, "replay");
    assert_int_equal(rename(file_in(foreign, "replay/ca.pem"), file_in(folder, "ca.pem")), 0);
    expect_folder_refused(folder, AQ_ACCESS_REPLAY, "not signed by the authority");
}

/* Made so much before now, for a week. */
static const char *certs_aged(int64_t age_s)
{
    const char *folder = file_folder();
    assert_succeeds(aq_certs_folder_make(folder, (int64_t)time(NULL) - age_s, 7, &refusal));
    return folder;
}

TEST(a_certificate_out_of_its_time_is_refused)
{
    const char *old = certs_aged(8 * DAY_S);
    expect_folder_refused(file_in(old, "learner"), AQ_ACCESS_LEARNER, "has expired");
    expect_folder_refused(file_in(certs_aged(-2 * DAY_S), "learner"), AQ_ACCESS_LEARNER,
                          "not valid yet");
    assert_int_equal(aq_certs_folder_renew(old, (int64_t)time(NULL), 7, NULL), 0);
    (void)secure_kit_load(old, AQ_ACCESS_LEARNER);
}

TEST(nothing_is_renewed_for_longer_than_its_authority_lasts)
{
    const int64_t now_s = (int64_t)time(NULL);
    const char *old = certs_aged(3600 * DAY_S);
    assert_refused(aq_certs_folder_renew(old, now_s, 365, &refusal), AQ_E_INVALID,
                   "valid for 50 more days");
    assert_succeeds(aq_certs_folder_renew(old, now_s, 49, &refusal));
    assert_refused(aq_certs_folder_renew(certs_aged(3651 * DAY_S), now_s, 7, &refusal),
                   AQ_E_INVALID, "come to its end");
}

TEST(a_role_that_lost_its_token_gets_it_again)
{
    const char *folder = certs_aged(0);
    const char *token = file_in(folder, "actor/token");
    aq_buffer *before = buffer_up_to(4096), *after = buffer_up_to(4096);
    assert_int_equal(aq_file_read(token, before, NULL), 0);
    assert_int_equal(unlink(token), 0);
    assert_succeeds(aq_certs_folder_renew(folder, (int64_t)time(NULL), 7, &refusal));
    assert_int_equal(aq_file_read(token, after, NULL), 0);
    assert_same_buffers(before, after);
    (void)secure_kit_load(folder, AQ_ACCESS_ACTOR);
}

/* ---- who may read -------------------------------------------------------------------------- */

TEST_OF_RUN(a_secret_that_others_may_read_is_refused)
{
    static const unsigned refused[] = {0644, 0604, 0620, 0602, 0660, 0601, 0666};
    static const unsigned taken[] = {0600, 0400, 0700};
    aq_secret secret = {0};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        secure_kit_write(r->certs, "secret", SECRET, refused[i]);
        assert_refused(aq_secret_read(file_in(r->certs, "secret"), 100, &secret, &refusal),
                       AQ_E_INVALID, "chmod 600");
        assert_null(strstr(refusal.text, "horse"));
    }
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
        secure_kit_write(r->certs, "secret", SECRET, taken[i]);
        assert_succeeds(aq_secret_read(file_in(r->certs, "secret"), 100, &secret, &refusal));
        assert_string_equal(secret.text, SECRET);
        assert_int_equal(secret.size, strlen(SECRET));
        aq_secret_wipe(&secret);
        assert_null(secret.text);
    }
}

/* As containers mount them. */
TEST_OF_RUN(roots_secret_may_be_read_by_its_group)
{
    aq_secret secret = {0};
    bool is_root = geteuid() == 0;
    secure_kit_write(r->certs, "secret", SECRET, 0440);
    assert_int_equal(aq_secret_read(file_in(r->certs, "secret"), 100, &secret, NULL),
                     is_root ? 0 : AQ_E_INVALID);
    aq_secret_wipe(&secret);
}

TEST_OF_RUN(what_is_no_file_or_too_long_is_refused)
{
    aq_secret secret = {0};
    assert_int_equal(aq_secret_read(r->certs, 100, &secret, NULL), AQ_E_INVALID);
    secure_kit_write(r->certs, "secret", SECRET, 0600);
    assert_int_equal(aq_secret_read(file_in(r->certs, "secret"), strlen(SECRET) - 1, &secret, NULL),
                     AQ_E_TOO_BIG);
    assert_int_equal(aq_secret_read(file_in(r->certs, "nothing"), 100, &secret, NULL),
                     AQ_E_NOT_FOUND);
    assert_null(secret.text);
}

TEST(a_daemon_takes_the_secret_out_of_its_environment)
{
    const aq_daemon_options options = {0};
    aq_security *security = NULL;
    assert_int_equal(setenv("ACTORQ_TOKEN", SECRET, 1), 0);
    assert_int_equal(aq_security_load(&options, AQ_ACCESS_NONE, &security, NULL), 0);
    assert_string_equal(aq_security_text(security), "token");
    aq_security_destroy(security);
    assert_string_equal(getenv("ACTORQ_TOKEN"), SECRET);
    assert_int_equal(aq_security_load(&options, AQ_ACCESS_LEARNER, &security, NULL), 0);
    assert_string_equal(aq_security_text(security), "token");
    aq_security_destroy(security);
    assert_null(getenv("ACTORQ_TOKEN"));
}

TEST_OF_RUN(a_token_file_wins_and_must_be_there)
{
    aq_security *security;
    secure_kit_write(r->certs, "secret", SECRET, 0600);
    const char *path = file_in(r->certs, "secret");
    assert_int_equal(setenv("ACTORQ_TOKEN", "another secret of somebody else", 1), 0);
    assert_int_equal(
        aq_security_load(
            &(aq_daemon_options){.token_file = path, .certs_dir = file_in(r->certs, "learner")},
            AQ_ACCESS_LEARNER, &security, NULL),
        0);
    assert_int_equal(aq_token_role(aq_security_token(security)), AQ_ACCESS_SHARED);
    assert_null(getenv("ACTORQ_TOKEN")); /* for nobody that it starts to read */
    aq_security_destroy(security);
    expect_refused(&(aq_daemon_options){.token_file = "/nonexistent"}, AQ_ACCESS_ACTOR,
                   "/nonexistent");
}

/* ---- listening ----------------------------------------------------------------------------- */

TEST(listening_in_the_open_needs_protection_or_consent)
{
    aq_security *security = secure_kit_shared(SECRET, AQ_ACCESS_LEARNER);
    assert_refused(aq_security_may_listen(NULL, "tcp://0.0.0.0:5550", false, &refusal),
                   AQ_E_INVALID, "--certs");
    assert_says(refusal.text, "--insecure");
    assert_int_equal(aq_security_may_listen(NULL, "tcp://10.0.0.3:5550", false, &refusal),
                     AQ_E_INVALID);
    assert_succeeds(aq_security_may_listen(NULL, "tcp://0.0.0.0:5550", true, &refusal));
    assert_succeeds(aq_security_may_listen(security, "tcp://0.0.0.0:5550", false, &refusal));
    assert_succeeds(aq_security_may_listen(NULL, "tcp://127.0.0.1:5550", false, &refusal));
    assert_succeeds(aq_security_may_listen(NULL, "ipc:///tmp/x", false, &refusal));
}

/* ---- the folder ---------------------------------------------------------------------------- */

static void expect_mode(const char *path, unsigned mode)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, mode);
}

TEST_OF_RUN(what_certs_makes_is_its_owners_alone)
{
    static const char *const files[] = {"learner/key.pem",      "learner/token",
                                        "actor/ca.pem",         "operator/cert.pem",
                                        "authority/ca-key.pem", "authority/master"};
    expect_mode(file_in(r->certs, "learner"), 0700);
    expect_mode(file_in(r->certs, "authority"), 0700);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        expect_mode(file_in(r->certs, files[i]), 0600);
    }
}

TEST_OF_RUN(certs_writes_over_nothing)
{
    assert_refused(aq_certs_folder_make(r->certs, (int64_t)time(NULL), 7, &refusal), AQ_E_EXISTS,
                   "--renew");
    assert_int_equal(aq_certs_folder_renew("/nonexistent", (int64_t)time(NULL), 7, &refusal),
                     AQ_E_NOT_FOUND);
    assert_true(aq_certs_folder_make("/nonexistent/certs", (int64_t)time(NULL), 7, &refusal) < 0);
}
