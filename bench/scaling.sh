#!/usr/bin/env bash
# bench/scaling.sh [OPTIONS] [-- train options]   How throughput grows with the number of actors.
#
#   --actors LIST   numbers of actors, the first is what the others are compared with
#                   (default "1 2 4 8 16 32")
#   --sleep-us N    how long an environment sleeps in each step (default 10000)
#   --seconds N     measured of each run, after the first 4 (default 12)
#   --csv FILE      the rows, and the histograms of staleness, as CSV
#
# Runs of `actorq train` on CartPole with environments that sleep, one for each actor, so that the
# number of cores does not decide. Prints for each number of actors the environment steps per
# second, the share of so many times what one actor made, how many versions behind the newest the
# steps were that were trained on, and their histogram.
#
# ACTORQ names another actorq than that of ./build.
set -euo pipefail
here="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
actorq="${ACTORQ:-$here/../build/cli/actorq}"
numbers='1 2 4 8 16 32'
sleep_us=10000
seconds=12
csv=
warm_s=4
while [ $# -gt 0 ]; do
    case $1 in
    --actors) numbers=$2 && shift 2 ;;
    --sleep-us) sleep_us=$2 && shift 2 ;;
    --seconds) seconds=$2 && shift 2 ;;
    --csv) csv=$2 && shift 2 ;;
    --) shift && break ;;
    *) echo "bench/scaling.sh: $1 is not an option" >&2 && exit 2 ;;
    esac
done
work="$(mktemp -d)"
trap 'rm -rf -- "$work"' EXIT

train() { # train ACTORS [options]: one run, in $work/run
    local actors=$1
    shift
    rm -rf -- "$work/run"
    # One actor alone needs seconds to fill replay, so that little is asked of it at the start; a
    # threshold that nobody reaches, so that no run ends early; short episodes, so that the hundred
    # which train plays at its end, and which sleep as well, take seconds.
    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE "$actorq" train \
        "gym:CartPole-v1?sleep_us=$sleep_us&time_limit=10" --run "$work/run" --seed 1 \
        --json --quiet \
        --set actor.count="$actors" --set actor.envs=1 --set evaluator.threshold=1e9 \
        --set replay.samples_per_insert=4 --set replay.min_size=200 \
        --set limits.wall_s=$((warm_s + seconds + 1)) "$@" >"$work/train.json"
}

digest() { # digest ACTORS: a row of what the last run's metrics say, once it was warm
    python3 - "$1" "$warm_s" "$work/run/metrics.jsonl" <<'PYTHON'
import json
import sys

actors, warm_s = int(sys.argv[1]), float(sys.argv[2])
with open(sys.argv[3]) as lines:
    rows = [json.loads(line) for line in lines]
rows = [row for row in rows if row["event"] == "progress" and row["wall_s"] >= warm_s]
first, last = rows[0], rows[-1]
steps_per_s = (last["env_steps"] - first["env_steps"]) / (last["wall_s"] - first["wall_s"])
bins = [b - a for a, b in zip(first["replay_use"]["staleness"], last["replay_use"]["staleness"])]
behind = [row["staleness"] for row in rows if row["staleness"] is not None]
mean = sum(behind) / len(behind) if behind else float("nan")
total = max(sum(bins), 1)
print(actors, f"{steps_per_s:.1f}", f"{mean:.1f}", *(f"{count / total:.4f}" for count in bins))
PYTHON
}

# Bin 0 are steps of the newest version, bin i of those 2^(i - 1) to 2^i - 1 behind.
printf '%6s %12s %10s %7s %8s  %s\n' actors env_steps_s per_actor share behind \
    'trained on, by versions behind: 0, 1, 2-3, 4-7, ...'
[ -n "$csv" ] && echo 'actors,env_steps_per_s,share,versions_behind,staleness_bins' >"$csv"
one=
for actors in $numbers; do
    train "$actors" "$@"
    row=$(digest "$actors")
    read -r _ steps_s behind bins <<<"$row"
    [ -n "$one" ] || one="$(awk "BEGIN { print $steps_s / $actors }")"
    awk -v actors="$actors" -v steps="$steps_s" -v one="$one" -v behind="$behind" -v bins="$bins" '
        BEGIN {
            printf "%6d %12.1f %10.1f %6.1f%% %8.1f  ", actors, steps, steps / actors,
                100 * steps / actors / one, behind
            count = split(bins, share, " ")
            for (i = 1; i <= count; i++) {
                if (share[i] > 0) {
                    last = i
                }
            }
            for (i = 1; i <= last; i++) {
                printf "%s%.0f%%", (i > 1 ? " " : ""), 100 * share[i]
            }
            printf "\n"
        }'
    [ -z "$csv" ] || awk -v actors="$actors" -v steps="$steps_s" -v one="$one" \
        -v behind="$behind" -v bins="$bins" 'BEGIN {
            printf "%d,%.1f,%.4f,%.1f,%s\n", actors, steps, steps / actors / one, behind, bins
        }' >>"$csv"
done
