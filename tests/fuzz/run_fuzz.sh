#!/bin/sh
# Runs each fuzz target for a while under AddressSanitizer and UndefinedBehaviorSanitizer, starting
# from the recorded frames of tests/golden/wire.
#
#   tests/fuzz/run_fuzz.sh BUILD_DIR [SECONDS]
#
# What was found is kept in BUILD_DIR/corpus; an input that breaks something is named in the output
# and kept in BUILD_DIR.
set -eu
build=${1:?usage: run_fuzz.sh BUILD_DIR [SECONDS]}
seconds=${2:-30}
root=$(cd "$(dirname "$0")/../.." && pwd)

if [ ! -f "$build/build.ninja" ]; then
    CC=clang meson setup "$build" "$root" -Dfuzz=true -Dbuildtype=debugoptimized \
        -Db_sanitize=address,undefined -Db_lundef=false -Dc_args=-fsanitize=fuzzer-no-link
fi
# Segments and data sets have no recorded one: their targets make records of any input.
for pair in fuzz_frame_experience:experience fuzz_policy:policy fuzz_delta:policy_delta \
    fuzz_checkpoint:checkpoint fuzz_segment: fuzz_dataset:; do
    target=${pair%%:*}
    corpus=$build/corpus/$target
    ninja -C "$build" "tests/fuzz/$target"
    mkdir -p "$corpus"
    if [ -n "${pair##*:}" ]; then
        tr -d '\n' <"$root/tests/golden/wire/${pair##*:}.hex" | xxd -r -p >"$corpus/golden"
    fi
    UBSAN_OPTIONS=halt_on_error=1 "$build/tests/fuzz/$target" -max_total_time="$seconds" \
        -max_len=8192 -artifact_prefix="$build/$target-" -print_final_stats=1 "$corpus"
done
