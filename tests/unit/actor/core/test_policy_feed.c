/*
 * The policy feed: what is accepted, what is refused, and where engines go.
 */
#include "actor/core/policy_feed.h"
#include "common/net/rpc/frame.h"
#include "common/sys/log.h"
#include "common/wire/wire_delta.h"
#include "common/wire/wire_policy.h"
#include "tests/support/test.h"
#include "tests/unit/actor/core_kit.h"
#include "tests/unit/actor/feed_give.h"

enum { VERSIONS = 200 };

/* A feed, and a learner: versions one after another, each in full and as a change of the one
 * before. */
typedef struct fixture {
    aq_policy_feed *feed;
    aq_buffer frame;
    aq_snapshot *policies[VERSIONS + 1];
} fixture;

static fixture *open_feed(void)
{
    static fixture all;
    aq_run_settings settings = kit_settings();
    aq_policy_feed_config config = {.run_id = KIT_RUN, .rows_max = KIT_ENVS};
    aq_log_set_level(AQ_LOG_OFF);
    memset(&all, 0, sizeof(all));
    aq_buffer_init(&all.frame, 1 << 20);
    assert_int_equal(aq_env_task_find(settings.task, settings.schema_hash, &config.task, NULL), 0);
    assert_int_equal(aq_policy_feed_create(&config, &all.feed), 0);
    aq_env_task_fini(&config.task);
    for (uint64_t version = 1; version <= VERSIONS; version++) {
        aq_snapshot_layer_data layer;
        all.policies[version] = kit_policy(KIT_RUN, version, 1);
        aq_snapshot_layer_edit(all.policies[version], 0, &layer);
        ((float *)layer.weights)[version % 8] = (float)version;
    }
    return &all;
}

static void close_feed(fixture *all)
{
    for (uint64_t version = 1; version <= VERSIONS; version++) {
        aq_snapshot_unref(all->policies[version]);
    }
    aq_policy_feed_destroy(all->feed);
    aq_buffer_fini(&all->frame);
}

#define TEST_OF_FEED(name) TEST_OF(name, fixture *all, open_feed(), close_feed)

static void pack(fixture *all, aq_snapshot *snapshot)
{
    aq_buffer_clear(&all->frame);
    assert_int_equal(aq_wire_policy_pack(snapshot, &all->frame), 0);
    aq_snapshot_unref(snapshot);
}

static enum aq_policy_verdict give(fixture *all)
{
    return feed_give(all->feed, 0, all->frame.data, all->frame.size);
}

static enum aq_policy_verdict give_version(fixture *all, uint64_t version)
{
    pack(all, kit_policy(KIT_RUN, version, 1));
    return give(all);
}

/* Of the engine that waits, which is taken and given back. */
static uint64_t taken_version(fixture *all)
{
    aq_engine *engine = aq_policy_feed_take(all->feed);
    assert_non_null(engine);
    const uint64_t version = aq_engine_snapshot(engine)->version;
    aq_policy_feed_give_back(all->feed, engine);
    return version;
}

TEST_OF_FEED(a_new_policy_becomes_an_engine)
{
    assert_null(aq_policy_feed_take(all->feed));
    assert_int_equal(give_version(all, 3), AQ_POLICY_NEW);
    assert_int_equal(aq_policy_feed_news(all->feed).version, 3);
    aq_engine *engine = aq_policy_feed_take(all->feed);
    assert_int_equal(aq_engine_snapshot(engine)->version, 3);
    assert_true(aq_engine_rows_max(engine) >= KIT_ENVS);
    assert_null(aq_policy_feed_take(all->feed));
    aq_policy_feed_give_back(all->feed, engine);
}

TEST_OF_FEED(only_the_newest_is_taken)
{
    assert_int_equal(give_version(all, 3), AQ_POLICY_NEW);
    assert_int_equal(give_version(all, 5), AQ_POLICY_NEW);
    assert_int_equal(give_version(all, 4), AQ_POLICY_OLD);
    assert_int_equal(give_version(all, 5), AQ_POLICY_OLD);
    assert_int_equal(taken_version(all), 5);
    assert_int_equal(aq_policy_feed_news(all->feed).rejected, 0);
}

TEST_OF_FEED(what_is_no_policy_of_this_run_is_rejected)
{
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
        assert_int_equal(feed_give(all->feed, 0, all->frame.data, size), AQ_POLICY_REJECTED);
        assert_int_equal(aq_policy_feed_news(all->feed).rejected, ++rejected);
    }
    assert_null(aq_policy_feed_take(all->feed));
    assert_int_equal(give(all), AQ_POLICY_NEW); /* the whole one is good */
}

