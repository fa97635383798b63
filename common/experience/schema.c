/*
 * Checks, sizes and the hash of a schema. Everything here is safe on a schema that came from a peer
 * and was not checked yet: counts are clamped before they index an array.
 */
#include "common/experience/schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/fnv1a.h"
#include "common/base/parse.h"

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

void aq_space_init_box(aq_space *space, uint32_t count, const float *low, const float *high)
{
    AQ_ASSERT(count >= 1);
    AQ_ASSERT(count <= AQ_BOUNDS_MAX);
    memset(space, 0, sizeof(*space));
    space->kind = AQ_SPACE_BOX;
    space->dtype = AQ_DTYPE_F32;
    space->rank = 1;
    space->shape[0] = count;
    space->bound_count = count;
    memcpy(space->low, low, count * sizeof(*low));
    memcpy(space->high, high, count * sizeof(*high));
}

void aq_space_init_discrete(aq_space *space, uint32_t choice_count)
{
    memset(space, 0, sizeof(*space));
    space->kind = AQ_SPACE_DISCRETE;
    space->dtype = AQ_DTYPE_F32;
    space->choice_count = choice_count;
}

void aq_space_init_choices(aq_space *space, uint32_t count, const uint32_t *choice_counts)
{
    const float zeros[AQ_BOUNDS_MAX] = {0};
    aq_space_init_box(space, count, zeros, zeros);
    space->kind = AQ_SPACE_DISCRETE;
    for (uint32_t i = 0; i < count; i++) {
        space->high[i] = (float)choice_counts[i] - 1.0f;
    }
}

uint32_t aq_space_choices_all(const aq_space *space)
{
    const uint32_t count = (uint32_t)aq_space_elements(space);
    uint32_t all = 0;
    for (uint32_t i = 0; i < count; i++) {
        all += aq_space_choices(space, i);
    }
    return all;
}

bool aq_space_has(const aq_space *space, const int32_t *choices)
{
    const size_t elements = aq_space_elements(space);
    bool has = true;
    for (size_t i = 0; i < elements; i++) {
        has &= (uint32_t)choices[i] < aq_space_choices(space, i); /* below 0, too */
    }
    return has;
}

size_t aq_space_elements(const aq_space *space)
{
    size_t elements = 1;
    for (uint32_t i = 0; i < smaller(space->rank, AQ_SHAPE_RANK_MAX); i++) {
        if (__builtin_mul_overflow(elements, (size_t)space->shape[i], &elements)) {
            return SIZE_MAX;
        }
    }
    return elements;
}

bool aq_space_is_picture(const aq_space *space, aq_picture_shape *ret_shape)
{
    if (space->kind != AQ_SPACE_BOX || (space->rank != 2 && space->rank != 3)) {
        return false;
    }
    *ret_shape = (aq_picture_shape){.height = space->shape[0],
                                    .width = space->shape[1],
                                    .channels = space->rank == 3 ? space->shape[2] : 1};
    return true;
}

size_t aq_space_bytes(const aq_space *space)
{
    size_t bytes;
    const bool is_bytes = space->kind == AQ_SPACE_BOX && space->dtype == AQ_DTYPE_U8;
    const size_t element_bytes = is_bytes ? sizeof(uint8_t) : sizeof(float);
    _Static_assert(sizeof(int32_t) == sizeof(float), "a choice takes what a number takes");
    if (__builtin_mul_overflow(aq_space_elements(space), element_bytes, &bytes)) {
        return SIZE_MAX;
    }
    return bytes;
}

bool aq_space_is_bounded(const aq_space *space)
{
    for (uint32_t i = 0; i < space->bound_count; i++) {
        if (!isfinite(space->high[i] - space->low[i])) {
            return false;
        }
    }
    return true;
}

