/*
 * Policy shelf: see policy_shelf.h.
 */
#include "learner/publish/policy_shelf.h"

#include "common/base/memory.h"

enum { PLACES = 256, KEPT_MIN = 4, HELD = 16 };
#define BYTES_MAX ((size_t)64 * 1024 * 1024)

struct aq_policy_shelf {
    aq_publication places[PLACES]; /* a ring; the newest stands before `next` */
    size_t next;
    size_t count;
    size_t bytes;
    aq_publication held[HELD]; /* by holder; snapshots without frames, or empty */
    aq_policy_totals totals;
};

static size_t bytes_of(const aq_publication *publication)
{
    size_t bytes = publication->frame.capacity + aq_snapshot_tensor_bytes(publication->snapshot);
    if (publication->twin != publication->snapshot) {
        bytes += aq_snapshot_tensor_bytes(publication->twin);
    }
    return bytes;
}

int aq_policy_shelf_create(aq_policy_shelf **ret_shelf)
{
    aq_policy_shelf *shelf = aq_alloc(1, sizeof(*shelf));
    if (!shelf) {
        return AQ_E_NOMEM;
    }
    *ret_shelf = shelf;
    return 0;
}

/* Nobody fetches it any more. */
static void drop_frame(aq_policy_shelf *shelf, aq_publication *publication)
{
    shelf->bytes -= bytes_of(publication);
    aq_buffer_fini(&publication->frame);
    shelf->bytes += bytes_of(publication);
}

static void drop_oldest(aq_policy_shelf *shelf)
{
    aq_publication *oldest = &shelf->places[(shelf->next + PLACES - shelf->count) % PLACES];
    shelf->bytes -= bytes_of(oldest);
    shelf->count--;
    aq_publication_fini(oldest);
}

void aq_policy_shelf_destroy(aq_policy_shelf *shelf)
{
    if (!shelf) {
        return;
    }
    while (shelf->count > 0) {
        drop_oldest(shelf);
    }
    for (size_t i = 0; i < HELD; i++) {
        aq_publication_fini(&shelf->held[i]);
    }
    aq_free(shelf);
}

void aq_policy_shelf_put(aq_policy_shelf *shelf, aq_publication *publication)
{
    if (shelf->count > 0) {
        drop_frame(shelf, &shelf->places[(shelf->next + PLACES - 1) % PLACES]);
    }
    if (shelf->totals.versions == 0 || shelf->totals.packed_bytes_fp32 > 0) {
        shelf->totals.packed_bytes_fp32 += publication->packed_bytes_fp32;
    }
    shelf->totals.versions++;
    shelf->totals.deltas += publication->delta.size > 0;
    shelf->totals.bytes += aq_publication_broadcast(publication)->size;
    shelf->totals.bytes_fp32 += publication->frame_bytes_fp32;
    shelf->totals.fallbacks += publication->fell_back;
    aq_buffer_fini(&publication->delta); /* was sent */

    size_t bytes = bytes_of(publication);
    while (shelf->count == PLACES ||
           (shelf->count >= KEPT_MIN && shelf->bytes + bytes > BYTES_MAX)) {
        drop_oldest(shelf);
    }
    shelf->places[shelf->next] = *publication;
    *publication = (aq_publication){0};
    shelf->next = (shelf->next + 1) % PLACES;
    shelf->count++;
    shelf->bytes += bytes;
}

static const aq_publication *back(const aq_policy_shelf *shelf, size_t steps)
{
    return &shelf->places[(shelf->next + PLACES - 1 - steps) % PLACES];
}

const aq_publication *aq_policy_shelf_newest(const aq_policy_shelf *shelf)
{
    return shelf->count ? back(shelf, 0) : NULL;
}

static const aq_publication *find_held(const aq_policy_shelf *shelf, uint64_t version)
{
    for (size_t i = 0; i < HELD; i++) {
        if (shelf->held[i].snapshot != NULL && shelf->held[i].snapshot->version == version) {
            return &shelf->held[i];
        }
    }
    return NULL;
}

const aq_publication *aq_policy_shelf_find(const aq_policy_shelf *shelf, uint64_t version)
{
    for (size_t i = 0; i < shelf->count; i++) {
        const aq_publication *candidate = back(shelf, i);
        if (candidate->snapshot->version == version) {
            return candidate;
        }
    }
    return find_held(shelf, version);
}

void aq_policy_shelf_hold(aq_policy_shelf *shelf, uint64_t version, uint32_t holder)
{
    const aq_publication *found = aq_policy_shelf_find(shelf, version);
    if (found == NULL) {
        return;
    }
    aq_publication *place = &shelf->held[holder % HELD];
    aq_publication held = *found;
    held.frame = held.delta = (aq_buffer){0};
    held.snapshot = aq_snapshot_ref(held.snapshot);
    held.twin = aq_snapshot_ref(held.twin);
    aq_publication_fini(place);
    *place = held;
}

aq_policy_totals aq_policy_shelf_totals(const aq_policy_shelf *shelf)
{
    return shelf->totals;
}

void aq_policy_shelf_restore_totals(aq_policy_shelf *shelf, const aq_policy_totals *totals)
{
    shelf->totals = *totals;
}
