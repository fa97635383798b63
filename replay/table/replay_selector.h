/*
 * Replay selector: which of a table's items a sample takes. It sees their numbers and how much each
 * is worth, nothing else.
 *
 *   range    all numbers from the oldest to the newest, each as likely as any other; the oldest
 *            leave first                                      (selector_range.c)
 *   weighted in proportion to a mass; any may leave           (selector_weighted.c)
 *   ordered  the oldest or the newest ones; any may leave     (selector_ordered.c)
 *
 * One owner, no locking.
 */
#ifndef AQ_REPLAY_TABLE_REPLAY_SELECTOR_H
#define AQ_REPLAY_TABLE_REPLAY_SELECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/config/table_spec.h"

typedef struct aq_replay_selector aq_replay_selector;

typedef struct aq_replay_selector_class {
    /* The rows of one draw are all different. */
    bool draws_each_once;

    /* Makes room for the numbers first .. end - 1; what is in it is not below `first`. AQ_E_NOMEM:
     * nothing changed. */
    int (*reserve)(aq_replay_selector *selector, uint64_t first, uint64_t end);

    /* Items first .. first + count - 1 came, each of this mass: the next numbers, in room that was
     * reserved. */
    void (*insert)(aq_replay_selector *selector, uint64_t first, uint32_t count, float mass);

    /* Items that are not to be drawn any more; what left already stays so. */
    void (*remove)(aq_replay_selector *selector, uint64_t first, uint32_t count);

    /* New masses > 0 of items that are in it. NULL: all are worth the same. */
    void (*weigh)(aq_replay_selector *selector, const uint64_t *items, const float *masses,
                  uint32_t count);

    /* `rows` items, of which there are enough, and the probability of each. */
    void (*draw)(aq_replay_selector *selector, uint32_t rows, uint64_t *items,
                 float *probabilities);

    /* Of one item that is in it, and of all of them. NULL: all are worth the same. */
    float (*mass)(const aq_replay_selector *selector, uint64_t item);
    double (*total)(const aq_replay_selector *selector);

    size_t (*bytes)(const aq_replay_selector *selector);
    void (*destroy)(aq_replay_selector *selector);
} aq_replay_selector_class;

/* It begins with its class; what follows is the implementation's own. */
struct aq_replay_selector {
    const aq_replay_selector_class *class;
};

/* The one that a table asks for. AQ_E_NOMEM. */
int aq_replay_selector_create(const aq_table_spec *spec, uint64_t seed,
                              aq_replay_selector **ret_selector) AQ_MUST_USE;
void aq_replay_selector_destroy(aq_replay_selector *selector); /* NULL is fine */

/* ---- the kinds ----------------------------------------------------------------------------- */

int aq_selector_range_create(uint64_t seed, aq_replay_selector **ret_selector) AQ_MUST_USE;
int aq_selector_weighted_create(uint64_t seed, aq_replay_selector **ret_selector) AQ_MUST_USE;
int aq_selector_ordered_create(bool newest_first, aq_replay_selector **ret_selector) AQ_MUST_USE;

/* Sets the draws' random numbers apart from all others that follow from the same seed. */
#define AQ_SELECTOR_STREAM UINT64_C(0x73656c6563746f72) /* "selector" */

#endif
