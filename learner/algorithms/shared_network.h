/*
 * Shared network: what is published where others compute gradients: the policy, and the critic as
 * an array (AQ_CRITIC_ARRAY) behind the policy's own, by which nobody acts. It is fp32 in every
 * format, as arrays are. Flat, the parameters are the policy's, then the critic's.
 *
 * One thread at a time.
 */
#ifndef AQ_LEARNER_ALGORITHMS_SHARED_NETWORK_H
#define AQ_LEARNER_ALGORITHMS_SHARED_NETWORK_H

#include "common/base/error.h"
#include "common/nn/params.h"
#include "common/policy/snapshot.h"

typedef struct aq_shared_network {
    aq_net_spec policy, spec; /* without the critic, and with it */
    aq_params params;         /* of the latter */
    float *flat;              /* as many */
} aq_shared_network;

/* Of a critic of so many parameters, or none. AQ_E_INVALID, in words; AQ_E_NOMEM. `fini` is due
 * then, too. */
int aq_shared_network_init(aq_shared_network *network, const aq_net_spec *policy, size_t critic,
                           aq_error *error) AQ_MUST_USE;
void aq_shared_network_fini(aq_shared_network *network); /* zeroes are fine */

/* From the flat parameters to what is published, until the next call. */
const aq_params *aq_shared_network_join(aq_shared_network *network, const float *flat);

/* And back, from a version as it came: what its levels stand for, until the next call. AQ_E_SCHEMA
 * when it is of another network. */
int aq_shared_network_split(aq_shared_network *network, const aq_snapshot *snapshot,
                            const float **ret_flat) AQ_MUST_USE;

#endif
