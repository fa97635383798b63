/*
 * A table's state as bytes, in portions one after the other. Each begins with
 *
 *   "AQTP" | kind u32 | chunks u32 | period of sequences u32 (0: items) | bytes of the chunks u64
 *          | message u64 and chunk of it u32 that was the newest | reserved u32
 *          | exponent f32 | greatest priority f32
 *
 * and has for each chunk
 *
 *   message u64 | chunk of it u32 | items u32 | draws of them u32 | reserved u32
 *   kind & 3: a value for each item, f32: 1: its priority, 2: priority^exponent
 *   kind & 4: times drawn of each item, u32
 *
 * in ascending order of (message, chunk), which is that of the table's ring; so reading goes
 * through both side by side. Little-endian. Masses are saved as they are, because taking a million
 * roots would make requests wait.
 */
#include "replay/table/replay_table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "replay/table/replay_table_parts.h"

enum {
    KIND_PRIORITIES = 1,
    KIND_MASSES = 2,
    KIND_TIMES = 4,
    KIND_ALL = 7,
    PORTION_BYTES = 48,
    CHUNK_BYTES = 24,
    BLOCK_ITEMS = 64,
};

static const char magic[4] = "AQTP";

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "saved in memory order");

typedef struct portion_head {
    char magic[4];
    uint32_t kind, chunks, period;
    uint64_t bytes;
    uint64_t newest_message;
    uint32_t newest_chunk, reserved;
    float exponent, greatest;
} portion_head;

typedef struct chunk_head {
    uint64_t message;
    uint32_t chunk, items, draws, reserved;
} chunk_head;

_Static_assert(sizeof(portion_head) == PORTION_BYTES, "no padding");
_Static_assert(sizeof(chunk_head) == CHUNK_BYTES, "no padding");

static uint64_t item_bytes(uint32_t kind)
{
    return ((kind & (KIND_PRIORITIES | KIND_MASSES)) != 0 ? sizeof(float) : 0) +
           ((kind & KIND_TIMES) != 0 ? sizeof(uint32_t) : 0);
}

/* ---- save ---------------------------------------------------------------------------------- */

static uint32_t kind_of(const aq_replay_table *table)
{
    uint32_t kind = table->draws_max > 0 ? KIND_TIMES : 0;
    if (table->removes_lowest) {
        kind |= KIND_PRIORITIES;
    } else if (table->spec.selector == AQ_SELECTOR_PRIORITIZED) {
        kind |= KIND_MASSES;
    }
    return kind;
}

static uint32_t period_of(const aq_replay_table *table)
{
    return table->spec.sequence_length > 0 ? table->spec.sequence_period : 0;
}

static uint8_t *put(uint8_t *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + bytes;
}

static uint8_t *put_chunk(const aq_replay_table *table, uint32_t kind, uint64_t ordinal,
                          uint8_t *to)
{
    const aq_chunk_slot *slot = aq_chunk_ring_slot(&table->ring, ordinal);
    const chunk_head head = {
        .message = slot->message->number,
        .chunk = (uint32_t)(slot->view - slot->message->arrival->chunks),
        .items = aq_chunk_ring_items(&table->ring, ordinal),
        .draws = slot->draws,
    };
    to = put(to, &head, sizeof(head));
    for (uint32_t i = 0; (kind & KIND_PRIORITIES) != 0 && i < head.items; i++) {
        to = put(to, aq_item_column_f32(&table->priorities, slot->first_item + i), sizeof(float));
    }
    for (uint32_t i = 0; (kind & KIND_MASSES) != 0 && i < head.items; i++) {
        float mass = table->selector->class->mass(table->selector, slot->first_item + i);
        to = put(to, &mass, sizeof(mass));
    }
    for (uint32_t i = 0; (kind & KIND_TIMES) != 0 && i < head.items; i++) {
        to = put(to, aq_item_column_u32(&table->times_drawn, slot->first_item + i),
                 sizeof(uint32_t));
    }
    return to;
}

