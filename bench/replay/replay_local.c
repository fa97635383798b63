/*
 * See replay_local.h. Steps get in as they would from a socket: as frames that arrive. Time is this
 * process's processor time, so that waiting for a processor that others use does not count.
 */
#include "bench/replay/replay_local.h"

#include "common/base/buffer.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "common/wire/wire_experience.h"
#include "replay/shard/replay_core.h"

enum { ACTOR = 2, SEED = 3, BATCHES_BETWEEN_LOOKS = 64, UPKEEP_EVERY = 64 };
#define RUN_ID      UINT64_C(0xbe9c)
#define STORE       UINT64_C(0x57)
#define INCARNATION UINT64_C(0xfeed)

struct aq_replay_local {
    aq_replay_core *core;
    aq_replay_load *load;
    aq_run_settings settings;
    aq_buffer frame;
    aq_batch *batch;
    float *priorities;
    aq_rng rng;
    uint64_t seq;
    uint32_t next_chunk;
};

/* ---- filling --------------------------------------------------------------------------------- */

/* As many chunks as fit into a message of the run, one after the other. */
static int pack_next(aq_replay_local *local, uint64_t *ret_transitions)
{
    const aq_replay_load *load = local->load;
    aq_chunk *chunks[AQ_EXPERIENCE_CHUNKS_MAX];
    uint32_t count = 0;
    do {
        chunks[count++] = load->chunks[local->next_chunk];
        local->next_chunk = (local->next_chunk + 1) % load->shape.chunk_count;
        chunks[count] = load->chunks[local->next_chunk];
    } while (count + 1 < AQ_EXPERIENCE_CHUNKS_MAX &&
             aq_wire_experience_bytes_max(&load->layout, (const aq_chunk *const *)chunks,
                                          count + 1) <= local->settings.config.net.message_bytes);
    const aq_experience experience = {
        .run_id = RUN_ID,
        .actor = ACTOR,
        .incarnation = INCARNATION,
        .seq = ++local->seq,
        .acknowledged = local->seq - 1,
        .store = STORE,
        .chunk_count = count,
        .chunks = chunks,
    };
    aq_buffer_clear(&local->frame);
    *ret_transitions = (uint64_t)count * load->fresh;
    return aq_wire_experience_pack(&experience, &load->layout, &local->frame);
}

static int arrive(aq_replay_local *local, aq_arrival **ret_arrival, aq_error *error)
{
    aq_lease *lease;
    int rc = aq_lease_copy(local->frame.data, local->frame.size, &lease);
    if (rc != 0) {
        return aq_fail(error, rc, "no memory for a message");
    }
    rc = aq_wire_experience_arrive(lease, false, RUN_ID, &local->load->layout, ret_arrival, error);
    aq_lease_unref(lease);
    return rc;
}

static int fill(aq_replay_local *local, uint64_t transitions, aq_error *error)
{
    uint64_t inserted = 0, more;
    int rc = 0;
    while (rc == 0 && inserted < transitions) {
        enum aq_replay_verdict verdict;
        aq_arrival *arrival;
        rc = pack_next(local, &more);
        if (rc != 0) {
            return aq_fail(error, rc, "%s", aq_error_text(rc));
        }
        rc = arrive(local, &arrival, error);
        if (rc == 0) {
            rc = aq_replay_core_insert(local->core, aq_clock_monotonic_ns(), arrival, &verdict,
                                       error);
        }
        if (local->seq % UPKEEP_EVERY == 0) {
            aq_replay_core_upkeep(local->core, aq_clock_monotonic_ns());
        }
        inserted += more;
    }
    return rc;
}

/* ---- create ---------------------------------------------------------------------------------- */

static int open_core(aq_replay_local *local, aq_error *error)
{
    const aq_shard_run run = {.settings = &local->settings,
                              .run_id = RUN_ID,
                              .store = STORE,
                              .incarnation = 1,
                              .seed = SEED};
    const int64_t now_ns = aq_clock_monotonic_ns();
    int rc = aq_replay_core_create(&run, now_ns, &local->core, error);
    if (rc == 0) {
        rc = aq_replay_core_attach(local->core, now_ns, NULL, 0, 0);
        rc = rc != 0 ? aq_fail(error, rc, "%s", aq_error_text(rc)) : 0;
    }
    return rc;
}

int aq_replay_local_create(const aq_run_settings *settings, aq_replay_load *load,
                           uint64_t transitions, aq_replay_local **ret_local, aq_error *error)
{
    aq_replay_local *local = aq_alloc(1, sizeof(*local));
    if (local == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s", aq_error_text(AQ_E_NOMEM));
    }
    local->load = load;
    local->settings = *settings;
    aq_buffer_init(&local->frame, settings->config.net.message_bytes);
    aq_rng_init(&local->rng, SEED, 1);
    local->priorities = aq_alloc(settings->sample_rows, sizeof(float));
    int rc = local->priorities == NULL
                 ? AQ_E_NOMEM
                 : aq_batch_create(&load->layout, 0, settings->sample_rows, &local->batch);
    rc = rc != 0 ? aq_fail(error, rc, "%s", aq_error_text(rc)) : open_core(local, error);
    if (rc == 0) {
        rc = fill(local, transitions, error);
    }
    if (rc != 0) {
        aq_replay_local_destroy(local);
        return rc;
    }
    *ret_local = local;
    return 0;
}

void aq_replay_local_destroy(aq_replay_local *local)
{
    if (local == NULL) {
        return;
    }
    aq_replay_core_destroy(local->core);
    aq_batch_destroy(local->batch);
    aq_free(local->priorities);
    aq_buffer_fini(&local->frame);
    aq_free(local);
}

/* ---- use ------------------------------------------------------------------------------------- */

static int draw(aq_replay_local *local, int64_t now_ns, uint32_t batch_rows, float discount,
                bool prioritizes)
{
    aq_batch *batch = local->batch;
    int rc = aq_replay_core_sample(local->core, now_ns, 0, batch_rows, discount, batch);
    if (rc != 0 || !prioritizes) {
        return rc;
    }
    for (uint32_t i = 0; i < batch->rows; i++) {
        local->priorities[i] = (float)aq_rng_uniform(&local->rng);
    }
    (void)aq_replay_core_prioritize(local->core, 0, batch->item, local->priorities, batch->rows);
    return 0;
}

int aq_replay_local_run(aq_replay_local *local, uint32_t batch_rows, float discount,
                        bool prioritizes, int64_t time_ns, double *ret_batches_per_s,
                        aq_error *error)
{
    int rc = draw(local, aq_clock_monotonic_ns(), batch_rows, discount, prioritizes);
    if (rc == 0) {
        rc = aq_replay_load_check(local->load, local->batch, discount, error);
    }
    if (rc != 0) {
        return rc;
    }
    const int64_t start_ns = aq_clock_cpu_ns();
    int64_t passed_ns = 0;
    uint64_t batches = 0;
    while (rc == 0 && passed_ns < time_ns) {
        const int64_t now_ns = aq_clock_monotonic_ns();
        for (int i = 0; rc == 0 && i < BATCHES_BETWEEN_LOOKS; i++) {
            rc = draw(local, now_ns, batch_rows, discount, prioritizes);
        }
        batches += BATCHES_BETWEEN_LOOKS;
        passed_ns = aq_clock_cpu_ns() - start_ns;
    }
    if (rc != 0) {
        return aq_fail(error, rc, "a batch in process: %s", aq_error_text(rc));
    }
    *ret_batches_per_s = (double)batches * (double)AQ_NS_PER_S / (double)passed_ns;
    return 0;
}
