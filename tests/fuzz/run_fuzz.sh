#!/usr/bin/env bash
set -euo pipefail
source "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../../tools/prepare.sh"

usage() {
    cat <<'END_OF_USAGE'
run_fuzz.sh [MINUTES [TARGET...]]    Installs what is missing, builds, and runs the fuzz targets
run_fuzz.sh --report                 What each was given so far, and what it found
run_fuzz.sh --pack                   Packs corpus and ledger for the tree: others go on from there

  tests/fuzz/run_fuzz.sh                        a minute each; all of them
  tests/fuzz/run_fuzz.sh 60 policy rpc_reply    an hour for each of two

Each starts from the seeds that are kept and from what was found before, under AddressSanitizer and
UndefinedBehaviorSanitizer; as many run at once as there are processors.

Minutes are minutes of a processor, measured, in slices of five that go round. A ledger counts them:
each target is given what it lacks, so this can be stopped at any time and goes on where it was. To
count anew, remove the ledger.

Corpus, findings and ledger are in build-fuzz, or in the folder that AQ_FUZZ_KEPT names; a new one
begins with what tests/fuzz/kept.tar.gz holds. --pack writes that: of the corpus the inputs that
reach code which no other does, and the ledger.

An input that breaks something is named in the output, and lies in findings; its target is left
alone until the next call. Its place in the tree, once the fault is mended, is
tests/fuzz/seeds/TARGET, where ./test unit looks at it for ever.

The exit status is 0 when nothing was found.
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
slice_s=300
slice_s_min=60 # shorter ones do little but read the corpus
interrupted=72 # libFuzzer's exit status when it was told to stop
build=$root/build-fuzz
kept=${AQ_FUZZ_KEPT:-$build}
seeds=$root/tests/fuzz/seeds
packed=$root/tests/fuzz/kept.tar.gz

# Files of ours that are seeds as well, as in meson.build.
more_seeds() {
    case $1 in
    settings) echo "$root/configs" ;;
    esac
}

# For build_in.
fuzz_programs() {
    ls "$seeds" | sed 's,^,tests/fuzz/fuzz_,'
}

# read_ledger TARGET: sets cpu_ms, inputs and findings.
read_ledger() {
    cpu_ms=0 inputs=0 findings=0
    if [ -e "$kept/ledger/$1" ]; then
        read -r cpu_ms inputs findings <"$kept/ledger/$1"
    fi
}

# add_to_ledger TARGET CPU_MS INPUTS FINDINGS. A call that dies leaves the line before.
add_to_ledger() {
    local cpu_ms inputs findings
    read_ledger "$1"
    echo $((cpu_ms + $2)) $((inputs + $3)) $((findings + $4)) >"$kept/ledger/.$1"
    mv -- "$kept/ledger/.$1" "$kept/ledger/$1"
}

report() {
    local target cpu_ms inputs findings
    printf '%-18s %11s %14s %9s\n' target 'processor s' inputs findings
    for target in "$@"; do
        read_ledger "$target"
        printf '%-18s %11d %14d %9d\n' "$target" $((cpu_ms / 1000)) "$inputs" "$findings"
    done
}