static int validate_bounds(const aq_space *space, const char *name, aq_error *error)
{
    if (space->bound_count == 0 || space->bound_count > AQ_BOUNDS_MAX ||
        (space->bound_count != 1 && space->bound_count != aq_space_elements(space))) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "%s: %u bounds for a box of %zu elements; one for all, or one each up to %d",
                       name, space->bound_count, aq_space_elements(space), AQ_BOUNDS_MAX);
    }
    for (uint32_t i = 0; i < space->bound_count; i++) {
        float low = space->low[i], high = space->high[i];
        if (isnan(low) || isnan(high)) {
            return aq_fail(error, AQ_E_SCHEMA, "%s: bound %u is not a number", name, i);
        }
        if (low > high || low == INFINITY || high == -INFINITY) {
            return aq_fail(error, AQ_E_SCHEMA, "%s: bound %u: no value lies between %g and %g",
                           name, i, (double)low, (double)high);
        }
    }
    return 0;
}

static int validate_box(const aq_space *space, const char *name, aq_error *error)
{
    if (space->dtype != AQ_DTYPE_F32 && space->dtype != AQ_DTYPE_U8) {
        return aq_fail(error, AQ_E_SCHEMA, "%s: unknown element type %u", name, space->dtype);
    }
    if (space->rank < 1 || space->rank > AQ_SHAPE_RANK_MAX) {
        return aq_fail(error, AQ_E_SCHEMA, "%s: a box of %u dimensions; 1 to %d are possible", name,
                       space->rank, AQ_SHAPE_RANK_MAX);
    }
    for (uint32_t i = 0; i < space->rank; i++) {
        if (space->shape[i] == 0) {
            return aq_fail(error, AQ_E_SCHEMA, "%s: dimension %u is empty", name, i);
        }
    }
    if (aq_space_elements(space) > AQ_SPACE_ELEMENTS_MAX) {
        return aq_fail(error, AQ_E_SCHEMA, "%s: more than %u elements", name,
                       AQ_SPACE_ELEMENTS_MAX);
    }
    if (space->frames != 0 && (space->frames == 1 || space->frames > AQ_FRAMES_MAX ||
                               space->shape[space->rank - 1] % space->frames != 0)) {
        return aq_fail(error, AQ_E_SCHEMA, "%s: an axis of %u is no stack of %u frames", name,
                       space->shape[space->rank - 1], space->frames);
    }
    return validate_bounds(space, name, error);
}

static int validate_row(const aq_space *space, const char *name, aq_error *error)
{
    double all = 0;
    if (space->rank != 1 || space->shape[0] < 1 || space->shape[0] > AQ_BOUNDS_MAX ||
        space->bound_count != space->shape[0]) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "%s: several choices are a row of 1 to %d, with bounds for each", name,
                       AQ_BOUNDS_MAX);
    }
    for (uint32_t i = 0; i < space->bound_count; i++) {
        const float last = space->high[i];
        if (space->low[i] != 0.0f || !(last >= 0.0f && last < (float)AQ_SPACE_ELEMENTS_MAX) ||
            last != floorf(last)) {
            return aq_fail(error, AQ_E_SCHEMA,
                           "%s: choice %u from %g to %g; from 0 to %u are "
                           "possible",
                           name, i, (double)space->low[i], (double)last, AQ_SPACE_ELEMENTS_MAX - 1);
        }
        all += (double)last + 1.0;
    }
    if (all > (double)AQ_SPACE_ELEMENTS_MAX) {
        return aq_fail(error, AQ_E_SCHEMA, "%s: more than %u choices", name, AQ_SPACE_ELEMENTS_MAX);
    }
    return 0;
}

int aq_space_validate(const aq_space *space, const char *name, aq_error *error)
{
    if (space->kind == AQ_SPACE_BOX) {
        return validate_box(space, name, error);
    }
    if (space->kind != AQ_SPACE_DISCRETE) {
        return aq_fail(error, AQ_E_SCHEMA, "%s: unknown kind of space %u", name, space->kind);
    }
    if (space->rank > 0) {
        return validate_row(space, name, error);
    }
    if (space->choice_count == 0 || space->choice_count > AQ_SPACE_ELEMENTS_MAX) {
        return aq_fail(error, AQ_E_SCHEMA, "%s: %u choices; 1 to %u are possible", name,
                       space->choice_count, AQ_SPACE_ELEMENTS_MAX);
    }
    return 0;
}

