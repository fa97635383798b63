/*
 * An address of this host where nobody listens but this process. A port there that was given up is
 * free still when it is wanted again, whatever other tests and connections do meanwhile.
 */
#ifndef AQ_TESTS_SUPPORT_OWN_HOST_H
#define AQ_TESTS_SUPPORT_OWN_HOST_H

/* Any port there: "tcp://127.64.3.57:0", for as long as the process lives. */
const char *own_host_url(void);

#endif
