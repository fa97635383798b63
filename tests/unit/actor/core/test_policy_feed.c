/*
 * The policy feed: what is accepted, what is refused, and where engines go.
 */
#include <string.h>

#include "actor/core/policy_feed.h"
#include "common/base/buffer.h"
#include "common/base/memory.h"
#include "common/sys/log.h"
#include "common/wire/wire_delta.h"
#include "common/wire/wire_policy.h"
#include "tests/support/test.h"
#include "tests/unit/actor/core_kit.h"

typedef struct fixture {
    aq_policy_feed *feed;
    aq_buffer frame;
} fixture;

static int set_up(void **state)
{
    static fixture all;
    aq_run_settings settings = kit_settings();
    aq_policy_feed_config config = {.run_id = KIT_RUN, .rows_max = KIT_ENVS};
    aq_log_set_level(AQ_LOG_OFF);
    memset(&all, 0, sizeof(all));
    aq_buffer_init(&all.frame, 1 << 20);
    *state = &all;
    if (aq_env_task_find(settings.task, settings.schema_hash, &config.task, NULL) != 0) {
        return -1;
    }
    int rc = aq_policy_feed_create(&config, &all.feed);
    aq_env_task_fini(&config.task);
    return rc;
}

static int tear_down(void **state)
{
    fixture *all = *state;
    aq_policy_feed_destroy(all->feed);
    aq_buffer_fini(&all->frame);
    return 0;
}

static void pack(fixture *all, aq_snapshot *snapshot)
{
    aq_buffer_clear(&all->frame);
    assert_int_equal(aq_wire_policy_pack(snapshot, &all->frame), 0);
    aq_snapshot_unref(snapshot);
}

static enum aq_policy_verdict give(fixture *all)
{
    return aq_policy_feed_give(all->feed, 0, all->frame.data, all->frame.size);
}

static enum aq_policy_verdict give_version(fixture *all, uint64_t version)
{
    pack(all, kit_policy(KIT_RUN, version, 1));
    return give(all);
}

static uint64_t version_of(aq_engine *engine)
{
    assert_non_null(engine);
    return aq_engine_snapshot(engine)->version;
}

TEST_WITH(a_new_policy_becomes_an_engine, set_up, tear_down)
{
    fixture *all = *state;
    assert_null(aq_policy_feed_take(all->feed));
    assert_int_equal(give_version(all, 3), AQ_POLICY_NEW);
    assert_int_equal(aq_policy_feed_news(all->feed).version, 3);
    aq_engine *engine = aq_policy_feed_take(all->feed);
    assert_int_equal(version_of(engine), 3);
    assert_true(aq_engine_rows_max(engine) >= KIT_ENVS);
    assert_null(aq_policy_feed_take(all->feed));
    aq_policy_feed_give_back(all->feed, engine);
}

TEST_WITH(only_the_newest_is_taken, set_up, tear_down)
{
    fixture *all = *state;
    assert_int_equal(give_version(all, 3), AQ_POLICY_NEW);
    assert_int_equal(give_version(all, 5), AQ_POLICY_NEW);
    assert_int_equal(give_version(all, 4), AQ_POLICY_OLD);
    assert_int_equal(give_version(all, 5), AQ_POLICY_OLD);
    aq_engine *engine = aq_policy_feed_take(all->feed);
    assert_int_equal(version_of(engine), 5);
    aq_policy_feed_give_back(all->feed, engine);
    assert_int_equal(aq_policy_feed_news(all->feed).rejected, 0);
}

