#!/usr/bin/env bash
set -euo pipefail
source "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../../tools/prepare.sh"

usage() {
    cat <<'END_OF_USAGE'
run_fuzz.sh [MINUTES [TARGET...]]    Installs what is missing, builds, and runs the fuzz targets

  tests/fuzz/run_fuzz.sh                        a minute each; all of them
  tests/fuzz/run_fuzz.sh 60 policy rpc_reply    an hour for each of two

Each starts from the seeds that are kept and from what was found before, under AddressSanitizer and
UndefinedBehaviorSanitizer; as many run at once as there are processors.

What was found is kept in build-fuzz/corpus/TARGET. An input that breaks something is named in the
output, and lies in build-fuzz/findings. Its place in the tree, once the fault is mended, is
tests/fuzz/seeds/TARGET, where ./test unit looks at it for ever.

A line for each target says how many inputs it was given, and how long that took; the exit status is
0 when nothing was found.
END_OF_USAGE
}

# Longer inputs than these find nothing that shorter ones do not, and take longer.
input_bytes_max=16384
memory_mb_max=2048
hang_s=30
fuzz_packages=(
    clang                'brings libFuzzer'
    libclang-rt-dev      'its sanitizers'
    llvm                 'names the lines in what they report'
)
build=$root/build-fuzz
seeds=$root/tests/fuzz/seeds

# Files of ours that are seeds as well, as in meson.build.
more_seeds() {
    case $1 in
    recording) echo "$root/tests/golden/recordings" ;;
    settings) echo "$root/configs" ;;
    esac
}

# fuzz TARGET MINUTES: says what came of it, and with the end of its log when it found something.
fuzz() {
    local -r target=$1 seconds=$(($2 * 60)) corpus=$build/corpus/$1 log=$build/$1.log
    local -r started=$SECONDS
    local -a more
    local found=0
    mapfile -t more < <(more_seeds "$target")
    mkdir -p -- "$corpus"
    "$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -max_len=$input_bytes_max \
        -rss_limit_mb=$memory_mb_max -timeout=$hang_s -print_final_stats=1 \
        -artifact_prefix="$build/findings/$target-" "$corpus" "$seeds/$target" \
        "${more[@]}" >"$log" 2>&1 || found=1
    if [ $found -eq 1 ]; then
        show_tail "$log"
    fi
    printf '%-18s %6d s %12s inputs\n' "$target" $((SECONDS - started)) \
        "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
    return $found
}

main() {
    local target minutes
    local -a targets=()
    case ${1-} in
    -h | --help)
        usage
        return
        ;;
    esac
    minutes=${1:-1}
    if ! [[ $minutes =~ ^[1-9][0-9]*$ ]]; then
        fail "a number of minutes, not '$minutes'; try --help"
    fi
    mapfile -t targets < <(ls "$seeds")
    for target in "${@:2}"; do
        if ! [ -d "$seeds/$target" ]; then
            fail "no target '$target'; there are: ${targets[*]}"
        fi
    done
    if [ $# -gt 1 ]; then
        targets=("${@:2}")
    fi

    ensure_packages "${packages[@]}" "${test_packages[@]}" "${fuzz_packages[@]}"
    CC=clang build_in build-fuzz -Dfuzz=true -Dtests=enabled --optimization=1 -Ddebug=true \
        -Db_sanitize=address,undefined -Db_lundef=false \
        '-Dc_args=-fsanitize=fuzzer-no-link -gline-tables-only'
    mkdir -p -- "$build/findings"
    export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    # The fake stack is not aligned for the vectors of AVX-512.
    export ASAN_OPTIONS=detect_stack_use_after_return=0
    export LSAN_OPTIONS="suppressions=$root/tests/leaks.supp:print_suppressions=0"
    run_all "$minutes" "${targets[@]}"
}

# run_all MINUTES TARGET...: as many at once as there are processors.
run_all() {
    local target running=0 failures=0
    for target in "${@:2}"; do
        if [ $running -eq "$(nproc)" ]; then
            wait -n || failures=$((failures + 1))
            running=$((running - 1))
        fi
        fuzz "$target" "$1" &
        running=$((running + 1))
    done
    while [ $running -gt 0 ]; do
        wait -n || failures=$((failures + 1))
        running=$((running - 1))
    done
    [ $failures -eq 0 ]
}

main "$@"
