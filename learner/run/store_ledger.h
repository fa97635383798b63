/*
 * Store ledger: what each store of a replay shard has brought to the run, and which slot it has. A
 * store is what a shard holds, over all starts of the process; one in memory has one life. How many
 * steps it has taken in is told by itself and only grows, so that the sum over the stores is how
 * far the run is, whoever dies and comes back.
 *
 * People know a shard by its slot, so a slot stays with its store while that can be:
 *   - a store that is known comes back to its slot; so does one that says which it had in this run,
 *     of which an older checkpoint of the learner doesn't know;
 *   - a new store at the address of one that is gone takes its slot: that one, in memory, is no
 *     more, and what actors have not heard acknowledged goes to the new one;
 *   - another new store gets a slot that no store has, and the slot of the one that went first when
 *     there is none such.
 * A slot is never that of two live stores.
 *
 * Beyond AQ_STORES_MAX a store that is gone is told apart no more, one without a slot first. Were
 * it to come back, it would count twice.
 *
 * A core; one thread.
 */
#ifndef AQ_LEARNER_RUN_STORE_LEDGER_H
#define AQ_LEARNER_RUN_STORE_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/net/address/url.h"
#include "common/wire/wire_checkpoint.h"

/* More than a store can have taken in; the sum over all stays a whole number in 64 bits. */
#define AQ_SHARD_INSERTED_MAX (UINT64_C(1) << 53)

typedef struct aq_store_entry {
    aq_shard_count count;
    uint64_t incarnation; /* of its process in the run; 0: it is gone */
    uint64_t gone_at;     /* counts departures */
    bool is_told;         /* by itself, and not only by a checkpoint */
    char rpc_url[AQ_URL_MAX];
} aq_store_entry;

typedef struct aq_store_ledger {
    aq_store_entry entries[AQ_STORES_MAX];
    size_t count;
    uint64_t base; /* of stores that have no entry any more */
    uint64_t found;
    uint64_t departures;
} aq_store_ledger; /* zeroed: empty */

/* The process `incarnation` came with `store`, at `rpc_url`; `slot` is the one that it says it had
 * in this run, or AQ_SLOT_NONE. The slot that it gets. Fewer than AQ_SHARDS_MAX are live, and
 * `store` is not among them. */
uint32_t aq_store_ledger_arrive(aq_store_ledger *ledger, uint64_t incarnation, uint64_t store,
                                const char *rpc_url, uint32_t slot);

/* That process is gone; its count stays. */
void aq_store_ledger_depart(aq_store_ledger *ledger, uint64_t incarnation);

/* How many transitions the store of that process has taken in. Passed over when the process is not
 * live, and beyond AQ_SHARD_INSERTED_MAX. */
void aq_store_ledger_told(aq_store_ledger *ledger, uint64_t incarnation, uint64_t inserted);

/* Over all stores that ever were. */
uint64_t aq_store_ledger_total(const aq_store_ledger *ledger);

/* Of that, what stores had when they first told of themselves, and no checkpoint did: nobody can
 * say when it came. */
uint64_t aq_store_ledger_found(const aq_store_ledger *ledger);

/* For checkpoints. `counts` has room for AQ_STORES_MAX. Of a checkpoint of before slots were
 * written down, all but one store are told apart no more: they count, and are gone for good. */
size_t aq_store_ledger_counts(const aq_store_ledger *ledger, aq_shard_count *counts,
                              uint64_t *ret_base);
void aq_store_ledger_restore(aq_store_ledger *ledger, const aq_shard_count *counts, size_t count,
                             uint64_t base);

#endif
