#!/bin/sh
# actorq-learner-as-asked [OPTIONS of actorq-learner]: the learner, told the task and the format of
# the environment where it has them. What is empty there is left to the file of settings.
#
# The files of Compose and Swarm cannot leave an argument out. The options are last, and count.
set -eu
[ -z "${ACTORQ_FORMAT:-}" ] || set -- --set "quantizer.format=$ACTORQ_FORMAT" "$@"
[ -z "${ACTORQ_TASK:-}" ] || set -- --set "task=$ACTORQ_TASK" "$@"
exec actorq-learner "$@"
