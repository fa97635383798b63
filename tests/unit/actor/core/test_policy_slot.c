/*
 * The policy slot, alone and between two threads: the newest wins, versions only grow, and every
 * engine is freed exactly once. Engines are stood in for by the addresses of counters.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "actor/core/policy_slot.h"
#include "tests/support/test.h"

enum { ENGINES = 100000 };

/* What an engine holds here: its number, written before it is put and read after it was taken. */
typedef struct stand_in {
    int number;
    int freed;
} stand_in;

static stand_in stand_ins[ENGINES];

static aq_engine *engine_at(int index)
{
    return (aq_engine *)(void *)&stand_ins[index];
}

static stand_in *stand_in_of(aq_engine *engine)
{
    return (stand_in *)(void *)engine;
}

static int set_up(void **state)
{
    (void)state;
    for (int i = 0; i < ENGINES; i++) {
        stand_ins[i] = (stand_in){.number = i};
    }
    return 0;
}

TEST_WITH(an_empty_slot_gives_nothing, set_up, NULL)
{
    aq_policy_slot slot = {.fresh = NULL};
    assert_null(aq_policy_slot_take(&slot));
    assert_null(aq_policy_slot_collect(&slot));
}

TEST_WITH(the_newest_is_taken_and_the_others_come_back, set_up, NULL)
{
    aq_policy_slot slot = {.fresh = NULL};
    assert_null(aq_policy_slot_put(&slot, engine_at(0)));
    assert_ptr_equal(aq_policy_slot_put(&slot, engine_at(1)), engine_at(0));
    assert_ptr_equal(aq_policy_slot_take(&slot), engine_at(1));
    assert_null(aq_policy_slot_take(&slot));
}

TEST_WITH(a_retired_engine_is_collected_once, set_up, NULL)
{
    aq_policy_slot slot = {.fresh = NULL};
    aq_policy_slot_retire(&slot, NULL);
    assert_null(aq_policy_slot_collect(&slot));
    aq_policy_slot_retire(&slot, engine_at(3));
    aq_policy_slot_retire(&slot, engine_at(4));
    aq_policy_slot_retire(&slot, engine_at(5));
    assert_ptr_equal(aq_policy_slot_collect(&slot), engine_at(3));
    assert_ptr_equal(aq_policy_slot_collect(&slot), engine_at(4));
    assert_ptr_equal(aq_policy_slot_collect(&slot), engine_at(5));
    assert_null(aq_policy_slot_collect(&slot));
}

/* ---- two threads ---------------------------------------------------------------------------- */

typedef struct exchange {
    aq_policy_slot slot;
    atomic_bool done;
    int out_of_order;
    int taken;
    aq_engine *last;
} exchange;

static void free_one(aq_engine *engine)
{
    if (engine != NULL) {
        stand_in_of(engine)->freed++;
    }
}

static void *make(void *argument)
{
    exchange *all = argument;
    for (int i = 0; i < ENGINES; i++) {
        stand_ins[i].number = i; /* what an engine's packing would write */
        for (;;) {
            aq_engine *retired = aq_policy_slot_collect(&all->slot);
            if (retired == NULL) {
                break;
            }
            free_one(retired);
        }
        free_one(aq_policy_slot_put(&all->slot, engine_at(i)));
    }
    atomic_store(&all->done, true);
    return NULL;
}

static void *step(void *argument)
{
    exchange *all = argument;
    for (bool last_round = false;;) {
        aq_engine *engine = aq_policy_slot_take(&all->slot);
        if (engine != NULL) {
            int before = all->last != NULL ? stand_in_of(all->last)->number : -1;
            all->out_of_order += stand_in_of(engine)->number <= before;
            all->taken++;
            aq_policy_slot_retire(&all->slot, all->last);
            all->last = engine;
        } else if (last_round) {
            return NULL;
        } else {
            last_round = atomic_load(&all->done);
        }
    }
}

TEST_WITH(between_threads_every_engine_is_freed_once_and_versions_grow, set_up, NULL)
{
    static exchange all;
    pthread_t maker, stepper;
    assert_int_equal(pthread_create(&stepper, NULL, step, &all), 0);
    assert_int_equal(pthread_create(&maker, NULL, make, &all), 0);
    assert_int_equal(pthread_join(maker, NULL), 0);
    assert_int_equal(pthread_join(stepper, NULL), 0);
    for (aq_engine *engine; (engine = aq_policy_slot_collect(&all.slot)) != NULL;) {
        free_one(engine);
    }
    free_one(all.last);
    assert_ptr_equal(all.last, engine_at(ENGINES - 1)); /* the newest is never missed */
    assert_int_equal(all.out_of_order, 0);
    assert_true(all.taken >= 1);
    for (int i = 0; i < ENGINES; i++) {
        assert_int_equal(stand_ins[i].freed, 1);
    }
}
