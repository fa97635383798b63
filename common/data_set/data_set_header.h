/*
 * Data set: recorded experience as a file of its own, that outlives the run it comes from
 * (docs/data-sets.md). This is the header: what the steps are of, as a JSON text that people and
 * other languages read, and the numbers of the format.
 *
 *   header       16 bytes and the text
 *   block ...    64 bytes, then the columns of one chunk: obs, action, reward, version, and what
 *                was recorded besides
 *   end          64 bytes
 *
 * All numbers are little-endian. Pure functions, any thread.
 */
#ifndef AQ_COMMON_DATA_SET_DATA_SET_HEADER_H
#define AQ_COMMON_DATA_SET_DATA_SET_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/experience/chunk_view.h"
#include "common/experience/schema.h"
#include "common/policy/snapshot.h"

enum {
    AQ_DATA_SET_VERSION = 1,
    AQ_DATA_SET_VERSION_RECORDED = 2, /* of a set with columns besides the standard ones */
    AQ_DATA_SET_START_BYTES = 16,     /* before the text */
    AQ_DATA_SET_MARK_BYTES = 64,      /* of a block's header, and of the end */
    AQ_DATA_SET_TEXT_BYTES_MAX = 1 << 16,
    AQ_DATA_SET_NAME_MAX = 512
};

typedef struct aq_data_set_counts {
    uint64_t blocks;
    uint64_t transitions; /* each counted once */
    uint64_t episodes;    /* that end in the set */
    uint64_t n_step;      /* the most transitions that a block repeats, and 1 */
} aq_data_set_counts;

typedef struct aq_data_set_info {
    char task[AQ_TASK_NAME_MAX];
    aq_schema schema;
    uint64_t schema_hash;
    aq_column recorded[AQ_COLUMNS_RECORDED_MAX]; /* columns besides the standard ones */
    uint32_t recorded_count;
    uint64_t run_id; /* whose actors made the steps; 0: unknown */
    char source[AQ_DATA_SET_NAME_MAX];
    char software[64];
    aq_data_set_counts counts;
} aq_data_set_info;

/* One chunk and whose it is. */
typedef struct aq_data_set_block {
    uint64_t actor, incarnation;
    aq_chunk_view view;
} aq_data_set_block;

/* Appends start and text; the text is filled with blanks up to `text_bytes` (0: as long as any
 * counts make it). AQ_E_NOMEM, AQ_E_TOO_BIG. */
int aq_data_set_header_encode(const aq_data_set_info *info, size_t text_bytes,
                              aq_buffer *out) AQ_MUST_USE;

/* What the start says of the text's size. AQ_E_FOREIGN, AQ_E_VERSION, AQ_E_CORRUPT, in words that
 * begin with `name`. */
int aq_data_set_start_decode(const char *name, const uint8_t start[AQ_DATA_SET_START_BYTES],
                             size_t *ret_text_bytes, aq_error *error) AQ_MUST_USE;

/* The text behind that start. AQ_E_CORRUPT; AQ_E_SCHEMA for a schema that cannot be. */
int aq_data_set_text_decode(const char *name, const uint8_t start[AQ_DATA_SET_START_BYTES],
                            const uint8_t *text, size_t text_bytes, aq_data_set_info *ret_info,
                            aq_error *error) AQ_MUST_USE;

/* The columns, and no bound that one run would add. AQ_E_INVALID, AQ_E_SCHEMA, AQ_E_TOO_BIG. */
int aq_data_set_layout(const aq_data_set_info *info, aq_layout *ret_layout,
                       aq_error *error) AQ_MUST_USE;

/* The columns in the chunks of a run. Fails likewise. */
int aq_data_set_run_layout(const aq_data_set_info *info, uint32_t n_step, uint32_t length_max,
                           aq_layout *ret_layout, aq_error *error) AQ_MUST_USE;

/* One more block. */
void aq_data_set_count(aq_data_set_counts *counts, const aq_chunk_view *view);

/* ---- marks: what stands before a block, and at the end --------------------------------------- */

typedef struct aq_data_set_mark {
    uint32_t is_end;
    aq_data_set_block block;   /* without columns; not of the end */
    aq_data_set_counts counts; /* of the end */
    uint32_t crc;              /* of the columns; of the end: of all marks before it */
} aq_data_set_mark;

void aq_data_set_mark_encode(const aq_data_set_mark *mark, uint8_t bytes[AQ_DATA_SET_MARK_BYTES]);
/* AQ_E_CORRUPT. */
int aq_data_set_mark_decode(const uint8_t bytes[AQ_DATA_SET_MARK_BYTES],
                            aq_data_set_mark *ret_mark) AQ_MUST_USE;

#endif
