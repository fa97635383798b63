/*
 * Who may call what: one table for all daemons. A method that no row names may be called by nobody.
 * Any thread; no state.
 */
#ifndef AQ_COMMON_NET_RPC_RPC_RIGHTS_H
#define AQ_COMMON_NET_RPC_RPC_RIGHTS_H

#include <stdbool.h>

#include "common/net/security/token.h"

/* `method` as it is called: "actorq.v1.Sampling/Sample". */
bool aq_rpc_may_call(enum aq_access_role role, const char *method);

/* Whose method it is: LEARNER or REPLAY; NONE when both may serve it, or it is not known. */
enum aq_access_role aq_rpc_listener_of(const char *method);

#endif
