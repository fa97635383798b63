/*
 * Python protocol: what this side and python/actorq_env/protocol.py agree on. Messages go over a
 * socket that keeps their bounds, in the machine's own byte order; rows lie in shared memory, in
 * columns with one row a slot. A slot is a place in a round of work: it names a lane.
 */
#ifndef AQ_ENVS_PYTHON_PYTHON_PROTOCOL_H
#define AQ_ENVS_PYTHON_PYTHON_PROTOCOL_H

#include <stdint.h>

#include "common/experience/schema.h"

#define AQ_PYTHON_MAGIC UINT32_C(0x50515141)
enum {
    AQ_PYTHON_VERSION = 2,
    AQ_PYTHON_TEXT_MAX = 2048,
    AQ_PYTHON_LANES_MAX = 4096,
    AQ_PYTHON_PICTURE_MAX = 8 << 20,
};

enum aq_python_status { AQ_PYTHON_OK = 0, AQ_PYTHON_REFUSED = 1, AQ_PYTHON_NO_NUMPY = 2 };
enum aq_python_work {
    AQ_PYTHON_NOTHING = 0,
    AQ_PYTHON_RESET = 1,
    AQ_PYTHON_CLOSE = 2,
    AQ_PYTHON_DRAW = 3, /* into the picture, of which there is one */
    AQ_PYTHON_STEP = 4,
    AQ_PYTHON_STEP_ON = 5, /* a step, and the next episode when that ends one */
};

/* Ends are those of enum aq_step_end. */

typedef struct aq_python_space {
    uint32_t kind, dtype, rank;
    uint32_t shape[AQ_SHAPE_RANK_MAX];
    uint32_t choice_count, bound_count;
    float low[AQ_BOUNDS_MAX];
    float high[AQ_BOUNDS_MAX];
} aq_python_space;

/* From the worker: what the task is, or why there is none. */
typedef struct aq_python_hello {
    uint32_t magic, version;
    uint16_t status;     /* enum aq_python_status */
    uint16_t draws;      /* 1: there are pictures */
    uint32_t step_limit; /* 0: none */
    double reward_threshold;
    aq_python_space observation, action;
    char text[AQ_PYTHON_TEXT_MAX]; /* only as long as it is */
} aq_python_hello;

enum aq_python_column {
    AQ_PYTHON_LANES,              /* uint32 */
    AQ_PYTHON_WORKS,              /* uint8, enum aq_python_work */
    AQ_PYTHON_SEEDS,              /* uint64, of the reset, or of the next one */
    AQ_PYTHON_ACTIONS,            /* a row */
    AQ_PYTHON_ENDS,               /* uint8, enum aq_step_end */
    AQ_PYTHON_READIES,            /* uint8: the next episode has begun */
    AQ_PYTHON_REWARDS,            /* float */
    AQ_PYTHON_OBSERVATIONS,       /* a row */
    AQ_PYTHON_FIRST_OBSERVATIONS, /* a row: that of the next episode */
    AQ_PYTHON_FAILURES,           /* text, terminated */
    AQ_PYTHON_PICTURE,            /* an aq_python_picture, alone */
    AQ_PYTHON_COLUMNS,
};

typedef struct aq_python_picture {
    uint32_t rows, columns;               /* 0: it is text, terminated */
    uint8_t bytes[AQ_PYTHON_PICTURE_MAX]; /* red, green, blue */
} aq_python_picture;

/* To the worker, once, after its hello. */
typedef struct aq_python_layout {
    uint32_t magic, slots;
    uint64_t bytes;
    uint64_t offsets[AQ_PYTHON_COLUMNS];
} aq_python_layout;

/* To the worker: work in these slots. None: end. */
typedef struct aq_python_round {
    uint32_t first, count;
} aq_python_round;

_Static_assert(sizeof(aq_python_space) == 1060, "protocol.py packs it so");
_Static_assert(sizeof(aq_python_hello) == 24 + 2 * 1060 + AQ_PYTHON_TEXT_MAX, "likewise");
_Static_assert(sizeof(aq_python_layout) == 16 + 8 * AQ_PYTHON_COLUMNS, "likewise");

#endif
