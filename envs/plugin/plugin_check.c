/*
 * Every block that the plug-in is lent in a watched call lies between two guard zones of a known
 * pattern. A block is filled with one byte before the first call and with another before the
 * second: a byte that still has both was never written, whatever its type.
 */
#include "envs/plugin/plugin_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/experience/finite.h"

enum { GUARD_BYTES = 4096, GUARD_PATTERN = 0xa7, FAULT_TEXT_MAX = 160 };
enum { RUNS = 2 };
static const uint8_t fills[RUNS] = {0x5b, 0xb4};

/* Memory between guards. */
typedef struct block {
    uint8_t *bytes;
    size_t size;
    const char *name;
} block;

struct aq_plugin_check {
    aq_schema schema;
    block obs, state, action, reward;
    uint8_t *first_obs;   /* the row of the first of two calls */
    uint8_t *first_state; /* the state before both */
    size_t state_bytes;
    char fault[FAULT_TEXT_MAX];
};

/* Notes what is wrong; false. */
AQ_PRINTF(2, 3) static bool fail(aq_plugin_check *check, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(check->fault, sizeof(check->fault), format, arguments);
    va_end(arguments);
    return false;
}

/* ---- blocks --------------------------------------------------------------------------------- */

static int block_create(block *made, const char *name, size_t size)
{
    uint8_t *memory = aq_alloc(1, size + 2 * (size_t)GUARD_BYTES);
    if (memory == NULL) {
        return AQ_E_NOMEM;
    }
    *made = (block){.bytes = memory + GUARD_BYTES, .size = size, .name = name};
    return 0;
}

static void block_destroy(block *made)
{
    aq_free(made->bytes != NULL ? made->bytes - GUARD_BYTES : NULL);
}

static void set_guards(block *lent)
{
    memset(lent->bytes - GUARD_BYTES, GUARD_PATTERN, GUARD_BYTES);
    memset(lent->bytes + lent->size, GUARD_PATTERN, GUARD_BYTES);
}

/* False, with the place, when a guard was written to. */
static bool guards_stand(aq_plugin_check *check, const block *lent)
{
    for (size_t i = 1; i <= GUARD_BYTES; i++) {
        if (lent->bytes[lent->size + i - 1] != GUARD_PATTERN) {
            return fail(check, "writes beyond the end of %s (byte %zu of %zu)", lent->name,
                        lent->size + i, lent->size);
        }
        if (*(lent->bytes - i) != GUARD_PATTERN) {
            return fail(check, "writes %zu bytes before the start of %s", i, lent->name);
        }
    }
    return true;
}

/* ---- create, destroy ------------------------------------------------------------------------ */

int aq_plugin_check_create(const actorq_env *env, const aq_schema *schema,
                           aq_plugin_check **ret_check)
{
    const size_t obs_bytes = aq_space_bytes(&schema->obs);
    aq_plugin_check *check = aq_alloc(1, sizeof(*check));
    if (check == NULL) {
        return AQ_E_NOMEM;
    }
    check->schema = *schema;
    check->state_bytes = (size_t)env->state_bytes;
    check->first_obs = aq_alloc(1, obs_bytes);
    check->first_state = aq_alloc(1, check->state_bytes);
    if (check->first_obs == NULL || check->first_state == NULL ||
        block_create(&check->obs, "the observation row", obs_bytes) != 0 ||
        block_create(&check->state, "the state", check->state_bytes) != 0 ||
        block_create(&check->action, "the action", aq_space_bytes(&schema->action)) != 0 ||
        block_create(&check->reward, "the reward", sizeof(float)) != 0) {
        aq_plugin_check_destroy(check);
        return AQ_E_NOMEM;
    }
    *ret_check = check;
    return 0;
}

void aq_plugin_check_destroy(aq_plugin_check *check)
{
    if (check == NULL) {
        return;
    }
    block_destroy(&check->obs);
    block_destroy(&check->state);
    block_destroy(&check->action);
    block_destroy(&check->reward);
    aq_free(check->first_obs);
    aq_free(check->first_state);
    aq_free(check);
}

/* ---- calls ---------------------------------------------------------------------------------- */

static uint64_t draw(void *source)
{
    return aq_rng_next(source);
}

enum aq_step_end aq_plugin_call_run(const aq_plugin_call *call, void *state, void *obs,
                                    float *reward)
{
    actorq_rng rng = {.next = draw, .source = call->rng};
    const enum actorq_end end =
        call->action != NULL ? call->env->step(call->params, state, &rng, call->action, obs, reward)
                             : call->env->reset(call->params, state, &rng, obs);
    switch (end) {
    case ACTORQ_GOES_ON:
        return AQ_STEP_GOES_ON;
    case ACTORQ_TERMINATED:
        return AQ_STEP_TERMINATED;
    case ACTORQ_TRUNCATED:
        return AQ_STEP_TRUNCATED;
    case ACTORQ_FAILED:
    default:
        return AQ_STEP_FAILED;
    }
}

