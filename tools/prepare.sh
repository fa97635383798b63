# shellcheck shell=bash
# What ./run and ./test share: Debian's packages and a Meson build folder. To be sourced.
#
# Standard output belongs to the program that is run, so all of this goes to standard error, and
# nothing is said when there is nothing to do. Standard input is left alone for the same reason.

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
script=${0##*/}
LOG_TAIL_LINES=40

# Package and what it is for. Meson brings Python, which protects the house style in ./test.
packages=(
    gcc                  'compiles'
    libc6-dev            'the headers of the C library'
    meson                'describes the build'
    ninja-build          'runs the build'
    dpkg-dev             'says where libraries go'
    pkg-config           'finds the libraries'
    protobuf-c-compiler  'turns proto/ into C'
    libprotobuf-c-dev    'messages'
    libnng-dev           'sockets'
    libmbedtls-dev       'certificates and proofs'
    libuv1-dev           'event loop and processes'
    libopenblas-dev      'matrix products of the learner'
    libyaml-dev          'configuration files'
    libjansson-dev       'JSON'
    libzstd-dev          'smaller policies on the wire'
    libpng-dev           'pictures of runs'
    librsvg2-2           'charts as PNG'
    libmujoco-dev        'physics of the control suite'
    libbox2d-dev         'physics of the lander'
    g++                  'compiles what calls it'
    libjs-dygraphs       'charts of the dashboard'
)
test_packages=(
    libcmocka-dev        'unit tests'
    qemu-user            'runs programs of other processors'
    python3-numpy        'environments in Python'
    libpython3-dev       'the Python package'
    python3-pip          'installs it'
    python3-pil          'reads films of episodes'
    python3-yaml         'reads the files for container engines'
    git                  'applies the worked examples'
    libopenmpi-dev       'learners of several ranks'
    openmpi-bin          'starts them'
)
# ./test style
style_packages=(
    clang-format-14      'checks the layout of sources'
    groff-base           'finds mistakes in the manual pages'
    mandoc               'finds others'
)
# ./test cross, on x86-64
cross_packages=(
    gcc-aarch64-linux-gnu 'compiles the kernels for Arm'
    libc6-dev-arm64-cross 'the C library there'
)
# ./test integration: exported policies are compiled by what their users have.
export_packages=(
    clang                   'compiles exported policies'
    gcc-arm-none-eabi       'compiles exported policies for microcontrollers'
    libnewlib-arm-none-eabi 'the C library there'
    python3-onnx            'checks exported ONNX models'
)
# ./run bench
bench_packages=(
    libdnnl-dev          'oneDNN, to compare with'
)

say() {
    printf '%s: %s\n' "$script" "$*" >&2
}

fail() {
    say "$*"
    exit 1
}

# Prints the end of a log: what went wrong stands there.
show_tail() {
    tail -n "$LOG_TAIL_LINES" -- "$1" | sed 's/^/    /' >&2
}

# Sets `missing` to those of the packages given (name, purpose, name, purpose ...) that are not
# installed.
find_missing() {
    local -A installed=()
    local -a names=()
    local status name i
    for ((i = 1; i <= $#; i += 2)); do
        names+=("${!i}")
    done
    while read -r status name; do
        if [ "$status" = installed ]; then
            installed[$name]=1
        fi
    done < <(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' \
        "${names[@]}" 2>/dev/null)
    missing=()
    for name in "${names[@]}"; do
        if [ -z "${installed[$name]-}" ]; then
            missing+=("$name")
        fi
    done
}

# apt-get as root, without questions; what it writes goes to the log given first.
apt() {
    local log=$1
    shift
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -y -o DPkg::Lock::Timeout=120 "$@" </dev/null >>"$log" 2>&1
}

# Installs what is missing of the packages given, or says how to.
ensure_packages() {
    local log name i
    local -a missing as_root
    if ! command -v dpkg-query >/dev/null; then
        return # not Debian: Meson says what is missing
    fi
    find_missing "$@"
    if [ ${#missing[@]} -eq 0 ]; then
        return
    fi

    say 'missing packages of Debian:'
    for ((i = 1; i < $#; i += 2)); do
        name=${!i}
        if [[ " ${missing[*]} " == *" $name "* ]]; then
            printf '    %-23s %s\n' "$name" "${@:i+1:1}" >&2
        fi
    done
    local -r by_hand="apt-get update && apt-get install --no-install-recommends ${missing[*]}"
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            fail "neither root nor sudo; as root, run:  $by_hand"
        fi
        as_root=(sudo)
        if ! [ -t 2 ]; then
            as_root+=(-n) # nobody is there to type a password
        fi
        # Not -v, which wants a password where one of several rules for this user does.
        if ! "${as_root[@]}" true; then
            fail "sudo refused; as root, run:  $by_hand"
        fi
    fi

    say "installing them with apt-get (a minute or two)"
    log=$(mktemp)
    if ! apt "$log" update || ! apt "$log" install --no-install-recommends "${missing[@]}"; then
        show_tail "$log"
        rm -f -- "$log"
        fail "apt-get failed; by hand, as root:  $by_hand"
    fi
    rm -f -- "$log"
}

# Writes what ninja prints to a log, and on a terminal how far it is.
watch_build() {
    local line
    while IFS= read -r line; do
        printf '%s\n' "$line"
        if [ -t 2 ] && [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
            printf '\r%s: %d of %d files ' "$script" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" >&2
        fi
    done >"$1"
    if [ -t 2 ]; then
        printf '\r\033[K' >&2
    fi
}

# build_in FOLDER [MESON OPTIONS]: configures the folder below the root where that is needed, and
# builds everything in it, or what the command `choose_targets` names for it. A folder that somebody
# configured by hand is built as it is.
choose_targets=()
build_in() {
    local -r folder=$root/$1 setup="$root ${*:2}"
    local -r stamp=$folder/.set-up log=$folder/build.log
    local -r lock=$root/.cache/$1.lock # not in the folder, which may be wiped
    local -a wipe=() targets=()
    mkdir -p -- "$folder" "${lock%/*}" || fail "cannot write to $root"
    exec 9>"$lock"
    if ! flock -n 9; then
        say "waiting for another build in $1/"
        flock 9
    fi
    if [ -e "$folder/build.ninja" ] && [ -e "$stamp" ] && [ "$(<"$stamp")" != "$setup" ]; then
        wipe=(--wipe)
    fi
    if [ ! -e "$folder/build.ninja" ] || [ ${#wipe[@]} -gt 0 ]; then
        if [ ! -e "$folder/build.ninja" ]; then
            rm -rf -- "$folder/meson-private" # of a set-up that was cut short, which Meson believes
        fi
        configure "$@"
    fi
    if [ ${#choose_targets[@]} -gt 0 ]; then
        ninja -C "$folder" build.ninja >"$log" 2>&1 </dev/null || true # what is wrong shows below
        mapfile -t targets < <("${choose_targets[@]}" "$folder")
    fi
    if [[ $(ninja -C "$folder" -n "${targets[@]}" 2>&1) != *'no work to do'* ]]; then
        say "building in $1/ (a minute or two from nothing)"
    fi
    if ! ninja -C "$folder" "${targets[@]}" 2>&1 </dev/null | watch_build "$log"; then
        show_tail "$log"
        fail "the build failed; all of it: $log (start anew with: rm -r $1)"
    fi
    exec 9>&-
}

# The first or another set-up of build_in's folder; its variables are seen here.
configure() {
    local set_up_log
    set_up_log=$(mktemp) # not in the folder, which may be wiped
    if ! (cd -- "$root" && meson setup ${wipe[@]+"${wipe[@]}"} "${@:2}" "$folder" \
        >"$set_up_log" 2>&1 </dev/null); then
        show_tail "$set_up_log"
        rm -f -- "$set_up_log"
        fail "Meson failed; all of it: $folder/meson-logs/meson-log.txt"
    fi
    rm -f -- "$set_up_log"
    printf '%s' "$setup" >"$stamp"
}
