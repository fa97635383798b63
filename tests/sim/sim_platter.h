/*
 * Platter: the simulated disk of a replay shard, under which a log lies (replay_log.h) that
 * outlives the process. Records become durable in their order, some time after they were handed
 * over, and none while the disk is full. Segments are small, so that they roll and are dropped all
 * the time.
 *
 * kill -9 keeps what was durable, and of the rest as much as chance has it: none, some or all, and
 * perhaps a torn record, which the next start hears of as damage. The snapshot stays the old one
 * until the records before the new one are durable.
 */
#ifndef AQ_TESTS_SIM_SIM_PLATTER_H
#define AQ_TESTS_SIM_SIM_PLATTER_H

#include "replay/disk/replay_log.h"
#include "tests/sim/sim_scenario.h"
#include "tests/sim/sim_world.h"

enum { SIM_SEGMENTS_MAX = 4096, SIM_RECORDS_MAX = 65536 };

#define SIM_BACKLOG_BYTES ((uint64_t)256 << 10)

typedef struct sim_record {
    aq_lease *frame;  /* NULL: its segment was dropped */
    uint64_t segment; /* the newest one when it came */
    int64_t due_ns;   /* when it becomes durable */
} sim_record;

typedef struct sim_segment {
    uint64_t inserted, mark_count;
    aq_log_mark *marks;
    uint64_t first_number; /* that its first record has, or would have */
    uint64_t bytes;
    bool goes; /* it was asked for in this life, and is done when all of it is written */
    bool dropped;
} sim_segment;

typedef struct sim_platter {
    aq_replay_log log; /* first */
    sim_world *world;
    aq_rng rng;
    uint64_t store; /* whose it is; 0: nobody's yet */
    uint32_t slot;
    uint64_t segment_bytes; /* a new segment after so many */
    int64_t delay_ns_max;   /* until a record is durable */
    bool maps;              /* records can be mapped */
    enum sim_plant plant;
    bool full;
    bool is_open;
    sim_record *records; /* number n at n - 1 */
    uint64_t count, durable;
    sim_segment *segments; /* likewise */
    uint64_t segment_count;
    uint64_t gone; /* the newest that was dropped: they go in their order */
    bool begun;    /* a segment in this life */
    aq_lease *snapshot;
    aq_lease *waiting; /* the next one */
    uint64_t waiting_number;
    uint64_t snapshots; /* in this life */
    bool torn;          /* the next start finds half a record */
    uint64_t lost;      /* records that did not survive a kill, in all */
    uint64_t drops;     /* segments, in all */
} sim_platter;

void sim_platter_init(sim_platter *platter, sim_world *world, const sim_scenario *scenario,
                      uint64_t index);
void sim_platter_fini(sim_platter *platter);

/* Opens it for another life: gives `to` what is there and returns the log. False, with what was
 * said, when a callback refuses. */
bool sim_platter_open(sim_platter *platter, const aq_replay_log_recovery *to,
                      uint64_t *ret_last_number, aq_replay_log **ret_log, aq_error *error);

/* kill -9 of the process, before its memory is given back. */
void sim_platter_kill(sim_platter *platter);

/* The disk is full, or has room again. */
void sim_platter_fill(sim_platter *platter, bool full);

/* The number of the oldest record whose segment is there. */
uint64_t sim_platter_oldest(const sim_platter *platter);

#endif
