/*
 * What a chunk means and when it is valid, for chunks wherever their columns lie.
 */
#include "common/experience/chunk_view.h"

void aq_chunk_view_lay(aq_chunk_view *view, const aq_layout *layout, const uint8_t *base)
{
    size_t at = 0;
    view->base = base;
    for (uint32_t i = 0; i < layout->column_count; i++) {
        view->at[i] = (uint32_t)at;
        at += aq_column_bytes(&layout->columns[i], view->length);
    }
    AQ_ASSERT(at <= UINT32_MAX);
}

uint32_t aq_chunk_view_items(const aq_chunk_view *view, const aq_layout *layout)
{
    if (view->terminated || view->truncated) {
        return view->length;
    }
    return view->length < layout->n_step ? 0 : view->length - layout->n_step + 1;
}

static int validate_sizes(const aq_chunk_view *view, const aq_layout *layout, aq_error *error)
{
    const uint64_t n_step =
        layout->n_step != AQ_CHUNK_SPAN_ANY ? layout->n_step : (uint64_t)view->overlap + 1;
    if (view->length < 1 || view->length > layout->length_max) {
        return aq_fail(error, AQ_E_CORRUPT, "a chunk of %u transitions; 1 to %u are possible",
                       view->length, layout->length_max);
    }
    if (view->terminated > 1 || view->truncated > 1) {
        return aq_fail(error, AQ_E_CORRUPT, "a flag that is neither 0 nor 1");
    }
    if (view->terminated && view->truncated) {
        return aq_fail(error, AQ_E_CORRUPT, "an episode that both terminated and was truncated");
    }
    if (view->overlap >= n_step || view->overlap >= view->length) {
        return aq_fail(error, AQ_E_CORRUPT,
                       "%u of %u transitions are repeated; less than that, and less than %u "
                       "steps, is possible",
                       view->overlap, view->length, (uint32_t)n_step);
    }
    if (view->first == 0 && view->overlap != 0) {
        return aq_fail(error, AQ_E_CORRUPT,
                       "the first chunk of an episode repeats %u transitions of none",
                       view->overlap);
    }
    if (view->first > UINT32_MAX - view->length) {
        return aq_fail(error, AQ_E_CORRUPT, "transition %u + %u is out of any episode", view->first,
                       view->length);
    }
    if (!view->terminated && !view->truncated && view->length < n_step) {
        return aq_fail(error, AQ_E_CORRUPT,
                       "%u transitions of an episode that goes on hold no return over %u steps",
                       view->length, (uint32_t)n_step);
    }
    return 0;
}

int aq_chunk_view_validate(const aq_chunk_view *view, const aq_layout *layout, aq_error *error)
{
    int rc = validate_sizes(view, layout, error);
    for (uint32_t i = 0; rc == 0 && i < layout->column_count; i++) {
        const aq_column *column = &layout->columns[i];
        rc = aq_column_check(column, aq_chunk_view_column(view, i),
                             aq_column_bytes(column, view->length) / aq_column_stride(column),
                             error);
    }
    return rc;
}
