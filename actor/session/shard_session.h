/*
 * Shard session: an actor's dealings with all replay shards of its run: a lane (shard_lane.h) for
 * each store that the learner has ever listed in it. The core spreads its experience over those
 * that are listed and connected; the others keep what they have until they are back.
 *
 * Which lane is a store's, so that no step ever is in two stores that last:
 *   - A message is numbered for one store and stamped with its name. A store takes no message, and
 *     heeds no call, that is meant for another.
 *   - The lane of a store is found by the store's name, at whatever address and slot it is listed.
 *     It waits for that store however long it is away: the store may have what it did not
 *     acknowledge yet.
 *   - A store in memory only has one life. It is gone for good when a store that is not known here
 *     answers at its address, or is listed there while it is not listed itself: no two processes
 *     have one address. Then its lane passes to that store: what was acknowledged is gone, which is
 *     what a run in memory only accepts, and all that was not goes to the new store. One whose
 *     address nobody takes may live, cut off from the learner; what it did not acknowledge waits.
 *   - A lane whose store was sent nothing yet passes in the same way, whatever that store is.
 *   - Else a store that is not known gets a lane of its own. There are AQ_SPREAD_SHARDS_MAX; a run
 *     that shows an actor more stores than that, one after the other, gets nothing of it in the
 *     further ones, and a line in the log. Where only such are listed the actor is of no use any
 *     more.
 *
 * An empty list changes nothing: a learner that was restarted lists shards as they come back. For
 * the same reason a lane that is not listed is not closed before it is empty; but nothing new is
 * put there, since the learner may not know of it.
 *
 * Loop thread only. Logs, besides what lanes log, shard_inherited, shard_ignored, given_up.
 */
#ifndef AQ_ACTOR_SESSION_SHARD_SESSION_H
#define AQ_ACTOR_SESSION_SHARD_SESSION_H

#include <stdint.h>

#include "actor/core/actor_core.h"
#include "actor/session/participant_session.h"
#include "actor/session/shard_lane.h"
#include "common/member/member.h"

/* When only shards that are away owe acknowledgements, the end waits so much longer for them. */
enum { AQ_FINISH_AWAY_MS = 1000 };

typedef struct aq_shard_session aq_shard_session;

/* `seed` feeds the back-off's jitter. */
int aq_shard_session_create(const aq_shard_transport *transport, uint64_t seed,
                            aq_shard_session **ret_session) AQ_MUST_USE;
void aq_shard_session_destroy(aq_shard_session *session); /* closes; NULL is fine */

/* A run begins, in which this process is view->member, with the core that is to be served (lent
 * until the next start or stop). */
void aq_shard_session_start(aq_shard_session *session, const aq_member_view *view,
                            uint64_t incarnation, aq_actor_core *core);

/* The end has come for what is not acknowledged: it says so, once. */
void aq_shard_session_give_up(aq_shard_session *session);

/* Closes the connections and forgets the core; gives up what was not acknowledged. */
void aq_shard_session_stop(aq_shard_session *session);

/* The list of shards may have changed. AQ_E_FULL: stores are listed, and none has a lane. */
int aq_shard_session_changed(aq_shard_session *session, const aq_member_view *view,
                             aq_error *error) AQ_MUST_USE;

/* To be called after anything happened and at aq_shard_session_next_ns. */
void aq_shard_session_tick(aq_shard_session *session, int64_t now_ns);
int64_t aq_shard_session_next_ns(const aq_shard_session *session);

/* Sends what the core has, as far as it goes. */
void aq_shard_session_pump(aq_shard_session *session, int64_t now_ns);

/* While the core drains: whether all is acknowledged, or what is not is given up. */
enum aq_finish_state aq_shard_session_finished(const aq_shard_session *session);

/* What the transport tells of a lane. */
void aq_shard_session_connected(aq_shard_session *session, uint32_t lane, int64_t now_ns);
void aq_shard_session_disconnected(aq_shard_session *session, uint32_t lane);
void aq_shard_session_writable(aq_shard_session *session, uint32_t lane);

#endif
