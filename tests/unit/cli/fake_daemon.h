/*
 * Fake daemon: a thread that answers Operations over a real socket, for what asks a daemon.
 *
 *   Status      that of status_fixture_learner, or PERMISSION_DENIED
 *   Stop        an answer, or none at all when the reason is "hold"
 *   Checkpoint  UNIMPLEMENTED, in words that would clear a terminal
 */
#ifndef AQ_TESTS_UNIT_CLI_FAKE_DAEMON_H
#define AQ_TESTS_UNIT_CLI_FAKE_DAEMON_H

typedef struct fake_daemon fake_daemon;

/* Listens at `url`, whose port may be 0. A failure ends the test process. */
fake_daemon *fake_daemon_start(const char *url);
const char *fake_daemon_url(const fake_daemon *daemon);

/* From now on its run is solved. Any thread. */
void fake_daemon_end_run(fake_daemon *daemon);

/* From now on its Status is nobody's. Any thread. */
void fake_daemon_refuse(fake_daemon *daemon);

/* Waits until its Status was answered so often; two minutes are a failure. Any thread. */
void fake_daemon_wait_asked(fake_daemon *daemon, unsigned times);

void fake_daemon_stop(fake_daemon *daemon);

#endif
