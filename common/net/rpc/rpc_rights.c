/*
 * Rights: see rpc_rights.h. docs/security.md has the same table in words, and a test compares them.
 *
 * What a role of its own does not need it may not do. Looking is free for every role that the
 * daemon knows: one that has nothing else to call there (calls_made in token.c) is refused before
 * any row is looked at. Whoever watches without a role asks /metrics.
 */
#include "common/net/rpc/rpc_rights.h"

#include <string.h>

#define PACKAGE "actorq.v1."

enum {
    BY_LEARNER = 1 << AQ_ACCESS_LEARNER,
    BY_REPLAY = 1 << AQ_ACCESS_REPLAY,
    BY_ACTOR = 1 << AQ_ACCESS_ACTOR,
    BY_OPERATOR = 1 << AQ_ACCESS_OPERATOR,
    BY_EVALUATOR = 1 << AQ_ACCESS_EVALUATOR,
    BY_ALL = BY_LEARNER | BY_REPLAY | BY_ACTOR | BY_EVALUATOR | BY_OPERATOR,
};

/* The first row that fits counts; a name that ends in "/" stands for all methods of a service. */
static const struct {
    const char *method;
    unsigned roles;
    enum aq_access_role listener; /* who serves it; NONE: either */
} rows[] = {
    {"Membership/ReportEvaluation", BY_EVALUATOR, AQ_ACCESS_LEARNER},
    {"Membership/", BY_ACTOR | BY_REPLAY | BY_EVALUATOR, AQ_ACCESS_LEARNER},
    {"Policy/Fetch", BY_ACTOR | BY_EVALUATOR | BY_OPERATOR, AQ_ACCESS_LEARNER},
    /* An import sends steps as an actor does. */
    {"Flow/Credit", BY_ACTOR | BY_OPERATOR, AQ_ACCESS_REPLAY},
    {"Sampling/", BY_LEARNER, AQ_ACCESS_REPLAY},
    {"Exchange/", BY_OPERATOR, AQ_ACCESS_REPLAY},
    {"Operations/Status", BY_ALL, AQ_ACCESS_NONE},
    {"Operations/Configure", BY_OPERATOR, AQ_ACCESS_LEARNER},
    {"Operations/Drain", BY_OPERATOR, AQ_ACCESS_LEARNER},
    {"Operations/", BY_OPERATOR, AQ_ACCESS_NONE},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static bool fits(const char *row, const char *method)
{
    size_t size = strlen(row);

    return row[size - 1] == '/' ? strncmp(row, method, size) == 0 : strcmp(row, method) == 0;
}

/* The row of a method; ROWS: there is none. */
static size_t row_of(const char *method)
{
    size_t row = strncmp(method, PACKAGE, sizeof(PACKAGE) - 1) == 0 ? 0 : ROWS;

    while (row < ROWS && !fits(rows[row].method, method + sizeof(PACKAGE) - 1)) {
        row++;
    }
    return row;
}

enum aq_access_role aq_rpc_listener_of(const char *method)
{
    size_t row = row_of(method);

    return row < ROWS ? rows[row].listener : AQ_ACCESS_NONE;
}

bool aq_rpc_may_call(enum aq_access_role role, const char *method)
{
    if (role == AQ_ACCESS_NONE || role == AQ_ACCESS_SHARED) {
        return true; /* nobody is told apart */
    }
    size_t row = row_of(method);
    return (unsigned)role < AQ_ACCESS_ROLE_COUNT && row < ROWS &&
           (rows[row].roles & 1U << role) != 0;
}
