/*
 * noise: never; a policy is exported as the network of its means.
 */
#include "quantizer/export/export_layer.h"

const aq_export_kind aq_export_noise = {0};
