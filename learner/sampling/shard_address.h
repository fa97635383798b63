/*
 * Shard address: whether a replay shard that is listed at the address where the learner saw it can
 * still be reached there. Any thread.
 */
#ifndef AQ_LEARNER_SAMPLING_SHARD_ADDRESS_H
#define AQ_LEARNER_SAMPLING_SHARD_ADDRESS_H

#include "learner/run/coordinator.h"

/* True when the host of the shard has got another address, since it calls from `peer`; joining
 * again tells where it is now. A shard that said itself where it is never moves. */
bool aq_shard_has_moved(const aq_member_record *record, const char *peer);

#endif
