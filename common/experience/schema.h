/*
 * Schema: what an observation and an action are. Plain data, hashed; both ends of every edge
 * compare the hash before they believe a byte.
 */
#ifndef AQ_COMMON_EXPERIENCE_SCHEMA_H
#define AQ_COMMON_EXPERIENCE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

enum { AQ_SHAPE_RANK_MAX = 4, AQ_BOUNDS_MAX = 128, AQ_FRAMES_MAX = 16 };
#define AQ_SPACE_ELEMENTS_MAX (UINT32_C(1) << 24)

/* Of spaces the first two, of columns any. */
enum aq_dtype { AQ_DTYPE_F32 = 1, AQ_DTYPE_U8 = 2, AQ_DTYPE_I32 = 3, AQ_DTYPE_U32 = 4 };
enum aq_space_kind { AQ_SPACE_BOX = 1, AQ_SPACE_DISCRETE = 2 };

/* A box of `shape` with one bound for all elements (bound_count 1) or one each; bounds may be
 * infinite, not NaN. Or discrete, stored as int32, dtype F32 unused: one of choice_count choices
 * (shape {}), or of actions also a row of several at once (shape {n}), each from 0 to its own upper
 * bound. Values of an observation may be stacks of `frames` (frames.h) along the last axis. */
typedef struct aq_space {
    uint32_t kind;  /* enum aq_space_kind */
    uint32_t dtype; /* enum aq_dtype; box only */
    uint32_t rank;
    uint32_t shape[AQ_SHAPE_RANK_MAX];
    uint32_t choice_count; /* of a lone choice; aq_space_choices is for any */
    uint32_t frames;       /* box only; 0: no stacks */
    uint32_t bound_count;
    float low[AQ_BOUNDS_MAX];
    float high[AQ_BOUNDS_MAX];
} aq_space;

typedef struct aq_schema {
    aq_space obs;
    aq_space action;
} aq_schema;

/* A 1-D float box of `count` elements with one bound each (count <= AQ_BOUNDS_MAX). */
void aq_space_init_box(aq_space *space, uint32_t count, const float *low, const float *high);
void aq_space_init_discrete(aq_space *space, uint32_t choice_count);
/* A row of `count` choices (1 to AQ_BOUNDS_MAX), of so many each. */
void aq_space_init_choices(aq_space *space, uint32_t count, const uint32_t *choice_counts);

/* Whether it is a row of choices, be it a row of one. */
static inline bool aq_space_is_several(const aq_space *space)
{
    return space->kind == AQ_SPACE_DISCRETE && space->rank > 0;
}

/* Of a discrete space: how many choices an element has, and how many there are together. */
static inline uint32_t aq_space_choices(const aq_space *space, size_t element)
{
    return space->rank > 0 ? (uint32_t)space->high[element] + 1 : space->choice_count;
}
uint32_t aq_space_choices_all(const aq_space *space);
bool aq_space_has(const aq_space *space, const int32_t *choices); /* all of a value's elements */

/* Elements of one value: the product of the shape. SIZE_MAX when it overflows. */
size_t aq_space_elements(const aq_space *space);

/* A picture's sides and what each of its cells has; images are stored in this order. */
typedef struct aq_picture_shape {
    uint32_t height, width, channels;
} aq_picture_shape;

/* Whether what is seen is a picture, and of which shape: a box of (height, width), which has one
 * channel, or of (height, width, channels), of bytes or of floats. */
bool aq_space_is_picture(const aq_space *space, aq_picture_shape *ret_shape);

/* Whether all bounds are finite, and each pair no further apart than a float tells. */
bool aq_space_is_bounded(const aq_space *space);

/* Bytes of one value as stored in columns: 4 an f32 element, 1 a u8 element, 4 (int32) a choice. */
size_t aq_space_bytes(const aq_space *space);

/* The index of a box's bounds for one of its elements. */
static inline size_t aq_space_bound(const aq_space *space, size_t element)
{
    return space->bound_count > 1 ? element : 0;
}

/* A number held between bounds, which have this index; NaN is held to the lower. */
static inline float aq_space_hold(const aq_space *space, size_t bound, float value)
{
    if (!(value >= space->low[bound])) {
        return space->low[bound];
    }
    return value <= space->high[bound] ? value : space->high[bound];
}

/* AQ_E_SCHEMA, in words, for a space that can't be: rank, sizes, NaN or crossed bounds. */
int aq_space_validate(const aq_space *space, const char *name, aq_error *error) AQ_MUST_USE;
int aq_schema_validate(const aq_schema *schema, aq_error *error) AQ_MUST_USE;

/* 64-bit FNV-1a over the canonical little-endian bytes of every meaningful field; never 0. */
uint64_t aq_schema_hash(const aq_schema *schema);

/* "box f32[4] -> discrete 2" into out[size]; returns out. */
const char *aq_schema_text(const aq_schema *schema, char *out, size_t size);

#endif