TEST_WITH(an_announcement_is_remembered, set_up, tear_down)
{
    fixture *all = *state;
    aq_buffer_clear(&all->frame);
    assert_int_equal(aq_wire_announce_pack(KIT_RUN, 8, &all->frame), 0);
    assert_int_equal(give(all), AQ_POLICY_OLD);
    assert_int_equal(aq_policy_feed_news(all->feed).announced, 8);
    aq_buffer_clear(&all->frame);
    assert_int_equal(aq_wire_announce_pack(KIT_RUN + 1, 9, &all->frame), 0);
    assert_int_equal(give(all), AQ_POLICY_OLD); /* of another run: not for us */
    assert_int_equal(aq_policy_feed_news(all->feed).announced, 8);
    assert_int_equal(aq_policy_feed_news(all->feed).version, 0);
}

TEST_WITH(what_is_no_policy_of_this_run_is_rejected, set_up, tear_down)
{
    fixture *all = *state;
    uint64_t rejected = 0;

    pack(all, kit_policy(KIT_RUN + 1, 3, 1)); /* another run */
    assert_int_equal(give(all), AQ_POLICY_REJECTED);
    assert_int_equal(aq_policy_feed_news(all->feed).rejected, ++rejected);

    aq_snapshot *snapshot = kit_policy(KIT_RUN, 3, 1); /* another task */
    memcpy(snapshot->task, "gym:CartPole-v0", sizeof("gym:CartPole-v0"));
    pack(all, snapshot);
    assert_int_equal(give(all), AQ_POLICY_REJECTED);
    assert_int_equal(aq_policy_feed_news(all->feed).rejected, ++rejected);

    pack(all, kit_policy(KIT_RUN, 3, 1)); /* a flipped bit, wherever */
    for (size_t at = 0; at < all->frame.size; at += 7) {
        all->frame.data[at] ^= 0x10;
        assert_int_equal(give(all), AQ_POLICY_REJECTED);
        assert_int_equal(aq_policy_feed_news(all->feed).rejected, ++rejected);
        all->frame.data[at] ^= 0x10;
    }
    for (size_t size = 0; size < all->frame.size; size += 11) { /* cut short */
        assert_int_equal(aq_policy_feed_give(all->feed, 0, all->frame.data, size),
                         AQ_POLICY_REJECTED);
        assert_int_equal(aq_policy_feed_news(all->feed).rejected, ++rejected);
    }
    assert_null(aq_policy_feed_take(all->feed));
    assert_int_equal(give(all), AQ_POLICY_NEW); /* the whole one is good */
}

TEST_WITH(a_rejected_frame_leaves_the_policy_that_is_there, set_up, tear_down)
{
    fixture *all = *state;
    assert_int_equal(give_version(all, 3), AQ_POLICY_NEW);
    pack(all, kit_policy(KIT_RUN, 4, 1));
    all->frame.data[all->frame.size - 1] ^= 1;
    assert_int_equal(give(all), AQ_POLICY_REJECTED);
    aq_engine *engine = aq_policy_feed_take(all->feed);
    assert_int_equal(version_of(engine), 3);
    aq_policy_feed_give_back(all->feed, engine);
}

TEST_WITH(without_memory_a_policy_is_rejected_and_nothing_leaks, set_up, tear_down)
{
    fixture *all = *state;
    pack(all, kit_policy(KIT_RUN, 3, 1));
    for (uint64_t nth = 1;; nth++) {
        aq_memory_fail_at(nth, 0);
        enum aq_policy_verdict verdict = give(all);
        aq_memory_fail_at(0, 0);
        if (verdict == AQ_POLICY_NEW) {
            assert_true(nth > 1);
            break;
        }
        assert_int_equal(verdict, AQ_POLICY_REJECTED);
        assert_null(aq_policy_feed_take(all->feed));
    }
}

TEST_WITH(engines_that_nobody_took_or_that_came_back_are_freed, set_up, tear_down)
{
    fixture *all = *state; /* the leak checker looks, here and at the end */
    aq_engine *current = NULL;
    for (uint64_t version = 1; version <= 20; version++) {
        assert_int_equal(give_version(all, version), AQ_POLICY_NEW);
        if (version % 3 != 0) {
            aq_engine *engine = aq_policy_feed_take(all->feed);
            aq_policy_feed_give_back(all->feed, current);
            current = engine;
        }
    }
    aq_policy_feed_give_back(all->feed, current);
}

