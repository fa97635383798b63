/*
 * Policy slot: hands the newest engine from the thread that makes them to the thread that steps,
 * and the old ones back to be freed where they were made. Nobody ever waits, and of several new
 * ones only the newest is taken.
 *
 *   maker:   collect, put, collect, put, ...       stepper:  take, retire the one it had, take, ...
 *
 * One maker and one stepper. From one collect to the next the stepper can retire at most three: the
 * one whose successor it had just taken, one for the engine that waited, and one for the engine
 * that was put. So three places for old ones are enough, as long as the maker collects before each
 * put.
 */
#ifndef AQ_ACTOR_CORE_POLICY_SLOT_H
#define AQ_ACTOR_CORE_POLICY_SLOT_H

#include "quantizer/engine/engine.h"

enum { AQ_POLICY_SLOT_RETIRED = 3 };

/* Zero-initialised: empty. */
typedef struct aq_policy_slot {
    aq_engine *_Atomic fresh;
    aq_engine *_Atomic retired[AQ_POLICY_SLOT_RETIRED];
} aq_policy_slot;

/* The maker. An engine that the stepper has done with, to be freed; NULL when there is none (more).
 * To be called until then before each put. */
aq_engine *aq_policy_slot_collect(aq_policy_slot *slot);

/* The maker. Returns the engine that nobody took, to be freed; NULL when there was none. */
aq_engine *aq_policy_slot_put(aq_policy_slot *slot, aq_engine *engine);

/* The stepper. The newest engine, or NULL when there is no newer one than it has. */
aq_engine *aq_policy_slot_take(aq_policy_slot *slot);

/* The stepper, once after each take that gave it a newer one: the one that it had. NULL is fine. */
void aq_policy_slot_retire(aq_policy_slot *slot, aq_engine *engine);

#endif
