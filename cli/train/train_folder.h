/*
 * Train folder: where a run, or several of one command, are kept.
 */
#ifndef AQ_CLI_TRAIN_TRAIN_FOLDER_H
#define AQ_CLI_TRAIN_TRAIN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/train/train_session.h"
#include "common/base/error.h"
#include "common/config/run_config.h"

/* Names it where options->run_dir is "", and makes it. AQ_E_EXISTS when it is there and not empty,
 * or in use. */
int aq_train_folder_choose(const aq_run_config *config, aq_train_options *options,
                           aq_error *error) AQ_MUST_USE;

/* 0: no learner, no shard and no `actorq train` has the folder, or there is none; else AQ_E_EXISTS.
 * A command has it for longer than its learner: from before that starts until all is evaluated and
 * said. */
int aq_train_folder_check_unused(const char *dir, aq_error *error) AQ_MUST_USE;

/* So that no other command takes the folder, until *ret_folder is closed, which may be left to the
 * end of this process. AQ_E_EXISTS; one that can't be locked, as on some network disks, is done
 * without. */
int aq_train_folder_claim(const char *dir, int *ret_folder, aq_error *error) AQ_MUST_USE;

/* Whether something new may be made there: nothing is, or an empty folder. */
bool aq_train_folder_is_free(const char *dir);

/* AQ_E_NOT_FOUND where --resume is given, and the folder has no run of its own. */
int aq_train_folder_check_resumed(const aq_train_options *options, aq_error *error) AQ_MUST_USE;

/* Removes it, and with the last run the folder of those that have no name of their own; for who has
 * made it now, and nothing came of it. One with a policy or a checkpoint stays all the same, and
 * so does one whose checkpoints can't be listed. */
void aq_train_folder_drop(const char *run_dir);

/* "runs/gym-CartPole-v1-20260131-120000": a folder below `parent` for what is made of a task now.
 * AQ_E_TOO_BIG. */
int aq_train_name_folder(const char *parent, const char *task, char *out, size_t size) AQ_MUST_USE;

/* Before a start: its settings were made from what the run was changed to, so they count as they
 * are, and config.given.yaml is laid aside. A learner that dies later keeps what is changed from
 * then on. */
void aq_train_folder_hide_given(const char *run_dir);

/* After it: one that the run was not taken up by leaves the file as it was. */
void aq_train_folder_settle_given(const char *run_dir, bool is_untouched);

#endif
