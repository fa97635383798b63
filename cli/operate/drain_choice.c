/*
 * Drain choice: see drain_choice.h.
 */
#include "cli/operate/drain_choice.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/config/run_names.h"

enum { NAME_BYTES = 24, LISTED_BYTES = 256 };

static const char *name_of(const Actorq__V1__MemberStatus *member, char name[NAME_BYTES])
{
    (void)snprintf(name, NAME_BYTES, "%s-%" PRIu32, aq_role_name((enum aq_role)member->role),
                   member->slot);
    return name;
}

/* "actor-0, actor-1, replay-0", cut to fit. */
static const char *list_members(const Actorq__V1__StatusReply *status, char *out)
{
    char name[NAME_BYTES];
    out[0] = '\0';
    for (size_t i = 0; i < status->n_members; i++) {
        (void)name_of(status->members[i], name);
        if (strlen(out) + strlen(name) + sizeof(", ...") >= LISTED_BYTES) {
            aq_text_append(out, LISTED_BYTES, ", ...");
            break;
        }
        aq_text_append(out, LISTED_BYTES, "%s%s", i > 0 ? ", " : "", name);
    }
    return status->n_members > 0 ? out : "nobody";
}

static bool is_meant(const Actorq__V1__MemberStatus *member, const char *name)
{
    char own[NAME_BYTES];
    uint64_t number = 0;
    if (aq_parse_u64(name, &number) == 0) {
        return member->member == number;
    }
    return strcmp(aq_role_name((enum aq_role)member->role), name) == 0 ||
           strcmp(name_of(member, own), name) == 0;
}

int aq_drain_choice_make(aq_drain_choice *choice, const char *name,
                         const Actorq__V1__StatusReply *status, aq_error *error)
{
    char listed[LISTED_BYTES];
    *choice = (aq_drain_choice){0};
    if (!status->learner) {
        return aq_fail(error, AQ_E_INVALID,
                       "this is no learner; give the learner's URL, or use 'actorq stop' to stop "
                       "this daemon alone");
    }
    choice->members = aq_alloc(status->n_members, sizeof(choice->members[0]));
    if (!choice->members) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    for (size_t i = 0; i < status->n_members; i++) {
        const Actorq__V1__MemberStatus *member = status->members[i];
        if (is_meant(member, name)) {
            choice->members[choice->count].member = member->member;
            (void)name_of(member, choice->members[choice->count].name);
            choice->count++;
        }
    }
    if (choice->count == 0) {
        return aq_fail(error, AQ_E_NOT_FOUND, "'%s' is not in the run; in the run: %s", name,
                       list_members(status, listed));
    }
    return 0;
}

void aq_drain_choice_fini(aq_drain_choice *choice)
{
    aq_free(choice->members);
    *choice = (aq_drain_choice){0};
}

size_t aq_drain_choice_left(const aq_drain_choice *choice, const Actorq__V1__StatusReply *status)
{
    size_t left = 0;
    for (size_t i = 0; i < choice->count; i++) {
        for (size_t k = 0; k < status->n_members; k++) {
            left += status->members[k]->member == choice->members[i].member;
        }
    }
    return left;
}
