#!/bin/sh
# A replay shard at full rate, durable, for 10 minutes (or MINUTES=n): prints what memory it takes
# every 10 s, and fails when that passes the budget of 1.15 x (observation + action + 16 bytes) a
# step, or when the shard refuses anything.
#
#   bench/replay_soak.sh BUILD_DIR [options of actorq bench replay]
set -eu
build=${1:?usage: replay_soak.sh BUILD_DIR [options]}
shift
exec "$build/cli/actorq" bench replay --soak "$((${MINUTES:-10} * 60))" "$@"
