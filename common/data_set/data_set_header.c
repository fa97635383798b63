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
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/crc32c.h"
#include "common/base/little_endian.h"
#include "common/base/parse.h"

enum { TERMINATED = 1, TRUNCATED = 2, COUNTS_ROOM = 4 * 20, CRC_AT = 12 };

static const char magic[4] = {'A', 'Q', 'D', 'S'};
static const char block_magic[4] = {'A', 'Q', 'B', 'K'};
static const char end_magic[4] = {'A', 'Q', 'E', 'D'};

/* ---- a space as JSON ------------------------------------------------------------------------- */

/* JSON has no infinity. */
static json_t *bound_json(float bound)
{
    if (isinf(bound)) {
        return json_string(bound > 0 ? "inf" : "-inf");
    }
    return json_real((double)bound);
}

static json_t *bounds_json(const float *bounds, uint32_t count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        (void)json_array_append_new(list, bound_json(bounds[i]));
    }
    return list;
}

static json_t *counts_json(const aq_space *row)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < row->shape[0]; i++) {
        (void)json_array_append_new(list, json_integer(aq_space_choices(row, i)));
    }
    return list;
}

static json_t *space_json(const aq_space *space)
{
    if (space->kind == AQ_SPACE_DISCRETE) {
        return aq_space_is_several(space)
                   ? json_pack("{s:s, s:o}", "kind", "discrete", "counts", counts_json(space))
                   : json_pack("{s:s, s:I}", "kind", "discrete", "count",
                               (json_int_t)space->choice_count);
    }
    json_t *shape = json_array();
    for (uint32_t i = 0; i < space->rank; i++) {
        (void)json_array_append_new(shape, json_integer(space->shape[i]));
    }
    json_t *box = json_pack("{s:s, s:s, s:o, s:o, s:o}", "kind", "box", "dtype",
                            space->dtype == AQ_DTYPE_U8 ? "u8" : "f32", "shape", shape, "low",
                            bounds_json(space->low, space->bound_count), "high",
                            bounds_json(space->high, space->bound_count));
    if (space->frames != 0) {
        (void)json_object_set_new(box, "frames", json_integer(space->frames));
    }
    return box;
}

static int read_bounds(const json_t *list, uint32_t *ret_count, float *bounds)
{
    size_t count = json_array_size(list);
    if (count > AQ_BOUNDS_MAX) {
        return AQ_E_CORRUPT;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *bound = json_array_get(list, i);
        const char *text = json_string_value(bound);
        if (text != NULL && (strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0)) {
            bounds[i] = text[0] == '-' ? -INFINITY : INFINITY;
        } else if (json_is_number(bound)) {
            bounds[i] = (float)json_number_value(bound);
        } else {
            return AQ_E_CORRUPT;
        }
    }
    *ret_count = (uint32_t)count;
    return 0;
}

static int read_whole(const json_t *value, uint32_t *ret_number)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        json_integer_value(value) > (json_int_t)UINT32_MAX) {
        return AQ_E_CORRUPT;
    }
    *ret_number = (uint32_t)json_integer_value(value);
    return 0;
}

static int read_box(const json_t *object, aq_space *space)
{
    const char *dtype = json_string_value(json_object_get(object, "dtype"));
    const json_t *shape = json_object_get(object, "shape");
    uint32_t high_count = 0;
    if (dtype == NULL || (strcmp(dtype, "f32") != 0 && strcmp(dtype, "u8") != 0) ||
        json_array_size(shape) > AQ_SHAPE_RANK_MAX) {
        return AQ_E_CORRUPT;
    }
    space->kind = AQ_SPACE_BOX;
    space->dtype = strcmp(dtype, "u8") == 0 ? AQ_DTYPE_U8 : AQ_DTYPE_F32;
    space->rank = (uint32_t)json_array_size(shape);
    for (uint32_t i = 0; i < space->rank; i++) {
        if (read_whole(json_array_get(shape, i), &space->shape[i]) != 0) {
            return AQ_E_CORRUPT;
        }
    }
    const json_t *frames = json_object_get(object, "frames");
    if (frames != NULL && read_whole(frames, &space->frames) != 0) {
        return AQ_E_CORRUPT;
    }
    if (read_bounds(json_object_get(object, "low"), &space->bound_count, space->low) != 0 ||
        read_bounds(json_object_get(object, "high"), &high_count, space->high) != 0) {
        return AQ_E_CORRUPT;
    }
    return high_count == space->bound_count ? 0 : AQ_E_CORRUPT;
}

