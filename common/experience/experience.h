/*
 * Experience message: what an actor sends to a replay shard, as plain data.
 */
#ifndef AQ_COMMON_EXPERIENCE_EXPERIENCE_H
#define AQ_COMMON_EXPERIENCE_EXPERIENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/experience/chunk.h"

enum { AQ_EXPERIENCE_CHUNKS_MAX = 4096 };

typedef struct aq_experience {
    uint64_t run_id;
    uint64_t actor;        /* member number */
    uint64_t incarnation;  /* of the actor's process */
    uint64_t seq;          /* 1, 2, 3, ... */
    uint64_t acknowledged; /* highest that the actor knows to be acknowledged */
    uint64_t store;        /* that it is numbered for; 0: any */
    bool is_sealed;        /* a seal follows it and proves its bytes: no crc does */
    uint32_t chunk_count;
    aq_chunk **chunks; /* of others */
} aq_experience;

#endif