/* ---- changes -------------------------------------------------------------------------------- */

enum { VERSIONS = 200 };

/* A learner: versions one after another, each in full and as a change of the one before. */
typedef struct broadcast {
    aq_snapshot *policies[VERSIONS + 1];
} broadcast;

static void begin(broadcast *sent)
{
    memset(sent, 0, sizeof(*sent));
    for (uint64_t version = 1; version <= VERSIONS; version++) {
        aq_snapshot_layer_data layer;
        sent->policies[version] = kit_policy(KIT_RUN, version, 1);
        aq_snapshot_layer_edit(sent->policies[version], 0, &layer);
        ((float *)layer.weights)[version % 8] = (float)version;
    }
}

static void end(broadcast *sent)
{
    for (uint64_t version = 1; version <= VERSIONS; version++) {
        aq_snapshot_unref(sent->policies[version]);
    }
}

static void pack_full(fixture *all, const broadcast *sent, uint64_t version)
{
    aq_buffer_clear(&all->frame);
    assert_int_equal(aq_wire_policy_pack_compact(sent->policies[version], &all->frame), 0);
}

static void pack_delta(fixture *all, const broadcast *sent, uint64_t from, uint64_t to)
{
    aq_buffer_clear(&all->frame);
    assert_int_equal(aq_wire_delta_pack(sent->policies[from], sent->policies[to], &all->frame), 0);
}

static enum aq_policy_verdict give_full(fixture *all, const broadcast *sent, uint64_t version)
{
    pack_full(all, sent, version);
    return give(all);
}

static enum aq_policy_verdict give_delta(fixture *all, const broadcast *sent, uint64_t from)
{
    pack_delta(all, sent, from, from + 1);
    return give(all);
}

static void assert_newest_is(const fixture *all, const broadcast *sent, uint64_t version)
{
    const aq_snapshot *newest = aq_policy_feed_newest(all->feed);
    assert_non_null(newest);
    assert_int_equal(newest->version, version);
    for (uint32_t i = 0; i < newest->spec.layer_count; i++) {
        const aq_snapshot_layer *layer = &newest->layers[i];
        assert_memory_equal(layer->weights, sent->policies[version]->layers[i].weights,
                            layer->weights_bytes);
    }
    assert_int_equal(aq_policy_feed_news(all->feed).version, version);
}

TEST_WITH(a_change_of_the_newest_is_taken, set_up, tear_down)
{
    fixture *all = *state;
    broadcast sent;
    begin(&sent);
    assert_int_equal(give_full(all, &sent, 1), AQ_POLICY_NEW);
    assert_int_equal(give_delta(all, &sent, 1), AQ_POLICY_NEW);
    assert_int_equal(give_delta(all, &sent, 2), AQ_POLICY_NEW);
    assert_int_equal(give_delta(all, &sent, 1), AQ_POLICY_OLD);
    assert_newest_is(all, &sent, 3);
    aq_engine *engine = aq_policy_feed_take(all->feed);
    assert_int_equal(version_of(engine), 3);
    aq_policy_feed_give_back(all->feed, engine);
    assert_int_equal(aq_policy_feed_news(all->feed).gaps, 0);
    end(&sent);
}

TEST_WITH(a_chain_that_waits_becomes_one_engine, set_up, tear_down)
{
    fixture *all = *state;
    broadcast sent;
    begin(&sent);
    assert_int_equal(give_full(all, &sent, 1), AQ_POLICY_NEW);
    aq_policy_feed_give_back(all->feed, aq_policy_feed_take(all->feed));
    for (uint64_t from = 1; from <= 16; from++) {
        pack_delta(all, &sent, from, from + 1);
        assert_int_equal(aq_policy_feed_hear(all->feed, 0, all->frame.data, all->frame.size),
                         AQ_POLICY_NEW);
        assert_null(aq_policy_feed_take(all->feed));
    }
    assert_int_equal(aq_policy_feed_settle(all->feed, 0), AQ_POLICY_NEW);
    assert_int_equal(aq_policy_feed_settle(all->feed, 0), AQ_POLICY_OLD);
    aq_engine *engine = aq_policy_feed_take(all->feed);
    assert_int_equal(version_of(engine), 17);
    aq_policy_feed_give_back(all->feed, engine);
    end(&sent);
}

