/*
 * The text of a data set's header: see data_set_text.h.
 */
#include "common/data_set/data_set_text.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/parse.h"

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

/* ---- all of it ------------------------------------------------------------------------------- */

char *aq_data_set_text_of(const aq_data_set_info *info)
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
    char *json = object != NULL ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    char *text = json != NULL ? aq_text_copy(json) : NULL;
    free(json);
    json_decref(object);
    return text;
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

int aq_data_set_text_read(const uint8_t *text, size_t bytes, aq_data_set_info *ret_info)
{
    json_error_t where;
    json_t *object = json_loadb((const char *)text, bytes, JSON_REJECT_DUPLICATES, &where);
    int rc = object != NULL ? read_object(object, ret_info) : AQ_E_CORRUPT;
    json_decref(object);
    return rc;
}
