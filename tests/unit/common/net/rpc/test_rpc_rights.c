/*
 * Rights: the table against the services that there are, and against what security.md says.
 */
#include "common/net/rpc/rpc_rights.h"
#include "proto/exchange.pb-c.h"
#include "proto/experience.pb-c.h"
#include "proto/membership.pb-c.h"
#include "proto/operations.pb-c.h"
#include "proto/policy.pb-c.h"
#include "proto/sampling.pb-c.h"
#include "tests/support/test.h"

enum { METHOD_TEXT_MAX = 128, DOCUMENT_MAX = 1 << 17 };

static const ProtobufCServiceDescriptor *const services[] = {
    &actorq__v1__exchange__descriptor,   &actorq__v1__flow__descriptor,
    &actorq__v1__membership__descriptor, &actorq__v1__operations__descriptor,
    &actorq__v1__policy__descriptor,     &actorq__v1__sampling__descriptor,
};

static const enum aq_access_role roles[] = {AQ_ACCESS_LEARNER, AQ_ACCESS_REPLAY, AQ_ACCESS_ACTOR,
                                            AQ_ACCESS_EVALUATOR, AQ_ACCESS_OPERATOR};

enum { ROLE_COUNT = sizeof(roles) / sizeof(roles[0]) };

typedef void (*method_fn)(const char *service, const char *method);

static void for_each_method(method_fn look)
{
    for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++) {
        for (unsigned k = 0; k < services[i]->n_methods; k++) {
            look(services[i]->name, services[i]->methods[k].name);
        }
    }
}

static bool may_call(enum aq_access_role role, const char *service, const char *method)
{
    char name[METHOD_TEXT_MAX];
    snprintf(name, sizeof(name), "%s/%s", service, method);
    return aq_rpc_may_call(role, name);
}

static void expect_somebody(const char *service, const char *method)
{
    for (size_t i = 0; i < ROLE_COUNT; i++) {
        if (may_call(roles[i], service, method)) {
            return;
        }
    }
    fail_msg("%s/%s may be called by nobody", service, method);
}

TEST(every_method_may_be_called_by_some_role)
{
    for_each_method(expect_somebody);
}

TEST(only_an_operator_steers)
{
    const ProtobufCServiceDescriptor *operations = &actorq__v1__operations__descriptor;
    for (unsigned k = 0; k < operations->n_methods; k++) {
        const char *method = operations->methods[k].name;
        bool is_status = strcmp(method, "Status") == 0;
        for (size_t i = 0; i < ROLE_COUNT; i++) {
            assert_int_equal(may_call(roles[i], operations->name, method),
                             is_status || roles[i] == AQ_ACCESS_OPERATOR);
        }
    }
}

static void expect_shared_may(const char *service, const char *method)
{
    assert_true(may_call(AQ_ACCESS_SHARED, service, method));
    assert_true(may_call(AQ_ACCESS_NONE, service, method));
}

TEST(a_shared_secret_gives_all_rights)
{
    for_each_method(expect_shared_may);
}

TEST(what_no_row_names_nobody_may_call)
{
    for (size_t i = 0; i < ROLE_COUNT; i++) {
        assert_false(aq_rpc_may_call(roles[i], "actorq.v1.Secrets/Tell"));
        assert_false(aq_rpc_may_call(roles[i], "actorq.v1.Policy/Fetc"));
        assert_false(aq_rpc_may_call(roles[i], "actorq.v1.Policy/Fetch/"));
        assert_false(aq_rpc_may_call(roles[i], "actorq.v2.Policy/Fetch"));
        assert_false(aq_rpc_may_call(roles[i], "Policy/Fetch"));
        assert_false(aq_rpc_may_call(roles[i], ""));
    }
    assert_false(aq_rpc_may_call((enum aq_access_role)40, "actorq.v1.Operations/Status"));
}

/* ---- the document -------------------------------------------------------------------------- */

static char *document;

static char *read_document(void)
{
    FILE *file = fopen(AQ_TEST_SOURCE_ROOT "/docs/security.md", "r");
    assert_non_null(file);
    document = calloc(1, DOCUMENT_MAX);
    assert_non_null(document);
    assert_in_range(fread(document, 1, DOCUMENT_MAX - 1, file), 1, DOCUMENT_MAX - 2);
    assert_int_equal(fclose(file), 0);
    return document;
}

/* Rows are "| `Service/Method` | learner | replay | actor | evaluator | operator |", with yes or
 * nothing. */
static void expect_row(const char *service, const char *method)
{
    const char *short_service = strrchr(service, '.') + 1;
    char row[METHOD_TEXT_MAX];
    snprintf(row, sizeof(row), "| `%s/%s` |", short_service, method);
    const char *at = strstr(document, row);
    if (at == NULL) {
        fail_msg("docs/security.md has no row for %s/%s", short_service, method);
    }
    at += strlen(row) - 1;
    for (size_t i = 0; i < ROLE_COUNT; i++) {
        bool says_yes = strncmp(at, "| yes ", 6) == 0;
        if (says_yes != may_call(roles[i], service, method)) {
            fail_msg("docs/security.md is wrong about %s/%s and the role %s", short_service, method,
                     aq_access_role_name(roles[i]));
        }
        at = strchr(at + 1, '|');
        assert_non_null(at);
    }
}

TEST_OF(the_document_says_the_same, char *text, read_document(), free)
{
    for_each_method(expect_row);
}
