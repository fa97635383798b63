/*
 * Publication plan: what the configuration says about the policy's formats, for the network that is
 * really trained.
 */
#ifndef AQ_LEARNER_PUBLISH_PUBLICATION_PLAN_H
#define AQ_LEARNER_PUBLISH_PUBLICATION_PLAN_H

#include "common/base/error.h"
#include "common/config/run_config.h"
#include "learner/publish/publication.h"

/* The configuration is valid. AQ_E_INVALID, naming quantizer.layer_formats, for a layer that the
 * network has not. */
int aq_publication_plan(const aq_run_config *config, const aq_net_spec *spec, uint32_t cpu_flags,
                        aq_publication_config *ret_plan, aq_error *error) AQ_MUST_USE;

#endif
