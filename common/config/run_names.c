/*
 * Run names: the lists as words.
 */
#include "common/config/run_names.h"

#include <string.h>

#define WORD_OF(constant, number, word)                                                            \
    case constant:                                                                                 \
        return word;

const char *aq_role_name(enum aq_role role)
{
    switch (role) {
        AQ_ROLES(WORD_OF)
    case AQ_ROLES_END:
        break;
    }
    return "unknown";
}

const char *aq_run_state_name(enum aq_run_state state)
{
    switch (state) {
        AQ_RUN_STATES(WORD_OF)
    }
    return "unknown";
}

const char *aq_run_state_text(const char *word)
{
    return strcmp(word, aq_run_state_name(AQ_RUN_BUDGET)) == 0 ? "ended at its limit" : word;
}

const char *aq_energy_role_name(uint32_t role)
{
    return role == AQ_ENERGY_LEARNER ? "learner" : aq_role_name((enum aq_role)role);
}
