#!/bin/sh
# actorq-replay-in-pool POOL [OPTIONS of actorq-replay]: a shard with one of the folders below POOL,
# the first that no other process holds.
#
# This is what lets one service have any number of replicas over one volume: the engine cannot give
# each a folder of its own, but a folder that was lost with its container is taken up by the next.
# The lock is held by the program itself, through the descriptor that it inherits, and goes with it.
set -eu
pool=$1
shift

slot=0
while [ "$slot" -lt 64 ]; do
    folder=$pool/replay-$slot
    mkdir -p "$folder"
    exec 9>"$folder.lock"
    if flock --nonblock 9; then
        exec actorq-replay --data "$folder" "$@"
    fi
    slot=$((slot + 1))
done
echo "actorq-replay-in-pool: all 64 folders of $pool are in use" >&2
exit 1
