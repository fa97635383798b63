#!/bin/sh
# Runs the fuzz targets one after the other, for a while each, under AddressSanitizer and
# UndefinedBehaviorSanitizer, from the seeds that are kept and what was found before.
#
#   tests/fuzz/run_fuzz.sh [MINUTES [TARGET...]]      a minute each; all of them
#   tests/fuzz/run_fuzz.sh 60 policy rpc_reply        an hour for each of two
#
# They are built in build-fuzz/ by clang, from the start when the sources have changed. What was
# found is kept in build-fuzz/corpus/TARGET; an input that breaks something is named in the output,
# and lies in build-fuzz/findings. Its place in the tree, once the fault is mended, is
# tests/fuzz/seeds/TARGET, where ./test unit looks at it for ever.
#
# ACTORQ_FUZZ_BUILD: another folder than build-fuzz/. The last line of each target says how many
# inputs it was given, and how long that took; the exit status is 0 when nothing was found.
set -eu
minutes=${1:-1}
[ $# -eq 0 ] || shift
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${ACTORQ_FUZZ_BUILD:-$root/build-fuzz}
seeds=$root/tests/fuzz/seeds
found=0

# Longer inputs than these find nothing that shorter ones do not, and take longer.
input_bytes_max=16384
memory_mb_max=2048
hang_s=30

if [ ! -f "$build/build.ninja" ]; then
    CC=clang meson setup "$build" "$root" -Dfuzz=true -Doptimization=1 -Ddebug=true \
        -Db_sanitize=address,undefined -Db_lundef=false \
        "-Dc_args=-fsanitize=fuzzer-no-link -gline-tables-only"
fi
[ $# -gt 0 ] || set -- $(cd "$seeds" && ls)

export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
# The fake stack is not aligned for the vectors of AVX-512.
export ASAN_OPTIONS=detect_stack_use_after_return=0
export LSAN_OPTIONS="suppressions=$root/tests/leaks.supp:print_suppressions=0"
mkdir -p "$build/findings"
for target; do
    corpus=$build/corpus/$target
    log=$build/$target.log
    mkdir -p "$corpus"
    ninja -C "$build" "tests/fuzz/fuzz_$target" >"$log" 2>&1 || { cat "$log"; exit 1; }
    started=$(date +%s)
    if ! "$build/tests/fuzz/fuzz_$target" -max_total_time=$((minutes * 60)) \
        -max_len=$input_bytes_max -rss_limit_mb=$memory_mb_max -timeout=$hang_s \
        -artifact_prefix="$build/findings/$target-" -print_final_stats=1 \
        "$corpus" "$seeds/$target" >"$log" 2>&1; then
        tail -40 "$log"
        found=$((found + 1))
    fi
    printf '%-18s %6d s %12s inputs\n' "$target" $(($(date +%s) - started)) \
        "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
done
[ $found -eq 0 ]