static int read_discrete(const json_t *object, aq_space *space)
{
    const json_t *list = json_object_get(object, "counts");
    const size_t count = json_array_size(list);
    uint32_t choices, each[AQ_BOUNDS_MAX];
    if (list == NULL) {
        int rc = read_whole(json_object_get(object, "count"), &choices);
        if (rc == 0) {
            aq_space_init_discrete(space, choices);
        }
        return rc;
    }
    if (count < 1 || count > AQ_BOUNDS_MAX) {
        return AQ_E_CORRUPT;
    }
    for (size_t i = 0; i < count; i++) {
        if (read_whole(json_array_get(list, i), &each[i]) != 0) {
            return AQ_E_CORRUPT;
        }
    }
    aq_space_init_choices(space, (uint32_t)count, each);
    return 0;
}

static int read_space(const json_t *object, aq_space *ret_space)
{
    aq_space space = {0};
    const char *kind = json_string_value(json_object_get(object, "kind"));
    int rc = AQ_E_CORRUPT;
    if (kind != NULL && strcmp(kind, "discrete") == 0) {
        rc = read_discrete(object, &space);
    } else if (kind != NULL && strcmp(kind, "box") == 0) {
        rc = read_box(object, &space);
    }
    if (rc == 0) {
        *ret_space = space;
    }
    return rc;
}

/* ---- recorded columns as JSON ---------------------------------------------------------------- */

static const char *const dtype_names[] = {
    [AQ_DTYPE_F32] = "f32", [AQ_DTYPE_U8] = "u8", [AQ_DTYPE_I32] = "i32", [AQ_DTYPE_U32] = "u32"};

static const char *const per_names[] = {[AQ_PER_STEP] = "step", [AQ_PER_BOUNDARY] = "boundary"};

static json_t *columns_json(const aq_data_set_info *info)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < info->recorded_count; i++) {
        const aq_column *column = &info->recorded[i];
        (void)json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:I}", "name", column->name,
                                                    "dtype", dtype_names[column->dtype], "per",
                                                    per_names[column->per], "bytes",
                                                    (json_int_t)column->bytes));
    }
    return list;
}

/* The index of the name in the list, `from` or greater; `count`: it is not there. */
static uint32_t index_of(const char *name, const char *const *names, uint32_t from, uint32_t count)
{
    uint32_t i = from;
    while (i < count && (name == NULL || strcmp(name, names[i]) != 0)) {
        i++;
    }
    return i;
}

static int read_column(const json_t *object, aq_column *column)
{
    enum { DTYPES = sizeof(dtype_names) / sizeof(dtype_names[0]) };
    column->dtype = index_of(json_string_value(json_object_get(object, "dtype")), dtype_names,
                             AQ_DTYPE_F32, DTYPES);
    column->per = index_of(json_string_value(json_object_get(object, "per")), per_names, 0, 2);
    const char *name = json_string_value(json_object_get(object, "name"));
    bool good = name != NULL && aq_text_set(column->name, sizeof(column->name), name) == 0 &&
                column->dtype < DTYPES && column->per < 2 &&
                read_whole(json_object_get(object, "bytes"), &column->bytes) == 0;
    return good ? 0 : AQ_E_CORRUPT;
}

/* Sets of version 1 have none. */
static int read_columns(const json_t *list, aq_data_set_info *info)
{
    const size_t count = json_array_size(list);
    int rc = count <= AQ_COLUMNS_RECORDED_MAX ? 0 : AQ_E_CORRUPT;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = read_column(json_array_get(list, i), &info->recorded[i]);
    }
    info->recorded_count = rc == 0 ? (uint32_t)count : 0;
    return rc;
}

/* ---- the text -------------------------------------------------------------------------------- */

