/*
 * The header's text is rewritten when the counts are known, in the same place: it keeps blanks for
 * the largest of them.
 *
 *   start, 16 bytes               mark of a block, 64 bytes      mark of the end, 64 bytes
 *   0   magic "AQDS"              0   magic "AQBK"               0   magic "AQED"
 *   4   u32 version               4   u32 flags                  4   u32 zero
 *   8   u32 bytes of the text     8   u64 actor                  8   u64 blocks
 *   12  u32 crc32c of the above   16  u64 incarnation            16  u64 transitions
 *       and of the text           24  u64 episode                24  u64 episodes
 *                                 32  u32 lane                   32  u64 n_step
 *                                 36  u32 first                  40  u64 zero
 *                                 40  u32 length                 48  u64 zero
 *                                 44  u32 overlap                56  u32 crc32c of all marks before
 *                                 48  u64 zero                   60  u32 crc32c of the above
 *                                 56  u32 crc32c of the columns
 *                                 60  u32 crc32c of the above
 */
#include "common/data_set/data_set_header.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/crc32c.h"
#include "common/base/little_endian.h"
#include "common/base/memory.h"
#include "common/data_set/data_set_text.h"

enum { TERMINATED = 1, TRUNCATED = 2, COUNTS_ROOM = 4 * 20, CRC_AT = 12 };

static const char magic[4] = {'A', 'Q', 'D', 'S'};
static const char block_magic[4] = {'A', 'Q', 'B', 'K'};
static const char end_magic[4] = {'A', 'Q', 'E', 'D'};

/* ---- the header ------------------------------------------------------------------------------ */

int aq_data_set_header_encode(const aq_data_set_info *info, size_t text_bytes, aq_buffer *out)
{
    uint8_t *bytes;
    char *text = aq_data_set_text_of(info);
    if (text == NULL) {
        return AQ_E_NOMEM;
    }
    const size_t length = strlen(text);
    const size_t room = text_bytes > 0 ? text_bytes : length + COUNTS_ROOM;
    int rc = length <= room && room <= AQ_DATA_SET_TEXT_BYTES_MAX ? 0 : AQ_E_TOO_BIG;
    if (rc == 0) {
        rc = aq_buffer_extend(out, AQ_DATA_SET_START_BYTES + room, &bytes);
    }
    if (rc == 0) {
        memcpy(bytes, magic, sizeof(magic));
        aq_u32_put(bytes + 4,
                   info->recorded_count > 0 ? AQ_DATA_SET_VERSION_RECORDED : AQ_DATA_SET_VERSION);
        aq_u32_put(bytes + 8, (uint32_t)room);
        memcpy(bytes + AQ_DATA_SET_START_BYTES, text, length);
        memset(bytes + AQ_DATA_SET_START_BYTES + length, ' ', room - length);
        uint32_t crc = aq_crc32c(0, bytes, CRC_AT);
        aq_u32_put(bytes + CRC_AT, aq_crc32c(crc, bytes + AQ_DATA_SET_START_BYTES, room));
    }
    aq_free(text);
    return rc;
}

int aq_data_set_start_decode(const char *name, const uint8_t start[AQ_DATA_SET_START_BYTES],
                             size_t *ret_text_bytes, aq_error *error)
{
    if (memcmp(start, magic, sizeof(magic)) != 0) {
        return aq_fail(error, AQ_E_FOREIGN, "%s: not a data set", name);
    }
    const uint32_t version = aq_u32_get(start + 4);
    if (version != AQ_DATA_SET_VERSION && version != AQ_DATA_SET_VERSION_RECORDED) {
        return aq_fail(error, AQ_E_VERSION,
                       "%s: of format version %" PRIu32 "; this program reads up to %d", name,
                       version, AQ_DATA_SET_VERSION_RECORDED);
    }
    const uint64_t text_bytes = aq_u32_get(start + 8);
    if (text_bytes > AQ_DATA_SET_TEXT_BYTES_MAX) {
        return aq_fail(error, AQ_E_CORRUPT, "%s: offset 8: a header of %" PRIu64 " bytes", name,
                       text_bytes);
    }
    *ret_text_bytes = (size_t)text_bytes;
    return 0;
}