# children_ms FILE: milliseconds of a processor that a shell's children took, by what its `times`
# wrote.
children_ms() {
    local user_min user_s user_ms sys_min sys_s sys_ms
    read -r user_min user_s user_ms sys_min sys_s sys_ms < <(sed -n '2s/[ms.]/ /gp' "$1")
    echo $(((user_min + sys_min) * 60000 + (user_s + sys_s) * 1000 + 10#$user_ms + 10#$sys_ms))
}

# Goes on from what is in the tree, where nothing was kept yet.
begin() {
    mkdir -p -- "$kept"
    if ! [ -d "$kept/ledger" ] && [ -e "$packed" ]; then
        tar -xzf "$packed" -C "$kept"
    fi
    mkdir -p -- "$kept/findings" "$kept/ledger"
}

# pack TARGET...: corpora without what reaches no code of its own, and the ledger, as one file.
pack() {
    local target small cpu_ms inputs findings
    small=$(mktemp -d -- "$kept/.pack-XXXXXX")
    mkdir -- "$small/ledger"
    for target in "$@"; do
        mkdir -p -- "$small/corpus/$target" "$kept/corpus/$target"
        "$build/tests/fuzz/fuzz_$target" -merge=1 -max_len=$input_bytes_max \
            -rss_limit_mb=$memory_mb_max "$small/corpus/$target" "$kept/corpus/$target" \
            >"$kept/$target.log" 2>&1 || fail "$target: see $kept/$target.log"
        read_ledger "$target"
        echo "$cpu_ms $inputs $findings" >"$small/ledger/$target"
    done
    tar -C "$small" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf - corpus ledger |
        gzip -9n >"$packed"
    rm -r -- "$small"
    say "$(stat -c %s "$packed") bytes in $packed"
}

# slice TARGET SECONDS, in a shell of its own: one run, and its line in the ledger. Says what came
# of it, and with the end of its log when it found something.
slice() {
    local -r target=$1 corpus=$kept/corpus/$1 log=$kept/$1.log
    local -a more
    local rc=0 found=0 executed fuzzer
    mapfile -t more < <(more_seeds "$target")
    mkdir -p -- "$corpus"
    "$build/tests/fuzz/fuzz_$target" -max_total_time="$2" -max_len=$input_bytes_max \
        -rss_limit_mb=$memory_mb_max -timeout=$hang_s -print_final_stats=1 \
        -artifact_prefix="$kept/findings/$target-" "$corpus" "$seeds/$target" \
        "${more[@]}" >"$log" 2>&1 &
    fuzzer=$!
    trap 'trap "" TERM; kill "$fuzzer"' TERM
    wait "$fuzzer" || rc=$?
    while kill -0 "$fuzzer" 2>/dev/null; do # a signal cut the wait short
        rc=0
        wait "$fuzzer" || rc=$?
    done
    if [ $rc -ne 0 ] && [ $rc -ne $interrupted ]; then
        found=1
        show_tail "$log"
    fi
    executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    times >"$log.times" # a shell below this one would write its own
    add_to_ledger "$target" "$(children_ms "$log.times")" "${executed:-0}" $found
    report "$target" | sed 1d
    return $found
}

main() {
    local target minutes
    local -a targets=()
    mapfile -t targets < <(ls "$seeds")
    case ${1-} in
    -h | --help)
        usage
        return
        ;;
    --report)
        begin
        report "${targets[@]}"
        return
        ;;
    --pack)
        if ! [ -d "$build/tests/fuzz" ]; then
            fail "nothing is built in $build; call me without --pack first"
        fi
        begin
        pack "${targets[@]}"
        return
        ;;
    esac
    minutes=${1:-1}
    if ! [[ $minutes =~ ^[1-9][0-9]*$ ]]; then
        fail "a number of minutes, not '$minutes'; try --help"
    fi
    for target in "${@:2}"; do
        if ! [ -d "$seeds/$target" ]; then
            fail "no target '$target'; there are: ${targets[*]}"
        fi
    done
    if [ $# -gt 1 ]; then
        targets=("${@:2}")
    fi

    ensure_packages "${packages[@]}" "${test_packages[@]}" "${fuzz_packages[@]}"
    choose_targets=(fuzz_programs)
    CC=clang build_in build-fuzz -Dfuzz=true -Dtests=enabled --optimization=1 -Ddebug=true \
        -Db_sanitize=address,undefined -Db_lundef=false -Dbox2d=disabled \
        '-Dc_args=-fsanitize=fuzzer-no-link -gline-tables-only'
    begin
    export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    # The fake stack is not aligned for the vectors of AVX-512.
    export ASAN_OPTIONS=detect_stack_use_after_return=0
    export LSAN_OPTIONS="suppressions=$root/tests/leaks.supp:print_suppressions=0"
    # Slices inherit the lock: those of a call that was killed come to their end first.
    exec 8>"$kept/ledger/.lock"
    if ! flock -n 8; then
        say "waiting for another call, or its last slices, in $kept"
        flock 8
    fi
    trap stop INT TERM
    run_all "$minutes" "${targets[@]}"
}

# Lets every slice write its line, and ends.
stop() {
    local -a pids
    mapfile -t pids < <(jobs -p)
    kill "${pids[@]}" 2>/dev/null || true
    wait
    exit 143
}

# run_all MINUTES TARGET...: rounds of slices, until nobody lacks anything that found nothing.
run_all() {
    local target lack_s cpu_ms inputs findings
    local -A found=()
    local -a lacking
    while :; do
        lacking=()
        for target in "${@:2}"; do
            read_ledger "$target"
            lack_s=$(($1 * 60 - cpu_ms / 1000))
            if [ $lack_s -gt 0 ] && [ -z "${found[$target]-}" ]; then
                lacking+=("$target" "$lack_s")
            fi
        done
        if [ ${#lacking[@]} -eq 0 ]; then
            break
        fi
        run_round "${lacking[@]}"
    done
    report "${@:2}"
    [ ${#found[@]} -eq 0 ]
}

# run_round [TARGET LACK_S]...: a slice for each, as many at once as there are processors.
run_round() {
    local running=0
    local -A target_of=()
    while [ $# -gt 0 ]; do
        if [ $running -eq "$(nproc)" ]; then
            wait_one
        fi
        slice "$1" $(($2 > slice_s ? slice_s : $2 < slice_s_min ? slice_s_min : $2)) &
        target_of[$!]=$1
        running=$((running + 1))
        shift 2
    done
    while [ $running -gt 0 ]; do
        wait_one
    done
}

# Waits for one of run_round's slices, and notes it in run_all's `found`.
wait_one() {
    local pid
    if ! wait -n -p pid; then
        found[${target_of[$pid]}]=1
    fi
    running=$((running - 1))
}

main "$@"
