#!/usr/bin/env bash
# bench/cartpole_seeds.sh [SEEDS] [train options]   How fast and how surely CartPole is solved.
#
# Trains SEEDS runs (default 10), seeds 1, 2, 3, …, one after the other, and prints a row for each
# and the medians. Wall time is from the start of the process until its end of training was known.
# Each policy is evaluated once more by `actorq eval`, over 100 greedy episodes of another seed.
#
# ACTORQ names another actorq than that of ./build. OpenBLAS runs the kernels that suit the
# processor: variables that force others are unset.
set -euo pipefail
here="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
actorq="${ACTORQ:-$here/../build/cli/actorq}"
seeds="${1:-10}"
shift || true
work="$(mktemp -d)"
trap 'rm -rf -- "$work"' EXIT

number() { # number KEY FILE: the value of one key of a flat JSON object
    sed -n "s/^ *\"$1\": \\([^,]*\\),*\$/\\1/p" "$2"
}

printf '%5s %7s %8s %10s %13s %9s %8s\n' seed solved wall_s env_steps learner_steps return eval
for ((seed = 1; seed <= seeds; seed++)); do
    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE "$actorq" train gym:CartPole-v1 --seed "$seed" \
        --run "$work/run-$seed" --json --quiet "$@" >"$work/train.json"
    "$actorq" eval "$work/run-$seed" --episodes 100 --seed $((seed + 1000)) --json \
        >"$work/eval.json"
    printf '%5d %7s %8.2f %10d %13d %9.1f %8.1f\n' "$seed" \
        "$(number solved "$work/train.json")" "$(number wall_s "$work/train.json")" \
        "$(number env_steps "$work/train.json")" "$(number learner_steps "$work/train.json")" \
        "$(number return_mean "$work/train.json")" "$(number return_mean "$work/eval.json")" |
        tee -a "$work/rows"
done

sort -n -k3,3 "$work/rows" | awk '
    { wall[NR] = $3; solved += $2 == "true"; good += $6 >= 475; again += $7 >= 475 }
    END {
        middle = NR % 2 ? wall[(NR + 1) / 2] : (wall[NR / 2] + wall[NR / 2 + 1]) / 2
        printf "%d of %d solved; return >= 475 in %d, once more in %d\n", solved, NR, good, again
        printf "wall_s: least %.2f, median %.2f, most %.2f\n", wall[1], middle, wall[NR]
    }'
