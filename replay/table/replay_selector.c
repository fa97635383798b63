/*
 * Which kind serves which table: a range is enough for uniform draws as long as nothing leaves but
 * the oldest.
 */
#include "replay/table/replay_selector.h"

int aq_replay_selector_create(const aq_table_spec *spec, uint64_t seed,
                              aq_replay_selector **ret_selector)
{
    switch (spec->selector) {
    case AQ_SELECTOR_FIFO:
    case AQ_SELECTOR_QUEUE:
        return aq_selector_ordered_create(false, ret_selector);
    case AQ_SELECTOR_LIFO:
        return aq_selector_ordered_create(true, ret_selector);
    case AQ_SELECTOR_UNIFORM:
        if (spec->remover == AQ_REMOVER_FIFO && spec->times_sampled_max == 0) {
            return aq_selector_range_create(seed, ret_selector);
        }
        break;
    default:
        break;
    }
    return aq_selector_weighted_create(seed, ret_selector);
}

void aq_replay_selector_destroy(aq_replay_selector *selector)
{
    if (selector != NULL) {
        selector->class->destroy(selector);
    }
}