int aq_data_set_text_decode(const char *name, const uint8_t start[AQ_DATA_SET_START_BYTES],
                            const uint8_t *text, size_t text_bytes, aq_data_set_info *ret_info,
                            aq_error *error)
{
    aq_data_set_info info = {0};
    uint32_t crc = aq_crc32c(aq_crc32c(0, start, CRC_AT), text, text_bytes);
    if (crc != aq_u32_get(start + CRC_AT)) {
        return aq_fail(error, AQ_E_CORRUPT, "%s: offset 0: the header is damaged", name);
    }
    int rc = aq_data_set_text_read(text, text_bytes, &info);
    if (rc != 0) {
        return aq_fail(error, rc, "%s: the header does not say what the steps are of", name);
    }
    rc = aq_schema_validate(&info.schema, error);
    if (rc != 0) {
        return aq_fail_context(error, rc, "%s", name);
    }
    if (aq_schema_hash(&info.schema) != info.schema_hash) {
        return aq_fail(error, AQ_E_SCHEMA, "%s: the schema is not the one of its hash", name);
    }
    *ret_info = info;
    return 0;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

int aq_data_set_run_layout(const aq_data_set_info *info, uint32_t n_step, uint32_t length_max,
                           aq_layout *ret_layout, aq_error *error)
{
    aq_layout layout;
    int rc = aq_layout_init(&info->schema, n_step, length_max, &layout, error);
    if (rc == 0) {
        rc = aq_layout_record(&layout, info->recorded, info->recorded_count, error);
    }
    if (rc == 0) {
        *ret_layout = layout;
    }
    return rc;
}

int aq_data_set_layout(const aq_data_set_info *info, aq_layout *ret_layout, aq_error *error)
{
    aq_layout layout;
    int rc = aq_data_set_run_layout(info, 1, 1, &layout, error);
    if (rc == 0) {
        layout.n_step = AQ_CHUNK_SPAN_ANY;
        layout.length_max = AQ_CHUNK_LENGTH_MAX;
        *ret_layout = layout;
    }
    return rc;
}

void aq_data_set_count(aq_data_set_counts *counts, const aq_chunk_view *view)
{
    const uint64_t span = (uint64_t)view->overlap + 1;
    counts->blocks++;
    counts->transitions += aq_chunk_view_fresh(view);
    counts->episodes += view->terminated || view->truncated;
    counts->n_step = span > counts->n_step ? span : counts->n_step;
}

void aq_data_set_mark_encode(const aq_data_set_mark *mark, uint8_t bytes[AQ_DATA_SET_MARK_BYTES])
{
    const aq_chunk_view *view = &mark->block.view;
    memset(bytes, 0, AQ_DATA_SET_MARK_BYTES);
    if (mark->is_end) {
        memcpy(bytes, end_magic, sizeof(end_magic));
        aq_u64_put(bytes + 8, mark->counts.blocks);
        aq_u64_put(bytes + 16, mark->counts.transitions);
        aq_u64_put(bytes + 24, mark->counts.episodes);
        aq_u64_put(bytes + 32, mark->counts.n_step);
    } else {
        memcpy(bytes, block_magic, sizeof(block_magic));
        aq_u32_put(bytes + 4,
                   (view->terminated ? TERMINATED : 0) | (view->truncated ? TRUNCATED : 0));
        aq_u64_put(bytes + 8, mark->block.actor);
        aq_u64_put(bytes + 16, mark->block.incarnation);
        aq_u64_put(bytes + 24, view->episode);
        aq_u32_put(bytes + 32, view->lane);
        aq_u32_put(bytes + 36, view->first);
        aq_u32_put(bytes + 40, view->length);
        aq_u32_put(bytes + 44, view->overlap);
    }
    aq_u32_put(bytes + 56, mark->crc);
    aq_u32_put(bytes + 60, aq_crc32c(0, bytes, 60));
}

int aq_data_set_mark_decode(const uint8_t bytes[AQ_DATA_SET_MARK_BYTES], aq_data_set_mark *ret_mark)
{
    aq_data_set_mark mark = {.crc = aq_u32_get(bytes + 56)};
    if (aq_crc32c(0, bytes, 60) != aq_u32_get(bytes + 60)) {
        return AQ_E_CORRUPT;
    }
    if (memcmp(bytes, end_magic, sizeof(end_magic)) == 0) {
        mark.is_end = 1;
        mark.counts = (aq_data_set_counts){
            .blocks = aq_u64_get(bytes + 8),
            .transitions = aq_u64_get(bytes + 16),
            .episodes = aq_u64_get(bytes + 24),
            .n_step = aq_u64_get(bytes + 32),
        };
    } else if (memcmp(bytes, block_magic, sizeof(block_magic)) == 0) {
        const uint32_t flags = aq_u32_get(bytes + 4);
        mark.block = (aq_data_set_block){
            .actor = aq_u64_get(bytes + 8),
            .incarnation = aq_u64_get(bytes + 16),
            .view =
                {
                    .episode = aq_u64_get(bytes + 24),
                    .lane = aq_u32_get(bytes + 32),
                    .first = aq_u32_get(bytes + 36),
                    .length = aq_u32_get(bytes + 40),
                    .overlap = (uint16_t)aq_u32_get(bytes + 44),
                    .terminated = (flags & TERMINATED) != 0,
                    .truncated = (flags & TRUNCATED) != 0,
                },
        };
        if ((flags & ~(uint32_t)(TERMINATED | TRUNCATED)) != 0 ||
            aq_u32_get(bytes + 44) > UINT16_MAX) {
            return AQ_E_CORRUPT;
        }
    } else {
        return AQ_E_CORRUPT;
    }
    *ret_mark = mark;
    return 0;
}
