/*
 * A core over a fake log: what the tests of acknowledgements, restarts and upkeep share.
 */
#ifndef AQ_TESTS_UNIT_REPLAY_DURABLE_KIT_H
#define AQ_TESTS_UNIT_REPLAY_DURABLE_KIT_H

#include <stdint.h>

#include "common/config/run_settings.h"
#include "common/experience/batch.h"
#include "replay/shard/replay_core.h"
#include "tests/unit/replay/fake_log.h"

typedef struct durable_kit {
    fake_log fake;
    aq_run_settings settings;
    aq_replay_core *core;
    int64_t now_ns;
    uint64_t backlog_bytes; /* that the core believes the log takes; 1 MiB */
    int damages, advances;
    uint64_t lives;
} durable_kit;

/* Without a core yet. */
void durable_kit_setup(durable_kit *kit);
void durable_kit_teardown(durable_kit *kit);

/* Begins the next life from what the log holds. */
void durable_kit_open(durable_kit *kit);

/* Ends this life; what is not durable is gone. */
void durable_kit_crash(durable_kit *kit);

/* Both. */
void durable_kit_restart(durable_kit *kit);

/* Lets so many ticks pass. */
void durable_kit_pass(durable_kit *kit, int ticks);
void durable_kit_make_durable(durable_kit *kit);

enum aq_replay_verdict durable_kit_send(durable_kit *kit, uint64_t actor, uint64_t seq,
                                        uint32_t steps);

/* Messages of actor 1 with 8 steps each, which are stored. */
void durable_kit_fill(durable_kit *kit, uint64_t first_seq, uint64_t last_seq);

/* A call of an actor that knows nothing but its grant. */
aq_credit durable_kit_ask(durable_kit *kit, uint64_t actor, uint64_t known_granted);
aq_replay_holdings durable_kit_holdings(const durable_kit *kit, size_t table);

/* Of the main table. */
aq_batch *durable_kit_sample(durable_kit *kit, uint32_t rows);

#endif
