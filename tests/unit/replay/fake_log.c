/*
 * Arrays.
 */
#include "tests/unit/replay/fake_log.h"

#include "tests/support/test.h"

static bool wants_head(const aq_replay_log *log)
{
    const fake_log *fake = (const fake_log *)log;
    return !fake->begun || fake->in_segment >= fake->records_per_segment;
}

static int begin(aq_replay_log *log, const aq_log_head *head, uint64_t *ret_segment)
{
    fake_log *fake = (fake_log *)log;
    assert_true(fake->segment < FAKE_SEGMENTS_MAX);
    if (fake->count - fake->durable >= fake->full_at) {
        return AQ_E_FULL;
    }
    fake_segment *segment = &fake->segments[fake->segment++];
    segment->inserted = head->inserted;
    segment->mark_count = head->mark_count;
    segment->marks = aq_alloc(head->mark_count + 1, sizeof(*segment->marks));
    assert_non_null(segment->marks);
    memcpy(segment->marks, head->marks, head->mark_count * sizeof(*segment->marks));
    fake->in_segment = 0;
    fake->begun = true;
    *ret_segment = fake->segment;
    return 0;
}

static int append(aq_replay_log *log, uint64_t number, aq_lease *frame, uint64_t *ret_segment)
{
    fake_log *fake = (fake_log *)log;
    assert_int_equal(number, fake->count + 1);
    assert_true(fake->count < FAKE_RECORDS_MAX);
    if (fake->count - fake->durable >= fake->full_at) {
        return AQ_E_FULL;
    }
    fake->in_segment++;
    fake->records[fake->count] = aq_lease_ref(frame);
    fake->segments_of[fake->count] = fake->segment;
    fake->count++;
    *ret_segment = fake->segment;
    return 0;
}

static void poll(aq_replay_log *log, aq_log_progress *ret_progress)
{
    const fake_log *fake = (const fake_log *)log;
    *ret_progress = (aq_log_progress){
        .durable = fake->durable,
        .segment = fake->segment,
        .stuck = fake->stuck,
        .disk_bytes = fake->disk_bytes,
        .kept_bytes = fake->kept_bytes,
        .snapshots = fake->snapshots,
    };
    if (fake->stuck) {
        snprintf(ret_progress->reason, sizeof(ret_progress->reason), "no space left");
    }
    for (uint64_t i = fake->durable; i < fake->count; i++) {
        ret_progress->backlog_bytes += fake->records[i]->size;
    }
}

static void drop(aq_replay_log *log, uint64_t segment)
{
    fake_log *fake = (fake_log *)log;
    assert_true(segment >= 1);
    assert_true(segment < fake->segment);
    assert_false(fake->segments[segment - 1].dropped);
    fake->segments[segment - 1].dropped = true;
}

static int snapshot(aq_replay_log *log, aq_lease *bytes)
{
    fake_log *fake = (fake_log *)log;
    if (fake->snapshot_rc != 0) {
        return fake->snapshot_rc;
    }
    aq_lease_unref(fake->snapshot);
    fake->snapshot = aq_lease_ref(bytes);
    fake->snapshots++;
    return 0;
}

static int map(aq_replay_log *log, uint64_t number, uint64_t segment, aq_lease **ret_frame)
{
    fake_log *fake = (fake_log *)log;
    assert_true(number <= fake->durable);
    assert_int_equal(segment, fake->segments_of[number - 1]);
    fake->mapped++;
    *ret_frame = aq_lease_ref(fake->records[number - 1]);
    return 0;
}

static void close_log(aq_replay_log *log, aq_error *error)
{
    fake_log *fake = (fake_log *)log;
    (void)error;
    fake->closed++;
}

void fake_log_init(fake_log *fake)
{
    static const aq_replay_log_class class = {
        .append = append,
        .wants_head = wants_head,
        .begin = begin,
        .poll = poll,
        .drop = drop,
        .snapshot = snapshot,
        .map = map,
        .close = close_log,
    };
    memset(fake, 0, sizeof(*fake));
    fake->log.class = &class;
    fake->records_per_segment = 4;
    fake->full_at = UINT64_MAX;
}

void fake_log_fini(fake_log *fake)
{
    for (uint64_t i = 0; i < fake->count; i++) {
        aq_lease_unref(fake->records[i]);
    }
    for (uint64_t i = 0; i < fake->segment; i++) {
        aq_free(fake->segments[i].marks);
    }
    aq_lease_unref(fake->snapshot);
}

void fake_log_crash(fake_log *fake)
{
    while (fake->count > fake->durable) {
        aq_lease_unref(fake->records[--fake->count]);
    }
    fake->begun = false;
}

void fake_log_recover(const fake_log *fake, const aq_replay_log_recovery *calls)
{
    uint64_t number = 1;
    for (uint64_t segment = 1; segment <= fake->segment; segment++) {
        const fake_segment *at = &fake->segments[segment - 1];
        const aq_log_head head = {at->inserted, at->mark_count, at->marks};
        if (!at->dropped) {
            assert_int_equal(calls->head(calls->user, segment, &head, NULL), 0);
        }
        for (; number <= fake->count && fake->segments_of[number - 1] == segment; number++) {
            if (!at->dropped) {
                assert_int_equal(calls->record(calls->user, segment, number,
                                               fake->records[number - 1], fake->maps, NULL),
                                 0);
            }
        }
    }
    const void *bytes = fake->snapshot != NULL ? fake->snapshot->bytes : NULL;
    size_t size = fake->snapshot != NULL ? fake->snapshot->size : 0;
    assert_int_equal(calls->snapshot(calls->user, bytes, size, NULL), 0);
}

uint64_t fake_log_live_segments(const fake_log *fake)
{
    uint64_t live = 0;
    for (uint64_t i = 0; i < fake->segment; i++) {
        live += !fake->segments[i].dropped;
    }
    return live;
}