TEST_WITH(a_gap_is_counted_once_and_the_policy_stays, set_up, tear_down)
{
    fixture *all = *state;
    broadcast sent;
    begin(&sent);
    assert_int_equal(give_full(all, &sent, 1), AQ_POLICY_NEW);
    for (uint64_t from = 3; from <= 8; from++) {
        assert_int_equal(give_delta(all, &sent, from), AQ_POLICY_GAP);
    }
    assert_newest_is(all, &sent, 1);
    assert_int_equal(aq_policy_feed_news(all->feed).gaps, 1);
    assert_int_equal(aq_policy_feed_news(all->feed).rejected, 0);
    assert_int_equal(aq_policy_feed_news(all->feed).announced, 9); /* so that it is fetched */
    end(&sent);
}

TEST_WITH(what_was_heard_in_a_gap_follows_the_full_one, set_up, tear_down)
{
    fixture *all = *state;
    broadcast sent;
    begin(&sent);
    assert_int_equal(give_full(all, &sent, 1), AQ_POLICY_NEW);
    for (uint64_t from = 8; from >= 3; from--) { /* in whatever order */
        assert_int_equal(give_delta(all, &sent, from), AQ_POLICY_GAP);
    }
    assert_int_equal(give_full(all, &sent, 5), AQ_POLICY_NEW);
    assert_newest_is(all, &sent, 9);
    assert_int_equal(give_delta(all, &sent, 20), AQ_POLICY_GAP); /* another one */
    assert_int_equal(aq_policy_feed_news(all->feed).gaps, 2);
    end(&sent);
}

TEST_WITH(the_missing_change_closes_a_gap_without_a_full_one, set_up, tear_down)
{
    fixture *all = *state;
    broadcast sent;
    begin(&sent);
    assert_int_equal(give_full(all, &sent, 1), AQ_POLICY_NEW);
    assert_int_equal(give_delta(all, &sent, 2), AQ_POLICY_GAP);
    assert_int_equal(give_delta(all, &sent, 1), AQ_POLICY_NEW);
    assert_newest_is(all, &sent, 3);
    end(&sent);
}

TEST_WITH(a_change_of_an_older_version_than_ours_is_of_no_use, set_up, tear_down)
{
    fixture *all = *state;
    broadcast sent;
    begin(&sent);
    assert_int_equal(give_full(all, &sent, 5), AQ_POLICY_NEW);
    pack_delta(all, &sent, 3, 7);
    assert_int_equal(give(all), AQ_POLICY_GAP);
    assert_newest_is(all, &sent, 5);
    end(&sent);
}

TEST_WITH(who_has_no_policy_yet_misses_nothing, set_up, tear_down)
{
    fixture *all = *state;
    broadcast sent;
    begin(&sent);
    assert_int_equal(give_delta(all, &sent, 6), AQ_POLICY_GAP);
    assert_int_equal(aq_policy_feed_news(all->feed).gaps, 0);
    assert_int_equal(aq_policy_feed_news(all->feed).announced, 7);
    assert_null(aq_policy_feed_newest(all->feed));
    assert_int_equal(give_full(all, &sent, 6), AQ_POLICY_NEW);
    assert_newest_is(all, &sent, 7);
    end(&sent);
}

