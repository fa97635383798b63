/*
 * Lanes of the bridge's tests: see bridge_lane.h.
 */
#include "tests/integration/bridge/bridge_lane.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>

#include "envs/env_code.h"
#include "tests/support/test.h"

enum { PATIENCE_S = 120, RETRY_MS = 10 };

aq_env *bridge_open(const char *name)
{
    aq_env *env = NULL;
    aq_env_allow_code(name);
    assert_succeeds(aq_env_open(name, &env, &refusal));
    return env;
}

const char *bridge_refusal(const char *name)
{
    static aq_error error;
    aq_env *env = NULL;
    error = (aq_error){0};
    aq_env_allow_code(name);
    int rc = aq_env_open(name, &env, &error);
    assert_int_not_equal(rc, 0);
    assert_null(env);
    assert_int_equal(rc, error.code);
    return error.text;
}

void bridge_lane_init(bridge_lane *lane, aq_env *env, uint64_t seed)
{
    *lane = (bridge_lane){.env = env, .state = aq_alloc(1, env->class->state_bytes)};
    assert_non_null(lane->state);
    assert_true(aq_space_bytes(&env->schema.obs) <= sizeof(lane->obs));
    aq_rng_init(&lane->rng, seed, 0);
    assert_int_equal(env->class->begin(env->params, lane->state, NULL), 0);
}

void bridge_lane_fini(bridge_lane *lane)
{
    lane->env->class->end(lane->env->params, lane->state);
    aq_free(lane->state);
}

static void end_lane(void *user)
{
    bridge_lane *lane = user;
    bridge_lane_fini(lane);
    aq_env_unref(lane->env);
    aq_free(lane);
}

bridge_lane *bridge_lane_of(const char *name, uint64_t seed)
{
    bridge_lane *lane = aq_alloc(1, sizeof(*lane));
    assert_non_null(lane);
    bridge_lane_init(lane, bridge_open(name), seed);
    at_end(end_lane, lane);
    return lane;
}

bool bridge_reset(bridge_lane *lane)
{
    return lane->env->class->reset(lane->env->params, lane->state, &lane->rng, &lane->obs);
}

enum aq_step_end bridge_step(bridge_lane *lane, const void *action)
{
    return lane->env->class->step(lane->env->params, lane->state, &lane->rng, action, &lane->obs,
                                  &lane->reward);
}

enum aq_step_end bridge_choose(bridge_lane *lane, int32_t choice)
{
    return bridge_step(lane, &choice);
}

void bridge_announce(bridge_lane *lane, int32_t choice)
{
    lane->env->class->announce(lane->env->params, lane->state, &choice);
}

const char *bridge_failure(const bridge_lane *lane)
{
    return lane->env->class->failure(lane->env->params, lane->state);
}

void bridge_reset_at_last(bridge_lane *lane)
{
    const int64_t until_ns = aq_clock_monotonic_ns() + PATIENCE_S * AQ_NS_PER_S;
    while (!bridge_reset(lane)) {
        assert_true(aq_clock_monotonic_ns() < until_ns);
        (void)poll(NULL, 0, RETRY_MS);
    }
}

pid_t bridge_child_of(pid_t parent)
{
    char path[64];
    int child = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const int read = fscanf(file, "%d", &child);
    (void)fclose(file);
    return read == 1 ? (pid_t)child : 0;
}

bool bridge_wait_until_gone(pid_t pid, int timeout_ms)
{
    const int process = (int)syscall(SYS_pidfd_open, pid, 0);
    if (process < 0) {
        assert_int_equal(errno, ESRCH);
        return true;
    }
    struct pollfd poller = {.fd = process, .events = POLLIN};
    const int ready = poll(&poller, 1, timeout_ms);
    (void)close(process);
    return ready == 1;
}