TEST_OF_FEED(a_rejected_frame_leaves_the_policy_that_is_there)
{
    assert_int_equal(give_version(all, 3), AQ_POLICY_NEW);
    pack(all, kit_policy(KIT_RUN, 4, 1));
    all->frame.data[all->frame.size - 1] ^= 1;
    assert_int_equal(give(all), AQ_POLICY_REJECTED);
    assert_int_equal(taken_version(all), 3);
}

TEST_OF_FEED(without_memory_a_policy_is_rejected_and_nothing_leaks)
{
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

/* The leak checker looks, here and at the end. */
TEST_OF_FEED(engines_that_nobody_took_or_that_came_back_are_freed)
{
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

static void pack_full(fixture *all, uint64_t version)
{
    aq_buffer_clear(&all->frame);
    assert_int_equal(aq_wire_policy_pack_compact(all->policies[version], &all->frame), 0);
}

static void pack_delta(fixture *all, uint64_t from, uint64_t to)
{
    aq_buffer_clear(&all->frame);
    assert_int_equal(aq_wire_delta_pack(all->policies[from], all->policies[to], &all->frame), 0);
}

static enum aq_policy_verdict give_full(fixture *all, uint64_t version)
{
    pack_full(all, version);
    return give(all);
}

static enum aq_policy_verdict give_delta(fixture *all, uint64_t from)
{
    pack_delta(all, from, from + 1);
    return give(all);
}

static void assert_newest_is(const fixture *all, uint64_t version)
{
    const aq_snapshot *newest = aq_policy_feed_newest(all->feed);
    assert_non_null(newest);
    assert_int_equal(newest->version, version);
    for (uint32_t i = 0; i < newest->spec.layer_count; i++) {
        const aq_snapshot_layer *layer = &newest->layers[i];
        assert_memory_equal(layer->weights, all->policies[version]->layers[i].weights,
                            layer->sizes.weights_bytes);
    }
    assert_int_equal(aq_policy_feed_news(all->feed).version, version);
}

TEST_OF_FEED(a_change_of_the_newest_is_taken)
{
    assert_int_equal(give_full(all, 1), AQ_POLICY_NEW);
    assert_int_equal(give_delta(all, 1), AQ_POLICY_NEW);
    assert_int_equal(give_delta(all, 2), AQ_POLICY_NEW);
    assert_int_equal(give_delta(all, 1), AQ_POLICY_OLD);
    assert_newest_is(all, 3);
    assert_int_equal(taken_version(all), 3);
    assert_int_equal(aq_policy_feed_news(all->feed).gaps, 0);
}

TEST_OF_FEED(a_chain_that_waits_becomes_one_engine)
{
    assert_int_equal(give_full(all, 1), AQ_POLICY_NEW);
    aq_policy_feed_give_back(all->feed, aq_policy_feed_take(all->feed));
    for (uint64_t from = 1; from <= 16; from++) {
        pack_delta(all, from, from + 1);
        assert_int_equal(aq_policy_feed_hear(all->feed, 0, all->frame.data, all->frame.size),
                         AQ_POLICY_NEW);
        assert_null(aq_policy_feed_take(all->feed));
    }
    assert_int_equal(aq_policy_feed_settle(all->feed, 0), AQ_POLICY_NEW);
    assert_int_equal(aq_policy_feed_settle(all->feed, 0), AQ_POLICY_OLD);
    assert_int_equal(taken_version(all), 17);
}

TEST_OF_FEED(a_gap_is_counted_once_and_the_policy_stays)
{
    assert_int_equal(give_full(all, 1), AQ_POLICY_NEW);
    for (uint64_t from = 3; from <= 8; from++) {
        assert_int_equal(give_delta(all, from), AQ_POLICY_GAP);
    }
    assert_newest_is(all, 1);
    assert_int_equal(aq_policy_feed_news(all->feed).gaps, 1);
    assert_int_equal(aq_policy_feed_news(all->feed).rejected, 0);
    assert_int_equal(aq_policy_feed_news(all->feed).heard, 9); /* so that it is fetched */
}

TEST_OF_FEED(what_was_heard_in_a_gap_follows_the_full_one)
{
    assert_int_equal(give_full(all, 1), AQ_POLICY_NEW);
    for (uint64_t from = 8; from >= 3; from--) { /* in whatever order */
        assert_int_equal(give_delta(all, from), AQ_POLICY_GAP);
    }
    assert_int_equal(give_full(all, 5), AQ_POLICY_NEW);
    assert_newest_is(all, 9);
    assert_int_equal(give_delta(all, 20), AQ_POLICY_GAP); /* another one */
    assert_int_equal(aq_policy_feed_news(all->feed).gaps, 2);
}

TEST_OF_FEED(the_missing_change_closes_a_gap_without_a_full_one)
{
    assert_int_equal(give_full(all, 1), AQ_POLICY_NEW);
    assert_int_equal(give_delta(all, 2), AQ_POLICY_GAP);
    assert_int_equal(give_delta(all, 1), AQ_POLICY_NEW);
    assert_newest_is(all, 3);
}

TEST_OF_FEED(a_change_of_an_older_version_than_ours_is_of_no_use)
{
    assert_int_equal(give_full(all, 5), AQ_POLICY_NEW);
    pack_delta(all, 3, 7);
    assert_int_equal(give(all), AQ_POLICY_GAP);
    assert_newest_is(all, 5);
}

TEST_OF_FEED(who_has_no_policy_yet_misses_nothing)
{
    assert_int_equal(give_delta(all, 6), AQ_POLICY_GAP);
    assert_int_equal(aq_policy_feed_news(all->feed).gaps, 0);
    assert_int_equal(aq_policy_feed_news(all->feed).heard, 7);
    assert_null(aq_policy_feed_newest(all->feed));
    assert_int_equal(give_full(all, 6), AQ_POLICY_NEW);
    assert_newest_is(all, 7);
}

TEST_OF_FEED(more_changes_than_may_wait_push_out_the_oldest)
{
    assert_int_equal(give_full(all, 1), AQ_POLICY_NEW);
    for (uint64_t from = 2; from < VERSIONS; from++) {
        assert_int_equal(give_delta(all, from), AQ_POLICY_GAP);
    }
    assert_int_equal(give_full(all, 100), AQ_POLICY_NEW); /* what followed has gone */
    assert_newest_is(all, 100);
    assert_int_equal(give_full(all, 150), AQ_POLICY_NEW);
    assert_newest_is(all, VERSIONS);
}

TEST_OF_FEED(a_change_that_is_damaged_is_rejected)
{
    assert_int_equal(give_full(all, 1), AQ_POLICY_NEW);
    pack_delta(all, 1, 2);
    all->frame.data[all->frame.size / 2] ^= 1;
    assert_int_equal(give(all), AQ_POLICY_REJECTED);
    assert_newest_is(all, 1);
    assert_int_equal(aq_policy_feed_news(all->feed).rejected, 1);
}

TEST_OF_FEED(a_change_of_another_run_is_rejected)
{
    assert_int_equal(give_full(all, 1), AQ_POLICY_NEW);
    all->policies[1]->run_id++;
    all->policies[2]->run_id++;
    assert_int_equal(give_delta(all, 1), AQ_POLICY_REJECTED);
    assert_int_equal(aq_policy_feed_news(all->feed).version, 1);
}

/* What was heard is right, but not what the sender made it from: a fault, not a gap. */
TEST_OF_FEED(a_change_that_gives_something_else_is_rejected)
{
    assert_int_equal(give_full(all, 1), AQ_POLICY_NEW);
    all->policies[3]->version = 1;
    pack_delta(all, 3, 2);
    assert_int_equal(give(all), AQ_POLICY_REJECTED);
    assert_newest_is(all, 1);
}

TEST_OF_FEED(without_memory_a_change_is_rejected_and_nothing_leaks)
{
    for (uint64_t nth = 1;; nth++) {
        (void)give_full(all, 1);
        pack_delta(all, 1, 2);
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
            assert_int_equal(give_full(all, 2), AQ_POLICY_NEW);
            break;
        }
    }
    assert_newest_is(all, 2);
}

TEST_OF_FEED(create_without_memory_fails_and_destroy_takes_null)
{
    const aq_policy_feed_config config = {.run_id = 1};
    aq_policy_feed *feed = all->feed;
    assert_fails_without_memory(aq_policy_feed_create(&config, &feed));
    assert_ptr_equal(feed, all->feed);
    aq_policy_feed_destroy(NULL);
}

/* A learner whose word is bad cannot have its actors make room for another network. */
TEST_OF_FEED(a_policy_of_another_network_than_the_runs_is_refused)
{
    const uint64_t networks[] = {aq_net_spec_hash(&all->policies[1]->spec), 7};
    for (size_t i = 0; i < 2; i++) {
        aq_run_settings settings = kit_settings();
        aq_policy_feed_config config = {
            .run_id = KIT_RUN, .network_hash = networks[i], .rows_max = KIT_ENVS};
        aq_policy_feed_destroy(all->feed);
        assert_int_equal(aq_env_task_find(settings.task, settings.schema_hash, &config.task, NULL),
                         0);
        assert_int_equal(aq_policy_feed_create(&config, &all->feed), 0);
        aq_env_task_fini(&config.task);
        assert_int_equal(give_version(all, 1), i == 0 ? AQ_POLICY_NEW : AQ_POLICY_REJECTED);
    }
}
