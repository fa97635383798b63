/*
 * Env command: the subcommands of `actorq env`, a file each. Their argv[0] is "env replay".
 */
#ifndef AQ_CLI_ENV_ENV_COMMAND_H
#define AQ_CLI_ENV_ENV_COMMAND_H

#include "cli/text/command.h"

extern const aq_command aq_env_command_bench;
extern const aq_command aq_env_command_replay;

#endif
