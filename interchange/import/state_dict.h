/*
 * State dict: the parameters of a network of PyTorch's modules, as arrays named after them.
 * NAME.weight of rows and columns is a linear layer, of one dimension and with a bias a layer norm,
 * and NAME.bias the bias of either; of a module without a name they are weight and bias. What
 * stands between the layers, no array tells: the caller names the activation.
 *
 *   0.weight 0.bias 2.weight 2.bias     linear, activation, linear
 *   fc1.weight ln1.weight fc2.weight    linear, norm, activation, linear
 *   0.weight 2.weight 3.weight          linear, activation, norm, linear, by the gap in the numbers
 *   0.weight 1.weight                   refused: of a Sequential nothing stands between, of other
 *                                       lists the activation may; chosen one by one, it does
 *
 * No state; any thread.
 */
#ifndef AQ_INTERCHANGE_IMPORT_STATE_DICT_H
#define AQ_INTERCHANGE_IMPORT_STATE_DICT_H

#include "interchange/import/foreign_net.h"
#include "interchange/import/npz_file.h"

typedef struct aq_state_dict_how {
    const char *layers; /* modules, in their order, with commas between: of each, all that is in it;
                           NULL: all of the file, in its order */
    uint32_t activation; /* enum aq_activation; 0: nobody said */
} aq_state_dict_how;

/* Adds the layers to an empty net, and the array log_std, if there is one, as its deviations. The
 * last layer has no activation. AQ_E_INVALID, AQ_E_UNSUPPORTED in words; as of foreign_net.h. */
int aq_state_dict_read(const aq_npz_file *file, const aq_state_dict_how *how, aq_foreign_net *net,
                       aq_error *error) AQ_MUST_USE;

#endif
