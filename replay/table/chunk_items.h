/*
 * Chunk items: which rows of a chunk are items of a table, in order. All starts that the chunk
 * offers (aq_chunk_view_items) where the table folds n steps; those at multiples of its period
 * since the start of the episode where it takes sequences. Sequences that are cut follow each other
 * from the chunk's first new step on.
 */
#ifndef AQ_REPLAY_TABLE_CHUNK_ITEMS_H
#define AQ_REPLAY_TABLE_CHUNK_ITEMS_H

#include <stdint.h>

#include "common/config/table_spec.h"
#include "common/experience/chunk_view.h"

/* The row at which a sequence table's first item of a chunk starts, if it has one. */
static inline uint32_t aq_chunk_items_offset(const aq_chunk_view *view, uint32_t period)
{
    uint32_t past = view->first % period;
    return past == 0 ? 0 : period - past;
}

static inline uint32_t aq_chunk_items_count(const aq_table_spec *spec, const aq_layout *layout,
                                            const aq_chunk_view *view)
{
    uint32_t starts = aq_chunk_view_items(view, layout);
    if (spec->sequence_length == 0) {
        return starts;
    }
    if (aq_table_spec_is_cut(spec)) {
        return (aq_chunk_view_fresh(view) + spec->sequence_length - 1) / spec->sequence_length;
    }
    uint32_t offset = aq_chunk_items_offset(view, spec->sequence_period);
    return offset < starts ? (starts - 1 - offset) / spec->sequence_period + 1 : 0;
}

/* The row at which the chunk's item `index` starts. */
static inline uint32_t aq_chunk_items_row(const aq_table_spec *spec, const aq_chunk_view *view,
                                          uint32_t index)
{
    if (spec->sequence_length == 0) {
        return index;
    }
    const uint32_t first = aq_table_spec_is_cut(spec)
                               ? view->overlap
                               : aq_chunk_items_offset(view, spec->sequence_period);
    return first + index * spec->sequence_period;
}

#endif