static char *text_of(const aq_data_set_info *info)
{
    char hash[24], run[24];
    (void)snprintf(hash, sizeof(hash), "%016" PRIx64, info->schema_hash);
    (void)snprintf(run, sizeof(run), "%016" PRIx64, info->run_id);
    json_t *object = json_pack(
        "{s:s, s:{s:o, s:o}, s:s, s:I, s:I, s:I, s:I, s:s, s:s, s:s}", "task", info->task, "schema",
        "obs", space_json(&info->schema.obs), "action", space_json(&info->schema.action),
        "schema_hash", hash, "n_step", (json_int_t)info->counts.n_step, "blocks",
        (json_int_t)info->counts.blocks, "transitions", (json_int_t)info->counts.transitions,
        "episodes", (json_int_t)info->counts.episodes, "run_id", run, "software", info->software,
        "source", info->source);
    if (info->recorded_count > 0 &&
        json_object_set_new(object, "columns", columns_json(info)) != 0) {
        json_decref(object);
        return NULL;
    }
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(object);
    return text;
}

int aq_data_set_header_encode(const aq_data_set_info *info, size_t text_bytes, aq_buffer *out)
{
    uint8_t *bytes;
    char *text = text_of(info);
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
        aq_u32_put(bytes + 8, room);
        memcpy(bytes + AQ_DATA_SET_START_BYTES, text, length);
        memset(bytes + AQ_DATA_SET_START_BYTES + length, ' ', room - length);
        uint32_t crc = aq_crc32c(0, bytes, CRC_AT);
        aq_u32_put(bytes + CRC_AT, aq_crc32c(crc, bytes + AQ_DATA_SET_START_BYTES, room));
    }
    free(text);
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

static int read_count(const json_t *object, const char *key, uint64_t *ret_count)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        return AQ_E_CORRUPT;
    }
    *ret_count = (uint64_t)json_integer_value(value);
    return 0;
}

static int read_hex(const json_t *object, const char *key, uint64_t *ret_number)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL && aq_parse_id(text, ret_number) == 0 ? 0 : AQ_E_CORRUPT;
}

static int read_text(const json_t *object, const char *key, char *out, size_t size)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL && aq_text_set(out, size, text) == 0 ? 0 : AQ_E_CORRUPT;
}

static int read_object(const json_t *object, aq_data_set_info *info)
{
    const json_t *schema = json_object_get(object, "schema");
    aq_data_set_counts *counts = &info->counts;
    bool good = read_text(object, "task", info->task, sizeof(info->task)) == 0 &&
                read_space(json_object_get(schema, "obs"), &info->schema.obs) == 0 &&
                read_space(json_object_get(schema, "action"), &info->schema.action) == 0 &&
                read_hex(object, "schema_hash", &info->schema_hash) == 0 &&
                read_columns(json_object_get(object, "columns"), info) == 0 &&
                read_hex(object, "run_id", &info->run_id) == 0 &&
                read_text(object, "software", info->software, sizeof(info->software)) == 0 &&
                read_text(object, "source", info->source, sizeof(info->source)) == 0 &&
                read_count(object, "n_step", &counts->n_step) == 0 &&
                read_count(object, "blocks", &counts->blocks) == 0 &&
                read_count(object, "transitions", &counts->transitions) == 0 &&
                read_count(object, "episodes", &counts->episodes) == 0;
    return good ? 0 : AQ_E_CORRUPT;
}

int aq_data_set_text_decode(const char *name, const uint8_t start[AQ_DATA_SET_START_BYTES],
                            const uint8_t *text, size_t text_bytes, aq_data_set_info *ret_info,
                            aq_error *error)
{
    aq_data_set_info info = {0};
    json_error_t where;
    uint32_t crc = aq_crc32c(aq_crc32c(0, start, CRC_AT), text, text_bytes);
    if (crc != aq_u32_get(start + CRC_AT)) {
        return aq_fail(error, AQ_E_CORRUPT, "%s: offset 0: the header is damaged", name);
    }
    json_t *object = json_loadb((const char *)text, text_bytes, JSON_REJECT_DUPLICATES, &where);
    int rc = object != NULL ? read_object(object, &info) : AQ_E_CORRUPT;
    json_decref(object);
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
