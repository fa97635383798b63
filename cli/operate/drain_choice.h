/*
 * Drain choice: which members of a run a name on the command line means.
 */
#ifndef AQ_CLI_OPERATE_DRAIN_CHOICE_H
#define AQ_CLI_OPERATE_DRAIN_CHOICE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "proto/operations.pb-c.h"

typedef struct aq_drain_choice {
    struct {
        uint64_t member;
        char name[24]; /* "actor-3" */
    } * members;
    size_t count;
} aq_drain_choice;

/* `name` is "actor-3", a member number, or a role for all that have it.
 * AQ_E_INVALID, AQ_E_NOT_FOUND, with those that there are; AQ_E_NOMEM. Release with
 * aq_drain_choice_fini, also after a failure. */
int aq_drain_choice_make(aq_drain_choice *choice, const char *name,
                         const Actorq__V1__StatusReply *status, aq_error *error) AQ_MUST_USE;
void aq_drain_choice_fini(aq_drain_choice *choice);

/* How many of them are still in the run. */
size_t aq_drain_choice_left(const aq_drain_choice *choice, const Actorq__V1__StatusReply *status);

#endif
