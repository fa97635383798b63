/*
 * conv2d: the learner cannot train convolutions yet.
 */
#include "learner/nn/train_layers.h"

const aq_train_kind aq_train_conv2d = {.forward = NULL};
