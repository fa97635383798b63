#!/bin/sh
# rank_agent.sh HOST COMMAND...: what ssh is to mpirun elsewhere. COMMAND on one of the test's hosts,
# which has a name of its own besides its network, as Open MPI keeps its files by it.
host=$1
shift
# shellcheck disable=SC2016 # the inner shell expands it
exec nsenter --net="/run/netns/aqh-$AQ_HOSTS_ISOLATED-$host" unshare --uts \
    sh -c 'echo "$1" >/proc/sys/kernel/hostname && eval "$2"' rank "$host" "$*"
