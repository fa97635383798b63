#!/bin/sh
# actorq-learner-as-asked [OPTIONS of actorq-learner]: the learner, told the task and the format of
# the environment where it has them. What is empty there is left to the file of settings.
#
# With ACTORQ_RANK_NAME it is the first of several ranks: each address of that name is another's,
# where actorq-rank-host waits. ACTORQ_RANKS of them are waited for, for a minute.
#
# The files of Compose and Swarm cannot leave an argument out. The options are last, and count.
set -eu
[ -z "${ACTORQ_FORMAT:-}" ] || set -- --set "quantizer.format=$ACTORQ_FORMAT" "$@"
[ -z "${ACTORQ_TASK:-}" ] || set -- --set "task=$ACTORQ_TASK" "$@"
[ -n "${ACTORQ_RANK_NAME:-}" ] || exec actorq-learner "$@"

# It is the first process of its container, which hears of no signal that it does not watch.
trap 'exit 0' TERM INT
tries=0
while :; do
    hosts=
    count=0
    for found in $(getent ahostsv4 "$ACTORQ_RANK_NAME" |
        while read -r address kind _; do [ "$kind" != STREAM ] || echo "$address"; done); do
        hosts=$hosts,$found
        count=$((count + 1))
    done
    if [ "$count" -ge "${ACTORQ_RANKS:-1}" ] || [ "$tries" -ge 60 ]; then
        break
    fi
    tries=$((tries + 1))
    sleep 1
done
# A run is better than none; but it learns by fewer than were asked for.
[ "$count" -ge "${ACTORQ_RANKS:-1}" ] ||
    echo "$0: after a minute $ACTORQ_RANK_NAME has $count IPv4 addresses of ${ACTORQ_RANKS:-1}:" \
        "going on without the others until the learner is restarted" >&2
exec actorq-ranks "${hosts#,}" actorq-learner "$@"
