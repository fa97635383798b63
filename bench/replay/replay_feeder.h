/*
 * Feeder: an actor's sending half at full rate, on a thread of its own: the real outbox, PUSH and
 * Credit session, and ready-made chunks instead of environments.
 *
 * The functions are for the thread that created it.
 */
#ifndef AQ_BENCH_REPLAY_REPLAY_FEEDER_H
#define AQ_BENCH_REPLAY_REPLAY_FEEDER_H

#include <stdint.h>

#include "bench/replay/replay_load.h"
#include "bench/replay/replay_rig.h"

typedef struct aq_replay_feeder aq_replay_feeder;

/* Connects and waits for a goal. `load` must outlive it. */
int aq_replay_feeder_create(const aq_replay_rig *rig, const aq_replay_load *load,
                            aq_replay_feeder **ret_feeder, aq_error *error) AQ_MUST_USE;
void aq_replay_feeder_destroy(aq_replay_feeder *feeder); /* NULL is fine */

/* Sends until so many transitions were sent in all; UINT64_MAX: without end. */
void aq_replay_feeder_send_until(aq_replay_feeder *feeder, uint64_t transitions);

/* Transitions that the shard has acknowledged. */
uint64_t aq_replay_feeder_acknowledged(const aq_replay_feeder *feeder);

/* Bytes of the frames that were sent, and their number. */
uint64_t aq_replay_feeder_bytes(const aq_replay_feeder *feeder);
uint64_t aq_replay_feeder_messages(const aq_replay_feeder *feeder);

#endif
