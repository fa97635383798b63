/*
 * Gradient maker: what an actor hands its steps to, and gets gradients of them from. It is
 * implemented by a module (gradients/) that is loaded where actors compute gradients: nobody else
 * needs the learner's algorithms and their linear algebra.
 *
 * One thread at a time.
 */
#ifndef AQ_ROLLOUT_GRADIENT_MAKER_H
#define AQ_ROLLOUT_GRADIENT_MAKER_H

#include "common/base/error.h"
#include "common/config/run_settings.h"
#include "common/experience/chunk.h"
#include "common/policy/snapshot.h"

typedef struct aq_gradient_maker aq_gradient_maker;

struct aq_gradient_maker {
    void *state; /* the implementation's */

    /* Gradients are of this version's parameters from now on. AQ_E_SCHEMA for one of another
     * network. */
    int (*adopt)(aq_gradient_maker *maker, const aq_snapshot *version);

    /* Takes a chunk of steps, whose reference is moved. AQ_E_NOMEM: it is forgotten. */
    int (*take)(aq_gradient_maker *maker, aq_chunk *chunk);

    /* A row with the gradient of what was taken and is whole; one reference, the caller's.
     * AQ_E_AGAIN: nothing is; AQ_E_NOMEM: it is forgotten. */
    int (*make)(aq_gradient_maker *maker, aq_chunk **ret_row);

    void (*close)(aq_gradient_maker *maker); /* frees what is in it */
};

/* What a module exports under this name. `seed` is of what an update draws. AQ_E_UNSUPPORTED,
 * AQ_E_TOO_BIG or AQ_E_NOMEM, in words; `bytes` is the settings' size, by which a module of another
 * build is known where it would misread them. */
#define AQ_GRADIENT_MAKER_SYMBOL "aq_gradient_maker_open"
typedef int (*aq_gradient_maker_open_fn)(size_t bytes, const aq_run_settings *settings,
                                         uint64_t seed, aq_gradient_maker *ret_maker,
                                         aq_error *error);

/* And under this one: starts the program anew, with `argv`, where products are slower than they
 * need be, which is settled before a program has anything. It returns where they are not. */
#define AQ_GRADIENT_SETTLE_SYMBOL "aq_gradient_settle"
typedef void (*aq_gradient_settle_fn)(char **argv);

#endif