int aq_schema_validate(const aq_schema *schema, aq_error *error)
{
    int rc = aq_space_validate(&schema->obs, "observation", error);
    if (rc == 0) {
        rc = aq_space_validate(&schema->action, "action", error);
    }
    if (rc == 0 && schema->action.frames != 0) {
        rc = aq_fail(error, AQ_E_SCHEMA, "action: observations alone are stacks of frames");
    }
    if (rc == 0 && aq_space_is_several(&schema->obs)) {
        rc = aq_fail(error, AQ_E_SCHEMA, "observation: actions alone are several choices at once");
    }
    return rc;
}

/* -0 and +0 are the same bound, so they hash the same. */
static uint64_t hash_bound(uint64_t hash, float bound)
{
    uint32_t bits;
    float canonical = bound == 0.0f ? 0.0f : bound;
    memcpy(&bits, &canonical, sizeof(bits));
    return aq_fnv1a_word(hash, bits);
}

/* So that nothing else gives the same words. */
enum { HASH_FRAMES = 0x66720000, HASH_SEVERAL = 0x73760000 };

/* Each part of varying length comes after that length, so two schemas never give the same words. */
static uint64_t hash_space(uint64_t hash, const aq_space *space)
{
    hash = aq_fnv1a_word(hash, space->kind);
    if (space->kind == AQ_SPACE_DISCRETE && space->rank == 0) {
        return aq_fnv1a_word(hash, space->choice_count);
    }
    hash = aq_fnv1a_word(hash, space->kind == AQ_SPACE_BOX ? space->dtype : HASH_SEVERAL);
    hash = aq_fnv1a_word(hash, space->rank);
    for (uint32_t i = 0; i < smaller(space->rank, AQ_SHAPE_RANK_MAX); i++) {
        hash = aq_fnv1a_word(hash, space->shape[i]);
    }
    hash = aq_fnv1a_word(hash, space->bound_count);
    for (uint32_t i = 0; i < smaller(space->bound_count, AQ_BOUNDS_MAX); i++) {
        hash = hash_bound(hash, space->low[i]);
        hash = hash_bound(hash, space->high[i]);
    }
    if (space->frames != 0) {
        hash = aq_fnv1a_word(hash, HASH_FRAMES + space->frames);
    }
    return hash;
}

uint64_t aq_schema_hash(const aq_schema *schema)
{
    return aq_fnv1a_end(hash_space(hash_space(AQ_FNV1A_START, &schema->obs), &schema->action));
}

enum { SPACE_TEXT_MAX = 80 }; /* "box f32[" and four numbers of ten digits */

/* Of a row the first few. */
static void choices_text(const aq_space *space, char *out, size_t size)
{
    enum { SHOWN_MAX = 7 };
    const uint32_t count = (uint32_t)aq_space_elements(space);
    snprintf(out, size, "discrete");
    for (uint32_t i = 0; i < smaller(count, SHOWN_MAX); i++) {
        aq_text_append(out, size, i == 0 ? " %u" : ",%u", aq_space_choices(space, i));
    }
    aq_text_append(out, size, "%s", count > SHOWN_MAX ? ",..." : "");
}

static void space_text(const aq_space *space, char *out, size_t size)
{
    if (space->kind == AQ_SPACE_DISCRETE) {
        choices_text(space, out, size);
        return;
    }
    const char *dtype = space->dtype == AQ_DTYPE_F32  ? "f32"
                        : space->dtype == AQ_DTYPE_U8 ? "u8"
                                                      : "?";
    snprintf(out, size, "box %s[", dtype);
    for (uint32_t i = 0; i < smaller(space->rank, AQ_SHAPE_RANK_MAX); i++) {
        aq_text_append(out, size, i == 0 ? "%u" : ",%u", space->shape[i]);
    }
    aq_text_append(out, size, "]");
}

const char *aq_schema_text(const aq_schema *schema, char *out, size_t size)
{
    char obs[SPACE_TEXT_MAX], action[SPACE_TEXT_MAX];
    space_text(&schema->obs, obs, sizeof(obs));
    space_text(&schema->action, action, sizeof(action));
    snprintf(out, size, "%s -> %s", obs, action);
    return out;
}
