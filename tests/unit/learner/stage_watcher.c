/*
 * See stage_watcher.h.
 */
#include "tests/unit/learner/stage_watcher.h"

#include <time.h>

#include "common/sys/cpu.h"
#include "tests/support/kept_arrays.h"
#include "tests/support/test.h"

enum { PATIENCE_S = 120, ERROR_ROWS = 32 };

static void add(stage_watcher *watcher, const stage_event *event)
{
    pthread_mutex_lock(&watcher->mutex);
    if (watcher->count < WATCHER_EVENTS_MAX) {
        watcher->events[watcher->count++] = *event;
    }
    pthread_cond_broadcast(&watcher->changed);
    pthread_mutex_unlock(&watcher->mutex);
}

static int on_next_version(void *user, uint64_t *ret_version, aq_error *error)
{
    stage_watcher *watcher = user;
    pthread_mutex_lock(&watcher->mutex);
    int rc = watcher->version_failure;
    if (rc == 0) {
        *ret_version = watcher->next_version++;
    }
    pthread_mutex_unlock(&watcher->mutex);
    return rc != 0 ? aq_fail(error, rc, "no version") : 0;
}

static void on_publish(void *user, aq_publication *publication)
{
    stage_watcher *watcher = user;
    stage_event event = {.kind = 'p',
                         .step = publication->snapshot->learner_step,
                         .version = publication->snapshot->version,
                         .rows = publication->measured.rows,
                         .is_delta = publication->delta.size > 0};
    memcpy(&event.first, publication->twin->layers[0].weights, sizeof(event.first));
    pthread_mutex_lock(&watcher->mutex);
    watcher->holding = watcher->hold;
    pthread_cond_broadcast(&watcher->changed);
    while (watcher->hold) {
        pthread_cond_wait(&watcher->changed, &watcher->mutex);
    }
    watcher->holding = false;
    pthread_mutex_unlock(&watcher->mutex);
    add(watcher, &event);
    aq_publication_fini(publication);
}

static void on_checkpoint(void *user, const aq_named_arrays *arrays, uint64_t step)
{
    const size_t count = arrays->arrays[0].count;
    stage_event event = {.kind = 'c',
                         .step = step,
                         .first = kept_floats(arrays, "parameters")[0],
                         .last = kept_floats(arrays, "adam_v")[count - 1],
                         .adam_step = kept_adam_step(arrays)};
    add(user, &event);
}

static void on_trouble(void *user, const aq_error *error)
{
    stage_event event = {.kind = 't', .code = error->code};
    add(user, &event);
}

void stage_watcher_init(stage_watcher *watcher, size_t state_count)
{
    aq_named_arrays arrays;
    kept_arrays(state_count, (float *const[4]){NULL}, NULL, &arrays);
    memset(watcher, 0, sizeof(*watcher));
    learner_kit_init(&watcher->kit, 5);
    watcher->next_version = 1;
    pthread_mutex_init(&watcher->mutex, NULL);
    pthread_cond_init(&watcher->changed, NULL);
    aq_stage_config config = {
        .publication = {.plan = {.format = AQ_FORMAT_INT8_CHANNEL},
                        .full_period = 1,
                        .error_budget = 1,
                        .error_rows = ERROR_ROWS,
                        .cpu_flags = aq_cpu_flags()},
        .meta = watcher->kit.meta,
        .spec = &watcher->kit.spec,
        .arrays = &arrays,
    };
    aq_stage_owner owner = {.user = watcher,
                            .next_version = on_next_version,
                            .publish = on_publish,
                            .write_checkpoint = on_checkpoint,
                            .trouble = on_trouble};
    assert_int_equal(aq_quantizer_stage_create(&config, &owner, &watcher->stage), 0);
}

void stage_watcher_fini(stage_watcher *watcher)
{
    stage_watcher_hold(watcher, false);
    aq_quantizer_stage_stop(watcher->stage);
    aq_quantizer_stage_destroy(watcher->stage);
    pthread_cond_destroy(&watcher->changed);
    pthread_mutex_destroy(&watcher->mutex);
    learner_kit_fini(&watcher->kit);
}

static struct timespec patience(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    return until;
}

void stage_watcher_wait(stage_watcher *watcher, size_t count)
{
    struct timespec until = patience();
    int rc = 0;
    pthread_mutex_lock(&watcher->mutex);
    while (watcher->count < count && rc == 0) {
        rc = pthread_cond_timedwait(&watcher->changed, &watcher->mutex, &until);
    }
    size_t have = watcher->count;
    pthread_mutex_unlock(&watcher->mutex);
    if (have < count) {
        fail_msg("%zu of %zu events came", have, count);
    }
}

void stage_watcher_wait_holding(stage_watcher *watcher)
{
    struct timespec until = patience();
    int rc = 0;
    pthread_mutex_lock(&watcher->mutex);
    while (!watcher->holding && rc == 0) {
        rc = pthread_cond_timedwait(&watcher->changed, &watcher->mutex, &until);
    }
    bool holding = watcher->holding;
    pthread_mutex_unlock(&watcher->mutex);
    assert_true(holding);
}

void stage_watcher_hold(stage_watcher *watcher, bool hold)
{
    pthread_mutex_lock(&watcher->mutex);
    watcher->hold = hold;
    pthread_cond_broadcast(&watcher->changed);
    pthread_mutex_unlock(&watcher->mutex);
}

size_t stage_watcher_count(stage_watcher *watcher)
{
    pthread_mutex_lock(&watcher->mutex);
    size_t count = watcher->count;
    pthread_mutex_unlock(&watcher->mutex);
    return count;
}

stage_event stage_watcher_event(stage_watcher *watcher, size_t index)
{
    pthread_mutex_lock(&watcher->mutex);
    stage_event event = watcher->events[index];
    bool is_there = index < watcher->count;
    pthread_mutex_unlock(&watcher->mutex);
    assert_true(is_there);
    return event;
}

size_t stage_watcher_count_of(stage_watcher *watcher, char kind)
{
    size_t found = 0;
    pthread_mutex_lock(&watcher->mutex);
    for (size_t i = 0; i < watcher->count; i++) {
        found += watcher->events[i].kind == kind;
    }
    pthread_mutex_unlock(&watcher->mutex);
    return found;
}