int aq_replay_table_save(const aq_replay_table *table, uint64_t *position, uint32_t chunks_max,
                         aq_buffer *out)
{
    AQ_ASSERT(*position != UINT64_MAX);
    const aq_chunk_ring *ring = &table->ring;
    /* The ordinal of the next chunk, and 1, so that 0 is before all of them. */
    uint64_t first = *position > ring->head ? *position - 1 : ring->head;
    portion_head head = {
        .kind = kind_of(table),
        .period = period_of(table),
        .newest_message = table->newest.message,
        .newest_chunk = table->newest.chunk,
        .exponent = (float)table->spec.priority_exponent,
        .greatest = table->greatest,
    };
    memcpy(head.magic, magic, sizeof(magic));
    uint64_t end = first;
    for (; end < ring->end && head.chunks < chunks_max; end++) {
        if (aq_chunk_ring_slot(ring, end)->view != NULL) {
            head.chunks++;
            head.bytes += CHUNK_BYTES + aq_chunk_ring_items(ring, end) * item_bytes(head.kind);
        }
    }
    uint8_t *to;
    int rc = aq_buffer_extend(out, (size_t)(PORTION_BYTES + head.bytes), &to);
    if (rc != 0) {
        return rc;
    }
    to = put(to, &head, sizeof(head));
    for (uint64_t ordinal = first; ordinal < end; ordinal++) {
        if (aq_chunk_ring_slot(ring, ordinal)->view != NULL) {
            to = put_chunk(table, head.kind, ordinal, to);
        }
    }
    *position = end < ring->end ? end + 1 : UINT64_MAX;
    return 0;
}

/* ---- check --------------------------------------------------------------------------------- */

static bool is_before(aq_chunk_key a, aq_chunk_key b)
{
    return a.message < b.message || (a.message == b.message && a.chunk < b.chunk);
}

static int check_values(const uint8_t *values, uint32_t count, aq_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        float value;
        memcpy(&value, values + i * sizeof(value), sizeof(value));
        if (!isfinite(value) || value < 0.0f) {
            return aq_fail(error, AQ_E_CORRUPT, "a saved priority of %g", (double)value);
        }
    }
    return 0;
}

/* `bytes` has as many as the head says. */
static int check_chunks(const portion_head *head, const uint8_t *bytes, aq_chunk_key *last,
                        aq_error *error)
{
    uint64_t left = head->bytes;
    for (uint32_t i = 0; i < head->chunks; i++) {
        chunk_head chunk;
        if (left < sizeof(chunk)) {
            return aq_fail(error, AQ_E_CORRUPT, "a saved portion that ends within a chunk");
        }
        memcpy(&chunk, bytes, sizeof(chunk));
        uint64_t size = sizeof(chunk) + chunk.items * item_bytes(head->kind);
        if (left < size) {
            return aq_fail(error, AQ_E_CORRUPT,
                           "a saved chunk of %" PRIu32 " items that ends early", chunk.items);
        }
        aq_chunk_key key = {chunk.message, chunk.chunk};
        if (chunk.message == 0 || !is_before(*last, key)) {
            return aq_fail(error, AQ_E_CORRUPT,
                           "a saved chunk %" PRIu64 ".%" PRIu32 " out of order", key.message,
                           key.chunk);
        }
        *last = key;
        if ((head->kind & (KIND_PRIORITIES | KIND_MASSES)) != 0) {
            int rc = check_values(bytes + sizeof(chunk), chunk.items, error);
            if (rc != 0) {
                return rc;
            }
        }
        bytes += size;
        left -= size;
    }
    return left == 0 ? 0 : aq_fail(error, AQ_E_CORRUPT, "a saved portion with bytes to spare");
}