TEST_WITH(more_changes_than_may_wait_push_out_the_oldest, set_up, tear_down)
{
    fixture *all = *state;
    broadcast sent;
    begin(&sent);
    assert_int_equal(give_full(all, &sent, 1), AQ_POLICY_NEW);
    for (uint64_t from = 2; from < VERSIONS; from++) {
        assert_int_equal(give_delta(all, &sent, from), AQ_POLICY_GAP);
    }
    assert_int_equal(give_full(all, &sent, 100), AQ_POLICY_NEW); /* what followed has gone */
    assert_newest_is(all, &sent, 100);
    assert_int_equal(give_full(all, &sent, 150), AQ_POLICY_NEW);
    assert_newest_is(all, &sent, VERSIONS);
    end(&sent);
}

TEST_WITH(a_change_that_is_damaged_is_rejected, set_up, tear_down)
{
    fixture *all = *state;
    broadcast sent;
    begin(&sent);
    assert_int_equal(give_full(all, &sent, 1), AQ_POLICY_NEW);
    pack_delta(all, &sent, 1, 2);
    all->frame.data[all->frame.size / 2] ^= 1;
    assert_int_equal(give(all), AQ_POLICY_REJECTED);
    assert_newest_is(all, &sent, 1);
    assert_int_equal(aq_policy_feed_news(all->feed).rejected, 1);
    end(&sent);
}

TEST_WITH(a_change_of_another_run_is_rejected, set_up, tear_down)
{
    fixture *all = *state;
    broadcast sent;
    begin(&sent);
    assert_int_equal(give_full(all, &sent, 1), AQ_POLICY_NEW);
    sent.policies[1]->run_id++;
    sent.policies[2]->run_id++;
    assert_int_equal(give_delta(all, &sent, 1), AQ_POLICY_REJECTED);
    assert_int_equal(aq_policy_feed_news(all->feed).version, 1);
    end(&sent);
}

/* What was heard is right, but not what the sender made it from: a fault, not a gap. */
TEST_WITH(a_change_that_gives_something_else_is_rejected, set_up, tear_down)
{
    fixture *all = *state;
    broadcast sent;
    begin(&sent);
    assert_int_equal(give_full(all, &sent, 1), AQ_POLICY_NEW);
    sent.policies[3]->version = 1;
    pack_delta(all, &sent, 3, 2);
    assert_int_equal(give(all), AQ_POLICY_REJECTED);
    assert_newest_is(all, &sent, 1);
    end(&sent);
}

TEST_WITH(without_memory_a_change_is_rejected_and_nothing_leaks, set_up, tear_down)
{
    fixture *all = *state;
    broadcast sent;
    begin(&sent);
    for (uint64_t nth = 1;; nth++) {
        (void)give_full(all, &sent, 1);
        pack_delta(all, &sent, 1, 2);
        aq_memory_fail_at(nth, 0);
        enum aq_policy_verdict verdict = give(all);
        aq_memory_fail_at(0, 0);
        if (verdict == AQ_POLICY_NEW) {
            assert_true(nth > 3);
            break;
        }
        assert_int_equal(verdict, AQ_POLICY_REJECTED);
        assert_int_equal(aq_policy_feed_news(all->feed).version, 1);
        if (aq_policy_feed_newest(all->feed) == NULL) { /* no engine: the next full one counts */
            assert_int_equal(give_full(all, &sent, 2), AQ_POLICY_NEW);
            break;
        }
    }
    assert_newest_is(all, &sent, 2);
    end(&sent);
}

TEST_WITH(create_without_memory_fails, set_up, tear_down)
{
    fixture *all = *state;
    const aq_policy_feed_config config = {.run_id = 1};
    aq_policy_feed *feed = all->feed;
    aq_memory_fail_at(1, 0);
    assert_int_equal(aq_policy_feed_create(&config, &feed), AQ_E_NOMEM);
    aq_memory_fail_at(0, 0);
    assert_ptr_equal(feed, all->feed);
}

TEST_WITH(destroy_takes_null, set_up, tear_down)
{
    aq_policy_feed_destroy(NULL);
}
