#!/usr/bin/env bash
# check_swarm.sh: deploy/swarm.yaml for real, on a swarm of one host inside the engine that
# engine.sh starts. Takes the image that check.sh has built. As root; some minutes.
#
# The stack is deployed and trains, actors and shards are scaled, a service is updated one task
# after the other, and every task that ended did so with 0. Where others use the machine, every wait
# is CHECK_PATIENCE times as long (1).
set -euo pipefail
here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)
root=$(cd -- "$here/../.." && pwd)

if [ -z "${ENGINE_PID-}" ]; then
    exec "$here/engine.sh" timeout $((1800 * ${CHECK_PATIENCE:-1})) "$0" "$@"
fi
source "$root/tools/prepare.sh"
source "$root/tests/deploy/base.sh"

stack=aqswarm
work=$(mktemp -d /tmp/actorq-swarm.XXXXXX)

end() {
    docker stack rm "$stack" >/dev/null 2>&1 || true
    docker rm --force "$stack-operator" >/dev/null 2>&1 || true
    docker swarm leave --force >/dev/null 2>&1 || true
    rm -rf -- "$work"
}
trap end EXIT

status() {
    docker logs --since "$((5 * ${CHECK_PATIENCE:-1}))s" --tail 1 "$stack-operator"
}

# members ROLE COUNT: so many of that role are in the run, and it trains.
members() {
    status | python3 -c '
import json, sys
status = json.load(sys.stdin)
found = [one for one in status["members"] if one["role"].endswith(sys.argv[1])]
trained = int(status["learner"].get("learner_steps", 0))
sys.exit(len(found) != int(sys.argv[2]) or trained == 0)' "$1" "$2"
}

show_state() {
    docker service ls
    docker stack ps --no-trunc "$stack"
}

docker image inspect actorq:local >/dev/null || fail 'no image: check.sh builds it'
docker swarm init --advertise-addr 127.0.0.1 >/dev/null
mkdir "$work/made"
chmod 777 "$work/made"
docker run --rm --volume "$work/made:/made" actorq:local actorq certs /made/secrets >/dev/null
cp -r "$root/deploy/swarm.yaml" "$root/deploy/run.yaml" "$work/made/secrets" "$work/"
export ACTORQ_SETTINGS='--set evaluator.threshold=1000000 --set limits.env_steps=1000000000
    --set replay.tolerance=2000'
docker stack deploy --compose-file "$work/swarm.yaml" "$stack" >/dev/null
docker run --detach --restart on-failure --name "$stack-operator" \
    --network "${stack}_run" --user 0 \
    --volume "$work/secrets/operator:/certs/operator:ro" actorq:local \
    actorq status tcp://learner:5550 --certs /certs/operator --json --watch >/dev/null
wait_for 300 'the learner trains, with two actors' members ACTOR 2
docker service scale --detach "${stack}_actor=5" "${stack}_replay=2" >/dev/null
wait_for 180 'five actors' members ACTOR 5
wait_for 120 'two shards' members REPLAY 2
docker service update --detach --force "${stack}_replay" >/dev/null
wait_for 180 'shards were replaced one after the other' sh -c \
    "docker service inspect ${stack}_replay --format '{{.UpdateStatus.State}}' | grep -q completed"
wait_for 60 'and both are back' members REPLAY 2
docker service scale --detach "${stack}_actor=1" >/dev/null
wait_for 120 'one actor is left' members ACTOR 1
if docker stack ps "$stack" --format '{{.Error}}' | grep .; then
    fail 'a task failed'
fi
say PASSED