static int check_head(const portion_head *head, size_t left, aq_error *error)
{
    bool known = memcmp(head->magic, magic, sizeof(magic)) == 0 && head->kind <= KIND_ALL &&
                 (head->kind & (KIND_PRIORITIES | KIND_MASSES)) != (KIND_PRIORITIES | KIND_MASSES);
    if (!known) {
        return aq_fail(error, AQ_E_CORRUPT, "a saved portion that does not begin as one");
    }
    if (!isfinite(head->exponent) || head->exponent < 0.0f || !isfinite(head->greatest) ||
        head->greatest < 0.0f) {
        return aq_fail(error, AQ_E_CORRUPT, "a saved exponent of %g and greatest priority of %g",
                       (double)head->exponent, (double)head->greatest);
    }
    if (head->bytes > left) {
        return aq_fail(error, AQ_E_CORRUPT, "a saved portion of %" PRIu64 " bytes, %zu are there",
                       head->bytes, left);
    }
    return 0;
}

static int check(const uint8_t *bytes, size_t size, aq_error *error)
{
    aq_chunk_key last = {0};
    while (size > 0) {
        portion_head head;
        if (size < sizeof(head)) {
            return aq_fail(error, AQ_E_CORRUPT, "a saved table that ends within a portion's head");
        }
        memcpy(&head, bytes, sizeof(head));
        int rc = check_head(&head, size - sizeof(head), error);
        if (rc == 0) {
            rc = check_chunks(&head, bytes + sizeof(head), &last, error);
        }
        if (rc != 0) {
            return rc;
        }
        bytes += sizeof(head) + head.bytes;
        size -= sizeof(head) + (size_t)head.bytes;
    }
    return 0;
}

/* ---- load ---------------------------------------------------------------------------------- */

static float priority_of(const portion_head *head, float value)
{
    if ((head->kind & KIND_PRIORITIES) != 0) {
        return value;
    }
    if (head->exponent == 0.0f) {
        return 1.0f; /* the mass does not tell */
    }
    return fminf(powf(value, 1.0f / head->exponent), 3e38f);
}

static void load_priorities(aq_replay_table *table, const portion_head *head, uint64_t ordinal,
                            const uint8_t *values)
{
    uint64_t first = aq_chunk_ring_slot(&table->ring, ordinal)->first_item;
    uint32_t items = aq_chunk_ring_items(&table->ring, ordinal);
    for (uint32_t start = 0; start < items; start += BLOCK_ITEMS) {
        uint32_t count = items - start < BLOCK_ITEMS ? items - start : BLOCK_ITEMS;
        uint64_t numbers[BLOCK_ITEMS];
        float priorities[BLOCK_ITEMS];
        uint32_t applied;
        for (uint32_t i = 0; i < count; i++) {
            float value;
            memcpy(&value, values + (start + i) * sizeof(value), sizeof(value));
            numbers[i] = first + start + i;
            priorities[i] = priority_of(head, value);
        }
        aq_replay_table_prioritize(table, numbers, priorities, count, &applied);
    }
}

static void load_times(aq_replay_table *table, uint64_t ordinal, const uint8_t *times)
{
    aq_chunk_slot *slot = aq_chunk_ring_slot(&table->ring, ordinal);
    uint32_t items = aq_chunk_ring_items(&table->ring, ordinal);
    for (uint32_t i = 0; i < items; i++) {
        uint32_t *drawn = aq_item_column_u32(&table->times_drawn, slot->first_item + i);
        uint32_t saved;
        memcpy(&saved, times + i * sizeof(saved), sizeof(saved));
        saved = saved < table->draws_max ? saved : table->draws_max;
        if (saved <= *drawn) {
            continue;
        }
        table->draws_left -= saved - *drawn;
        *drawn = saved;
        if (saved == table->draws_max) {
            slot->items_left--;
            table->items--;
            table->selector->class->remove(table->selector, slot->first_item + i, 1);
        }
    }
}

static void load_chunk(aq_replay_table *table, const portion_head *head, const chunk_head *chunk,
                       uint64_t ordinal, const uint8_t *values)
{
    aq_chunk_slot *slot = aq_chunk_ring_slot(&table->ring, ordinal);
    slot->draws = chunk->draws;
    if ((head->kind & (KIND_PRIORITIES | KIND_MASSES)) != 0) {
        load_priorities(table, head, ordinal, values);
        values += chunk->items * sizeof(float);
    }
    if ((head->kind & KIND_TIMES) != 0 && table->draws_max > 0) {
        load_times(table, ordinal, values);
        if (slot->items_left == 0) {
            aq_replay_table_drop(table, ordinal);
        }
    }
}

