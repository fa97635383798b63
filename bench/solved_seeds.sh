#!/usr/bin/env bash
# bench/solved_seeds.sh SEEDS RETURN TASK [train options]   How fast and surely a task is solved.
#
#   bench/solved_seeds.sh 20 475 gym:CartPole-v1
#   bench/solved_seeds.sh 6 -200 gym:Pendulum-v1 --preset pendulum-td3
#
# Trains SEEDS runs, seeds 1, 2, 3, …, one after the other, and prints a row for each and the
# median of their wall times. Wall time is from the start of the process until its end of training
# was known. Each policy is evaluated once more by `actorq eval`, over 100 greedy episodes of
# another seed; RETURN is what both should reach.
#
# ACTORQ names another actorq than that of ./build. OpenBLAS runs the kernels that suit the
# processor: variables that force others are unset.
set -euo pipefail
here="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
actorq="${ACTORQ:-$here/../build/cli/actorq}"
if [ $# -lt 3 ]; then
    sed -n '2,5s/^# \?//p' "$0" >&2
    exit 2
fi
seeds=$1 wanted=$2
shift 2
work="$(mktemp -d)"
trap 'rm -rf -- "$work"' EXIT

number() { # number KEY FILE: the value of one key of a flat JSON object
    sed -n "s/^ *\"$1\": \\([^,]*\\),*\$/\\1/p" "$2"
}

printf '%5s %7s %8s %10s %13s %9s %8s\n' seed solved wall_s env_steps learner_steps return eval
for ((seed = 1; seed <= seeds; seed++)); do
    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE "$actorq" train "$@" --seed "$seed" \
        --run "$work/run-$seed" --json=pretty --quiet >"$work/train.json"
    "$actorq" eval "$work/run-$seed" --episodes 100 --seed $((seed + 1000)) --json=pretty \
        >"$work/eval.json"
    printf '%5d %7s %8.2f %10d %13d %9.1f %8.1f\n' "$seed" \
        "$(number solved "$work/train.json")" "$(number wall_s "$work/train.json")" \
        "$(number env_steps "$work/train.json")" "$(number learner_steps "$work/train.json")" \
        "$(number return_mean "$work/train.json")" "$(number return_mean "$work/eval.json")" |
        tee -a "$work/rows"
done

sort -n -k3,3 "$work/rows" | awk -v wanted="$wanted" '
    { wall[NR] = $3; solved += $2 == "true"; good += $6 >= wanted; again += $7 >= wanted }
    END {
        middle = NR % 2 ? wall[(NR + 1) / 2] : (wall[NR / 2] + wall[NR / 2 + 1]) / 2
        printf "%d of %d solved; return >= %s in %d, once more in %d\n", solved, NR, wanted, good,
            again
        printf "wall_s: least %.2f, median %.2f, most %.2f\n", wall[1], middle, wall[NR]
    }'
