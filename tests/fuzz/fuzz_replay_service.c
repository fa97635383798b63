/*
 * A shard that is told anything: by calls of its services, which are each answered once, and by
 * experience, which is taken or counted as refused.
 */
#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/lease.h"
#include "replay/service/replay_service.h"
#include "tests/fuzz/fuzz_desk.h"
#include "tests/fuzz/fuzz_frame.h"
#include "tests/support/must.h"
#include "tests/unit/replay/replay_kit.h"

enum { TICK_NS = AQ_REPLAY_TICK_MS * 1000 * 1000 };

static void on_rejected(void *user, const char *peer, const aq_error *error)
{
    size_t *rejected = user;
    (void)peer;
    AQ_ASSERT(error->code < 0);
    AQ_ASSERT(error->text[0] != '\0');
    (*rejected)++;
}

static void on_damaged(void *user, const char *what)
{
    (void)user;
    (void)what;
    AQ_ASSERT(!"a store in memory has no earlier life");
}

static void on_stop(void *user, const char *peer, const char *reason)
{
    (void)user;
    AQ_ASSERT(strlen(peer) > 0);
    AQ_ASSERT(reason != NULL);
}

static void receive(aq_replay_service *service, int64_t now_ns, const fuzz_step *step)
{
    aq_buffer frame;
    aq_lease *lease;
    fuzz_frame_wrap(step->bytes, step->size, AQ_FRAME_EXPERIENCE, &frame);
    must(aq_lease_copy(frame.data, frame.size, &lease));
    aq_buffer_fini(&frame);
    aq_replay_service_experience(service, now_ns, lease, "tcp://10.0.0.9:4712");
    aq_lease_unref(lease);
}

static aq_replay_service *begin(fuzz_desk *desk, size_t *rejected, int64_t now_ns)
{
    aq_replay_service_owner owner = {
        .user = rejected, .rejected = on_rejected, .damaged = on_damaged, .stop = on_stop};
    aq_run_settings settings = kit_settings();
    aq_shard_run run = kit_run(&settings);
    aq_replay_service *service;
    must(aq_replay_service_create(&owner, now_ns, &service));
    must(aq_replay_service_offer(service, desk->dispatcher));
    must(aq_replay_service_begin(service, now_ns, &run, NULL, NULL));
    return service;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_stream stream = {.bytes = data, .left = size};
    int64_t now_ns = AQ_NS_PER_S;
    size_t rejected = 0;
    fuzz_desk desk;
    fuzz_step step;
    fuzz_desk_init(&desk);
    aq_replay_service *service = begin(&desk, &rejected, now_ns);
    while (fuzz_stream_next(&stream, &step)) {
        if (step.kind == FUZZ_STEP_REQUEST) {
            fuzz_desk_request(&desk, step.bytes, step.size);
        } else if (step.kind == FUZZ_STEP_EXPERIENCE) {
            receive(service, now_ns, &step);
        } else if (step.kind == FUZZ_STEP_BYTES) {
            fuzz_desk_bytes(&desk, step.bytes, step.size);
        } else {
            now_ns += fuzz_step_ms(&step) * AQ_NS_PER_MS;
        }
        now_ns += TICK_NS;
        aq_replay_service_tick(service, now_ns);
    }
    AQ_ASSERT(rejected <= aq_replay_core_counters(aq_replay_service_core(service)).rejected);
    aq_replay_service_destroy(service);
    fuzz_desk_fini(&desk);
    return 0;
}