static aq_chunk_key key_of(const aq_chunk_slot *slot)
{
    return (aq_chunk_key){slot->message->number,
                          (uint32_t)(slot->view - slot->message->arrival->chunks)};
}

/* Whether chunks that are not spoken of are known to have left. */
static bool tells_all(const aq_replay_table *table, const portion_head *head)
{
    return (table->removes_lowest || table->draws_max > 0) && head->kind == kind_of(table) &&
           head->period == period_of(table);
}

/* Goes on to the first chunk that is not before `key`; those passed on the way leave if `drop`. */
static uint64_t advance(aq_replay_table *table, uint64_t ordinal, aq_chunk_key key, bool drop)
{
    for (; ordinal < table->ring.end; ordinal++) {
        const aq_chunk_slot *slot = aq_chunk_ring_slot(&table->ring, ordinal);
        if (slot->view == NULL) {
            continue;
        }
        if (!is_before(key_of(slot), key)) {
            break;
        }
        if (drop) {
            aq_replay_table_drop(table, ordinal);
        }
    }
    return ordinal;
}

/* What is said of a chunk counts if it is there and has as many items as it had. Returns where the
 * search for the next one begins. */
static uint64_t load_portion(aq_replay_table *table, const portion_head *head, const uint8_t *bytes,
                             uint64_t ordinal)
{
    const aq_chunk_ring *ring = &table->ring;
    for (uint32_t i = 0; i < head->chunks; i++) {
        chunk_head chunk;
        memcpy(&chunk, bytes, sizeof(chunk));
        const aq_chunk_key key = {chunk.message, chunk.chunk};
        ordinal = advance(table, ordinal, key, tells_all(table, head));
        if (ordinal < ring->end && !is_before(key, key_of(aq_chunk_ring_slot(ring, ordinal)))) {
            if (aq_chunk_ring_items(ring, ordinal) == chunk.items) {
                load_chunk(table, head, &chunk, ordinal, bytes + sizeof(chunk));
            }
            ordinal++; /* spoken of */
        }
        bytes += sizeof(chunk) + chunk.items * item_bytes(head->kind);
    }
    return ordinal;
}

/* The items that no snapshot speaks of are new ones, which have the greatest priority. */
static void weigh_new(aq_replay_table *table, uint64_t ordinal)
{
    const bool weighs = (kind_of(table) & (KIND_PRIORITIES | KIND_MASSES)) != 0;
    for (; weighs && ordinal < table->ring.end; ordinal++) {
        const aq_chunk_slot *slot = aq_chunk_ring_slot(&table->ring, ordinal);
        const uint32_t items = slot->view != NULL ? aq_chunk_ring_items(&table->ring, ordinal) : 0;
        for (uint32_t i = 0; i < items; i++) {
            const uint64_t item = slot->first_item + i;
            uint32_t applied;
            aq_replay_table_prioritize(table, &item, &table->greatest, 1, &applied);
        }
    }
}

int aq_replay_table_load(aq_replay_table *table, const uint8_t *bytes, size_t size, aq_error *error)
{
    int rc = check(bytes, size, error);
    if (rc != 0) {
        return rc;
    }
    uint64_t ordinal = table->ring.head;
    portion_head head = {0};
    while (size > 0) {
        memcpy(&head, bytes, sizeof(head));
        table->greatest = fmaxf(table->greatest, head.greatest);
        ordinal = load_portion(table, &head, bytes + sizeof(head), ordinal);
        bytes += sizeof(head) + head.bytes;
        size -= sizeof(head) + (size_t)head.bytes;
    }
    /* The last ones there were had left, too. */
    const aq_chunk_key beyond = {head.newest_message, head.newest_chunk + 1};
    ordinal = advance(table, ordinal, beyond, tells_all(table, &head));
    weigh_new(table, ordinal);
    aq_chunk_ring_trim(&table->ring);
    return 0;
}
