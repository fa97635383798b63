/*
 * Rights: see rpc_rights.h. docs/security.md has the same table in words, and a test compares them.
 *
 * What a role of its own does not need it may not do. Looking is free for every role; whoever
 * watches without one asks /metrics.
 */
#include "common/net/rpc/rpc_rights.h"

#include <string.h>

#define PACKAGE "actorq.v1."

enum {
    BY_LEARNER = 1 << AQ_ACCESS_LEARNER,
    BY_REPLAY = 1 << AQ_ACCESS_REPLAY,
    BY_ACTOR = 1 << AQ_ACCESS_ACTOR,
    BY_OPERATOR = 1 << AQ_ACCESS_OPERATOR,
    BY_ALL = BY_LEARNER | BY_REPLAY | BY_ACTOR | BY_OPERATOR,
};

/* The first row that fits counts; a name that ends in "/" stands for all methods of a service. */
static const struct {
    const char *method;
    unsigned roles;
} rows[] = {
    {"Membership/ReportEvaluation", BY_ACTOR},
    {"Membership/", BY_ACTOR | BY_REPLAY},
    {"Policy/Fetch", BY_ACTOR | BY_OPERATOR},
    {"Flow/Credit", BY_ACTOR | BY_OPERATOR}, /* an import sends steps as an actor does */
    {"Sampling/", BY_LEARNER},
    {"Exchange/", BY_OPERATOR},
    {"Operations/Status", BY_ALL},
    {"Operations/", BY_OPERATOR},
};

static bool fits(const char *row, const char *method)
{
    size_t size = strlen(row);

    return row[size - 1] == '/' ? strncmp(row, method, size) == 0 : strcmp(row, method) == 0;
}

bool aq_rpc_may_call(enum aq_access_role role, const char *method)
{
    if (role == AQ_ACCESS_NONE || role == AQ_ACCESS_SHARED) {
        return true; /* nobody is told apart */
    }
    if ((unsigned)role >= AQ_ACCESS_ROLE_COUNT ||
        strncmp(method, PACKAGE, sizeof(PACKAGE) - 1) != 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (fits(rows[i].method, method + sizeof(PACKAGE) - 1)) {
            return (rows[i].roles & 1U << role) != 0;
        }
    }
    return false;
}
