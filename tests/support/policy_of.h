/*
 * Networks and policies of tests, said as shortly as they can be.
 */
#ifndef AQ_TESTS_SUPPORT_POLICY_OF_H
#define AQ_TESTS_SUPPORT_POLICY_OF_H

#include "common/policy/snapshot.h"

/* Of an array of layers, one after the other; it is not validated. */
#define net_of(layers) net_of_layers((layers), sizeof(layers) / sizeof((layers)[0]))
aq_net_spec net_of_layers(const aq_layer_spec *layers, size_t count);
void net_add(aq_net_spec *spec, aq_layer_spec layer);

/* Version 1 of run 1, in fp32: all its numbers are 0. The test's, until it is over. */
aq_snapshot *policy_of(const aq_net_spec *spec, uint32_t head, const char *task,
                       const aq_schema *schema);

#endif
