/*
 * Next steps: what to type after a run, on standard output; each line does what it seems to, as it
 * stands, in the folder that the run was started from.
 */
#ifndef AQ_CLI_TRAIN_NEXT_STEPS_H
#define AQ_CLI_TRAIN_NEXT_STEPS_H

#include "cli/train/train_report.h"
#include "cli/train/train_session.h"

void aq_next_steps_print(const aq_train_report *report, const aq_train_options *options);

#endif
