/*
 * Kill storms: a test program that runs itself as other processes, under load, and kills them.
 *
 * Nothing here forks: NNG does not survive it. Children are this program's file run anew, with the
 * name of a role as first argument. AQ_STORM is the number of kills (40 by default), AQ_SEED gives
 * the same sizes and moments again, as far as processes can be replayed.
 */
#ifndef AQ_TESTS_INTEGRATION_STORM_STORM_H
#define AQ_TESTS_INTEGRATION_STORM_STORM_H

#include <stdbool.h>
#include <sys/types.h>
#include <uv.h>

#include "common/base/rng.h"
#include "common/net/sockets/net.h"

enum { STORM_MESSAGE_MAX = 400000 };

extern const aq_net_limits storm_limits;

unsigned storm_rounds(void);

/* Prints the seed. */
void storm_seed(aq_rng *rng);

/* A url that nobody listens at, and no other test will until this process has ended: "tcp" or
 * "ipc". The port lies below those that systems give to dialling sockets, so that no socket can
 * dial itself there. */
void storm_url(aq_rng *rng, const char *transport, char *ret_url);

/* Runs this program with these arguments (argument may be NULL). */
pid_t storm_start(const char *role, const char *url, const char *argument);

/* kill -9, and waits until it is gone. */
void storm_kill(pid_t child);

/* True when the child has ended by itself, as when it could not listen; it is gone then. */
bool storm_has_ended(pid_t child);

/* Runs the loop until `done`, for four minutes at most. */
typedef bool (*storm_fn)(void *user);
void storm_run_until(uv_loop_t *loop, storm_fn done, void *user);

/* Runs the loop so long. */
void storm_run_for(uv_loop_t *loop, uint64_t time_ms);

/* In a child: a loop that ends the process when its parent is gone. */
void storm_child_loop(uv_loop_t *ret_loop);

/* Runs it until the last handle is closed. */
void storm_finish_loop(uv_loop_t *loop);

/* Waits until NNG has closed every socket, which may take it seconds. */
void storm_wait_closed(void);

#endif
