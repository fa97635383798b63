/*
 * Shard feed: see shard_feed.h.
 */
#include "learner/daemon/shard_feed.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/config/annealing.h"
#include "common/config/pacing.h"
#include "common/sys/log.h"
#include "common/wire/wire_sample.h"

enum { ANSWER_BYTES = 65536 };

struct aq_shard_feed {
    aq_feed_config config;
    aq_prefetch *prefetch;
    aq_shard_links *links;
    aq_log_limit trouble_limit;
};

static void on_ready(void *user, aq_batch *group)
{
    aq_shard_feed *feed = user;
    feed->config.ready(feed->config.user, group);
}

static void on_progress(void *user, uint64_t shard_incarnation, uint64_t inserted)
{
    aq_shard_feed *feed = user;
    if (feed->config.coordinator != NULL) {
        aq_coordinator_progress(feed->config.coordinator, shard_incarnation, inserted);
    }
}

static void on_shard_trouble(void *user, const char *shard, const char *reason)
{
    aq_shard_feed *feed = user;
    aq_log_limited(&feed->trouble_limit, aq_clock_monotonic_ns(), AQ_LOG_WARN, "sampling_failed",
                   "asked again in a moment", "shard=%s error=%s", shard, AQ_LOG_QUOTED(reason));
}

static int64_t feed_now_ns(void *user)
{
    (void)user;
    return aq_clock_monotonic_ns();
}

static void on_reached(void *user, uint64_t shard_incarnation, bool is_reached)
{
    aq_shard_feed *feed = user;
    if (feed->config.coordinator != NULL) {
        aq_coordinator_reached(feed->config.coordinator, shard_incarnation, is_reached);
    }
}

static void on_link_trouble(void *user, const char *url, const aq_error *error)
{
    on_shard_trouble(user, url, error->text);
}

/* A reply with samples is the longest answer, unless it is very short. */
static size_t answer_bytes_max(const aq_run_plan *plan)
{
    return ANSWER_BYTES + aq_wire_sample_bytes(&plan->layout, plan->table.sequence_length,
                                               plan->settings.sample_rows);
}

static int create_links(aq_shard_feed *feed, uint32_t in_flight)
{
    const aq_run_plan *plan = feed->config.plan;
    const aq_shard_links_config config = {
        .loop = feed->config.loop,
        .prefetch = feed->prefetch,
        .run_id = feed->config.run_id,
        .limits = {.message_bytes_max = answer_bytes_max(plan),
                   .reconnect_min_ms = (uint32_t)plan->config.net.reconnect_min_ms,
                   .reconnect_max_ms = (uint32_t)plan->config.net.reconnect_max_ms,
                   .security = feed->config.security},
        .calls_max = aq_prefetch_calls_max(in_flight),
        .timeout_ms = (uint32_t)plan->config.net.rpc_timeout_ms,
    };
    const aq_shard_links_owner owner = {
        .user = feed, .reached = on_reached, .trouble = on_link_trouble};
    return aq_shard_links_create(&config, &owner, &feed->links);
}

int aq_shard_feed_create(const aq_feed_config *config, aq_shard_feed **ret_feed)
{
    const aq_run_config *settings = &config->plan->config;
    const uint32_t rows = config->plan->settings.sample_rows;
    const uint32_t steps = config->plan->settings.gradient_values > 0
                               ? rows
                               : (uint32_t)aq_pacing_group_steps(settings);
    aq_shard_feed *feed = aq_alloc(1, sizeof(*feed));
    if (feed == NULL) {
        return AQ_E_NOMEM;
    }
    feed->config = *config;
    const aq_prefetch_config prefetch = {
        .run_id = config->run_id,
        .table = config->plan->table,
        .importance_exponent = aq_importance_exponent_max(settings),
        .batch_rows = steps > 0 ? rows : (uint32_t)settings->learner.batch_size,
        .batch_count = steps > 0 ? 1 : (uint32_t)settings->learner.batches_per_request,
        .steps = steps,
        .versions_max = config->plan->settings.versions_max,
        .in_flight = (uint32_t)settings->learner.prefetch,
        .discount = (float)settings->learner.discount,
        .wait_ms = (uint32_t)settings->net.rpc_timeout_ms / 2,
        .timeout_ms = (uint32_t)settings->net.rpc_timeout_ms,
    };
    const aq_prefetch_owner owner = {
        .user = feed,
        .ready = on_ready,
        .progress = on_progress,
        .trouble = on_shard_trouble,
        .now_ns = feed_now_ns,
    };
    int rc = aq_prefetch_create(&prefetch, &config->plan->layout, &owner, &feed->prefetch);
    if (rc == 0) {
        rc = create_links(feed, prefetch.in_flight);
    }
    if (rc != 0) {
        aq_shard_feed_destroy(feed);
        return rc;
    }
    *ret_feed = feed;
    return 0;
}

void aq_shard_feed_close(aq_shard_feed *feed)
{
    if (feed != NULL) {
        aq_shard_links_destroy(feed->links);
        feed->links = NULL;
    }
}

void aq_shard_feed_destroy(aq_shard_feed *feed)
{
    if (feed != NULL) {
        aq_prefetch_destroy(feed->prefetch);
        aq_free(feed);
    }
}

void aq_shard_feed_tick(aq_shard_feed *feed, int64_t now_ns)
{
    aq_shard_links_follow(feed->links, feed->config.places);
    aq_prefetch_tick(feed->prefetch, now_ns);
}

aq_prefetch *aq_shard_feed_prefetch(const aq_shard_feed *feed)
{
    return feed->prefetch;
}
