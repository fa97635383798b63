#!/bin/bash
# What the broadcast of a policy of three hidden layers of 256 takes while CartPole is learned, with
# and without changes, and the return that the run came to. No version falls back to fp32: that
# would count as a full one.
#
#   bench/broadcast_bytes.sh [SEEDS] [ENV_STEPS] [KEY=VALUE ...]
#
# ACTORQ names the program (default: build/cli/actorq).
set -eu
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
seeds=${1:-3}
steps=${2:-20000}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] && shift
actorq=${ACTORQ:-build/cli/actorq}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

printf 'period  full  seed  versions  changes  bytes a version  share of fp32  return\n'
for period in 100 10; do
    for full in 32 1; do
        for seed in $(seq "$seeds"); do
            run=$folder/$period-$full-$seed
            settings="--set quantizer.publish_period=$period --set quantizer.full_period=$full"
            for setting in "$@"; do
                settings="$settings --set $setting"
            done
            # shellcheck disable=SC2086
            "$actorq" train gym:CartPole-v1 --seed "$seed" --quiet --json --run "$run" \
                --set learner.hidden=256,256,256 --set limits.env_steps="$steps" \
                --set evaluator.threshold=1000 --set quantizer.error_budget=1 $settings >"$run.json"
            grep '"event":"end"' "$run/metrics.jsonl" | python3 -c '
import json, sys
end = json.loads(sys.stdin.read())
result = json.load(open(sys.argv[4]))
count = end["policy_versions"]
print("%6s %5s %5s %9d %8d %16.0f %14.4f %7.1f" % (
    sys.argv[1], sys.argv[2], sys.argv[3], count, end["policy_deltas"],
    end["broadcast_bytes"] / count, end["broadcast_bytes"] / end["broadcast_bytes_fp32"],
    result["return_mean"]))' "$period" "$full" "$seed" "$run.json"
        done
    done
done