/* One call into filled and guarded memory. */
static bool run_guarded(aq_plugin_check *check, const aq_plugin_call *call, uint8_t fill,
                        enum aq_step_end *ret_end)
{
    block *const lent[] = {&check->obs, &check->state, &check->action, &check->reward};
    aq_plugin_call guarded = *call;
    for (size_t i = 0; i < sizeof(lent) / sizeof(lent[0]); i++) {
        set_guards(lent[i]);
    }
    memset(check->obs.bytes, fill, check->obs.size);
    memset(check->reward.bytes, fill, check->reward.size);
    memcpy(check->state.bytes, check->first_state, check->state_bytes);
    if (call->action != NULL) {
        memcpy(check->action.bytes, call->action, check->action.size);
        guarded.action = check->action.bytes;
    }
    *ret_end = aq_plugin_call_run(&guarded, check->state.bytes, check->obs.bytes,
                                  (float *)(void *)check->reward.bytes);
    for (size_t i = 0; i < sizeof(lent) / sizeof(lent[0]); i++) {
        if (!guards_stand(check, lent[i])) {
            return false;
        }
    }
    if (call->action != NULL &&
        memcmp(check->action.bytes, call->action, check->action.size) != 0) {
        return fail(check, "writes to the action");
    }
    return true;
}

/* ---- results -------------------------------------------------------------------------------- */

static size_t element_bytes(const aq_space *space)
{
    return space->kind == AQ_SPACE_BOX && space->dtype == AQ_DTYPE_U8 ? 1 : 4;
}

/* The row of the second call against that of the first. */
static bool rows_agree(aq_plugin_check *check)
{
    const size_t width = element_bytes(&check->schema.obs);
    for (size_t i = 0; i < check->obs.size; i++) {
        const uint8_t first = check->first_obs[i], second = check->obs.bytes[i];
        if (first == fills[0] && second == fills[1]) {
            return fail(check, "leaves element %zu of the observation unwritten", i / width);
        }
        if (first != second) {
            return fail(check,
                        "gives another observation (element %zu) when it is repeated with the "
                        "same state, action and random numbers",
                        i / width);
        }
    }
    return true;
}

/* `observe` into the block of the observation, whose row is in first_obs as well. */
static bool observe_agrees(aq_plugin_check *check, const aq_plugin_call *call)
{
    set_guards(&check->obs);
    memset(check->obs.bytes, fills[1], check->obs.size);
    call->env->observe(call->params, check->state.bytes, check->obs.bytes);
    if (!guards_stand(check, &check->obs) || !guards_stand(check, &check->state)) {
        return false;
    }
    return memcmp(check->obs.bytes, check->first_obs, check->obs.size) == 0 ||
           fail(check, "shows another observation than its `observe` does of the same state");
}

static bool rewards_agree(aq_plugin_check *check, uint32_t first)
{
    uint32_t second, unwritten;
    memcpy(&second, check->reward.bytes, sizeof(second));
    memset(&unwritten, fills[1], sizeof(unwritten));
    return first == second ||
           fail(check, second == unwritten ? "leaves the reward unwritten"
                                           : "gives another reward when it is repeated");
}

/* Both calls and all comparisons; false with the fault's text. */
static bool watch(aq_plugin_check *check, const aq_plugin_call *call, enum aq_step_end *ret_end)
{
    enum aq_step_end ends[RUNS] = {AQ_STEP_FAILED, AQ_STEP_FAILED};
    uint32_t first_reward = 0;
    const aq_rng before = *call->rng;
    if (!run_guarded(check, call, fills[0], &ends[0])) {
        return false;
    }
    memcpy(check->first_obs, check->obs.bytes, check->obs.size);
    memcpy(&first_reward, check->reward.bytes, sizeof(first_reward));
    *call->rng = before;
    if (!run_guarded(check, call, fills[1], &ends[1])) {
        return false;
    }
    *ret_end = ends[1];
    if (ends[0] != ends[1]) {
        return fail(check, "ends in another way when repeated");
    }
    if (ends[1] == AQ_STEP_FAILED) {
        return true; /* it said so itself, and then need not have written anything */
    }
    return rows_agree(check) &&
           !aq_space_row_fault(&check->schema.obs, check->obs.bytes, check->fault,
                               sizeof(check->fault)) &&
           (call->action == NULL || rewards_agree(check, first_reward)) &&
           observe_agrees(check, call);
}

enum aq_step_end aq_plugin_check_run(aq_plugin_check *check, const aq_plugin_call *call,
                                     void *state, void *obs, float *reward, const char **ret_fault)
{
    enum aq_step_end end = AQ_STEP_FAILED;
    memcpy(check->first_state, state, check->state_bytes);
    const bool sound = watch(check, call, &end);
    *ret_fault = sound ? NULL : check->fault;
    if (!sound) {
        return AQ_STEP_FAILED;
    }
    memcpy(state, check->state.bytes, check->state_bytes);
    memcpy(obs, check->first_obs, check->obs.size);
    if (call->action != NULL) {
        memcpy(reward, check->reward.bytes, sizeof(*reward));
    }
    return end;
}
