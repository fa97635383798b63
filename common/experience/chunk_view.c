/*
 * What a chunk means and when it is valid, for chunks wherever their columns lie; aq_chunk is asked
 * through a view of itself, so that there is one answer.
 *
 * Workload: every byte that actors send is looked at once here, so the scans are made for bytes at
 * any alignment and vector registers (finite.c, and the one of choices below).
 */
#include "common/experience/chunk_view.h"

#include "common/base/assert.h"
#include "common/experience/finite.h"

aq_chunk_view aq_chunk_view_of(const aq_chunk *chunk)
{
    return (aq_chunk_view){
        .obs = chunk->obs,
        .action = chunk->action,
        .reward = (const uint8_t *)chunk->reward,
        .version = (const uint8_t *)chunk->version,
        .episode = chunk->episode,
        .first = chunk->first,
        .lane = chunk->lane,
        .length = chunk->length,
        .overlap = chunk->overlap,
        .terminated = chunk->terminated,
        .truncated = chunk->truncated,
    };
}

uint32_t aq_chunk_view_fresh(const aq_chunk_view *view)
{
    AQ_ASSERT(view->overlap <= view->length);
    return view->length - view->overlap;
}

uint32_t aq_chunk_view_items(const aq_chunk_view *view, const aq_chunk_layout *layout)
{
    if (view->terminated || view->truncated) {
        return view->length;
    }
    return view->length < layout->n_step ? 0 : view->length - layout->n_step + 1;
}

static int validate_sizes(const aq_chunk_view *view, const aq_chunk_layout *layout, aq_error *error)
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

static int validate_floats(const uint8_t *column, size_t rows, size_t row_bytes, const char *name,
                           aq_error *error)
{
    size_t row_values = row_bytes / sizeof(float);
    size_t bad = aq_find_nonfinite(column, rows * row_values);
    if (bad == rows * row_values) {
        return 0;
    }
    return aq_fail(error, AQ_E_CORRUPT, "%s %zu, element %zu is NaN or infinite", name,
                   bad / row_values, bad % row_values);
}

/* As unsigned numbers, negative choices are large ones. */
static uint32_t choice_at(const aq_chunk_view *view, uint32_t row)
{
    uint32_t choice;
    memcpy(&choice, view->action + (size_t)row * sizeof(choice), sizeof(choice));
    return choice;
}

static int validate_choices(const aq_chunk_view *view, uint32_t choice_count, aq_error *error)
{
    uint32_t largest = 0;
    for (uint32_t row = 0; row < view->length; row++) {
        uint32_t choice = choice_at(view, row);
        largest = choice > largest ? choice : largest;
    }
    for (uint32_t row = 0; largest >= choice_count && row < view->length; row++) {
        uint32_t choice = choice_at(view, row);
        if (choice >= choice_count) {
            return aq_fail(error, AQ_E_SCHEMA, "action %u is %d; 0 to %u are possible", row,
                           (int32_t)choice, choice_count - 1);
        }
    }
    return 0;
}

int aq_chunk_view_validate(const aq_chunk_view *view, const aq_chunk_layout *layout,
                           aq_error *error)
{
    int rc = validate_sizes(view, layout, error);
    if (rc == 0 && layout->obs_is_f32) {
        rc = validate_floats(view->obs, (size_t)view->length + 1, layout->obs_bytes, "observation",
                             error);
    }
    if (rc == 0) {
        rc = validate_floats(view->reward, view->length, sizeof(float), "reward", error);
    }
    if (rc == 0 && layout->action_is_f32) {
        rc = validate_floats(view->action, view->length, layout->action_bytes, "action", error);
    }
    if (rc == 0 && layout->choice_count > 0) {
        rc = validate_choices(view, layout->choice_count, error);
    }
    return rc;
}

void aq_chunk_view_fold(const aq_chunk_view *view, uint32_t n_step, uint32_t row, float discount,
                        float *ret_return, float *ret_bootstrap, uint32_t *ret_next_row)
{
    AQ_ASSERT(row < view->length);
    uint32_t left = view->length - row;
    uint32_t steps = left < n_step ? left : n_step;
    double sum = 0.0;
    double factor = 1.0;
    for (uint32_t i = 0; i < steps; i++) {
        sum += factor * (double)aq_chunk_view_reward(view, row + i);
        factor *= (double)discount;
    }
    bool terminal = view->terminated && row + steps == view->length;
    *ret_return = (float)sum;
    *ret_bootstrap = terminal ? 0.0f : (float)factor;
    *ret_next_row = row + steps;
}
