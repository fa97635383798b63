/*
 * Library words: see library_words.h.
 */
#include "library/library_words.h"

#include <string.h>

#define IS_PUBLIC(name, code, text) &&ACTORQ_E_##name == (code)
_Static_assert(true AQ_ERROR_LIST(IS_PUBLIC), "the public codes are ours, all of them");
#undef IS_PUBLIC
_Static_assert((int)ACTORQ_BOX == (int)AQ_SPACE_BOX &&
                   (int)ACTORQ_DISCRETE == (int)AQ_SPACE_DISCRETE &&
                   (int)ACTORQ_F32 == (int)AQ_DTYPE_F32 && (int)ACTORQ_U8 == (int)AQ_DTYPE_U8 &&
                   (int)ACTORQ_RANK_MAX == (int)AQ_SHAPE_RANK_MAX &&
                   (int)ACTORQ_BOUNDS_MAX == (int)AQ_BOUNDS_MAX,
               "and so are spaces");

const char *actorq_version(void)
{
    return AQ_VERSION;
}

int aq_library_tell(int rc, const aq_error *problem, actorq_error *error)
{
    if (rc != 0 && error != NULL) {
        error->code = rc;
        memcpy(error->text, problem->text, sizeof(error->text));
    }
    return rc;
}

int aq_library_need(const aq_library_given *given, aq_error *error)
{
    while (given->name != NULL && given->at != NULL) {
        given++;
    }
    return given->name == NULL ? 0 : aq_fail(error, AQ_E_INVALID, "%s is NULL", given->name);
}

actorq_space aq_library_space(const aq_space *space)
{
    actorq_space out = {
        .kind = space->kind,
        .dtype = space->dtype,
        .rank = space->rank,
        .choice_count = space->choice_count,
        .bound_count = space->bound_count,
    };
    memcpy(out.shape, space->shape, sizeof(out.shape));
    memcpy(out.low, space->low, sizeof(out.low));
    memcpy(out.high, space->high, sizeof(out.high));
    return out;
}
