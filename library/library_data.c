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
    actorq_data *data = aq_alloc(1, sizeof(*data));
    int rc = data != NULL ? aq_data_set_reader_open(path, &data->reader, &problem)
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
        aq_free(data);
    }
}

const actorq_data_facts *actorq_data_look(const actorq_data *data)
{
    return &data->facts;
}

int actorq_data_next(actorq_data *data, int *ret_more, actorq_piece *ret_piece, actorq_error *error)
{
    aq_error problem = {0};
    aq_data_set_block block;
    bool more;
    int rc = aq_data_set_reader_next(data->reader, &more, &block, &problem);
    if (rc != 0) {
        return aq_library_tell(rc, &problem, error);
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
            ret_piece->columns[i] = aq_chunk_view_column(&block.view, i);
        }
    }
    return 0;
}
