/*
 * Data sets of the public library: the reader (common/data_set), in the words of the public header.
 */

#include <string.h>

#include "common/base/memory.h"
#include "common/data_set/data_set_reader.h"
#include "library/library_words.h"

_Static_assert((int)ACTORQ_COLUMNS_MAX == (int)AQ_COLUMNS_MAX, "every column has a place");

struct actorq_data {
    aq_data_set_reader *reader;
    actorq_data_facts facts;
    uint8_t
        *copies[AQ_COLUMNS_MAX]; /* of columns that cannot be read as they lie; NULL: none yet */
    uint32_t copies_length;      /* that they have room for */
};

static void set_facts(actorq_data *data)
{
    const aq_data_set_info *info = aq_data_set_reader_info(data->reader);
    const aq_layout *layout = aq_data_set_reader_layout(data->reader);
    data->facts = (actorq_data_facts){
        .task = info->task,
        .source = info->source,
        .run_id = info->run_id,
        .pieces = info->counts.blocks,
        .steps = info->counts.transitions,
        .episodes = info->counts.episodes,
        .column_count = layout->column_count,
        .observation = aq_library_space(&info->schema.obs),
        .action = aq_library_space(&info->schema.action),
    };
    for (uint32_t i = 0; i < layout->column_count; i++) {
        const aq_column *column = &layout->columns[i];
        data->facts.columns[i] = (actorq_column){
            .name = column->name,
            .is_boundary = column->per == AQ_PER_BOUNDARY,
            .number = column->dtype,
            .row_bytes = column->bytes,
        };
    }
}

int actorq_data_open(const char *path, actorq_data **ret_data, actorq_error *error)
{
    aq_error problem = {0};
    int rc = AQ_NEED(&problem, {"path", path}, {"ret_data", ret_data});
    if (rc != 0) {
        return aq_library_tell(rc, &problem, error);
    }
    actorq_data *data = aq_alloc(1, sizeof(*data));
    rc = data != NULL ? aq_data_set_reader_open(path, &data->reader, &problem)
                      : aq_fail(&problem, AQ_E_NOMEM, "no memory to read %s", path);
    if (rc == 0) {
        set_facts(data);
        *ret_data = data;
    } else {
        aq_free(data);
    }
    return aq_library_tell(rc, &problem, error);
}

void actorq_data_close(actorq_data *data)
{
    if (data != NULL) {
        aq_data_set_reader_close(data->reader);
        for (uint32_t i = 0; i < AQ_COLUMNS_MAX; i++) {
            aq_free(data->copies[i]);
        }
        aq_free(data);
    }
}

const actorq_data_facts *actorq_data_look(const actorq_data *data)
{
    return data != NULL ? &data->facts : NULL;
}

/* Values whose frames are stored once are put together. Columns lie behind each other as they were
 * written, so what is no byte may have to move to where its type is aligned. */
static bool is_copied(const aq_column *column, const uint8_t *bytes)
{
    return column->frames.count > 0 ||
           (column->dtype != AQ_DTYPE_U8 && (uintptr_t)bytes % sizeof(uint32_t) != 0);
}

static void make_room(actorq_data *data, uint32_t length)
{
    for (uint32_t i = 0; i < AQ_COLUMNS_MAX && length > data->copies_length; i++) {
        aq_free(data->copies[i]);
        data->copies[i] = NULL;
    }
    data->copies_length = length > data->copies_length ? length : data->copies_length;
}

/* Where each column can be read. */
static int place_columns(actorq_data *data, const aq_chunk_view *view,
                         const uint8_t *ret_columns[AQ_COLUMNS_MAX])
{
    const aq_layout *layout = aq_data_set_reader_layout(data->reader);
    make_room(data, view->length);
    for (uint32_t i = 0; i < layout->column_count; i++) {
        const aq_column *column = &layout->columns[i];
        const uint8_t *bytes = aq_chunk_view_column(view, i);
        ret_columns[i] = bytes;
        if (!is_copied(column, bytes)) {
            continue;
        }
        if (data->copies[i] == NULL) {
            const size_t values = aq_column_values(column, data->copies_length);
            data->copies[i] = aq_alloc_unset(values, column->bytes);
            if (data->copies[i] == NULL) {
                return AQ_E_NOMEM;
            }
        }
        ret_columns[i] = data->copies[i];
        if (column->frames.count == 0) {
            memcpy(data->copies[i], bytes, aq_column_bytes(column, view->length));
            continue;
        }
        for (size_t k = 0; k < aq_column_values(column, view->length); k++) {
            aq_frames_join(&column->frames, bytes + k * column->frames.bytes,
                           data->copies[i] + k * column->bytes);
        }
    }
    return 0;
}

int actorq_data_next(actorq_data *data, int *ret_more, actorq_piece *ret_piece, actorq_error *error)
{
    aq_error problem = {0};
    const uint8_t *columns[AQ_COLUMNS_MAX];
    aq_data_set_block block;
    bool more;
    int rc = AQ_NEED(&problem, {"data", data}, {"ret_more", ret_more}, {"ret_piece", ret_piece});
    rc = rc != 0 ? rc : aq_data_set_reader_next(data->reader, &more, &block, &problem);
    if (rc != 0) {
        return aq_library_tell(rc, &problem, error);
    }
    if (more) {
        rc = place_columns(data, &block.view, columns);
    }
    if (rc != 0) {
        return aq_library_tell(aq_fail(&problem, rc, "no memory for a piece"), &problem, error);
    }
    *ret_more = more;
    if (more) {
        *ret_piece = (actorq_piece){
            .actor = block.actor,
            .incarnation = block.incarnation,
            .episode = block.view.episode,
            .lane = block.view.lane,
            .first = block.view.first,
            .length = block.view.length,
            .overlap = block.view.overlap,
            .terminated = block.view.terminated,
            .truncated = block.view.truncated,
        };
        for (uint32_t i = 0; i < data->facts.column_count; i++) {
            ret_piece->columns[i] = columns[i];
        }
    }
    return 0;
}
