/*
 * Agenda: what happens when, in a world whose clock is a number. Events run one after another in
 * the order of their times; of two at the same time, the one that was asked for first. So a run is
 * a function of its seed alone.
 *
 * One thread.
 */
#ifndef AQ_TESTS_SIM_SIM_AGENDA_H
#define AQ_TESTS_SIM_SIM_AGENDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sim_agenda sim_agenda;

/* `tag` is the caller's own. */
typedef void (*sim_event_fn)(void *user, uint64_t tag);

/* At most `events_max` wait at a time; one more is an assertion, as something grows without bound
 * then. */
sim_agenda *sim_agenda_create(size_t events_max);
void sim_agenda_destroy(sim_agenda *agenda); /* what still waits never happens; NULL is fine */

int64_t sim_agenda_now_ns(const sim_agenda *agenda);

/* A time in the past means now, after what is to happen now already. */
void sim_agenda_at(sim_agenda *agenda, int64_t at_ns, sim_event_fn run, void *user, uint64_t tag);

/* Runs the next event that is not after `until_ns`. False when there is none: then it is
 * `until_ns`. */
bool sim_agenda_step(sim_agenda *agenda, int64_t until_ns);

/* Events run so far. */
uint64_t sim_agenda_count(const sim_agenda *agenda);

#endif
