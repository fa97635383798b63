#!/usr/bin/env bash
# engine.sh [--fresh] COMMAND...: runs COMMAND beside a container engine that exists for it alone.
#
# The engine is Debian's dockerd in namespaces of its own (processes, mounts, network): it changes
# no route, no packet filter and no image of this machine, and when it ends every container ends
# with it. The network reaches out through slirp4netns, as that of a user would. Debian's own tools
# make the base image, so nothing is pulled from anywhere but Debian's archive.
#
# COMMAND finds DOCKER_HOST set, debian:bookworm-slim among the images, and in ENGINE_PID the
# process whose network and process namespaces are those of the containers' host.
#
# Layers and the base image stay in $ENGINE_DIR (default /var/tmp/actorq-engine) for the next time;
# --fresh begins without layers. Needs root, and 3 GB there.
set -euo pipefail
root=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.." && pwd)
source "$root/tools/prepare.sh"
source "$root/tests/deploy/base.sh"

state=${ENGINE_DIR:-/var/tmp/actorq-engine}
group=/actorq-engine-$$
engine_packages=(
    docker.io            'runs containers'
    docker-compose       'runs several of them'
    debootstrap          'makes the base image'
    slirp4netns          'connects them to the outside'
    iproute2             'sets their network up'
    iptables             'what the engine routes with'
    curl                 'asks for pages'
)
unshare_pid=
slirp_pid=

# What runs as the first process of the namespaces.
inside() {
    ip link set lo up
    while ! ip link show tap0 >/dev/null 2>&1; do
        sleep 0.1
    done
    echo 1 >/proc/sys/net/ipv4/ip_forward
    mkdir -p /run/docker
    mount -t tmpfs tmpfs /run/docker
    exec dockerd --data-root "$state/docker" --exec-root /run/docker --pidfile /run/docker/pid \
        --host "unix://$state/docker.sock" --cgroup-parent "$group" --log-level warn
}

start_engine() {
    mkdir -p -- "$state"
    exec 8>"$state/lock"
    flock --nonblock 8 || fail "another engine runs in $state"
    rm -f -- "$state/docker.sock"
    # The descriptors of the locks are not for the engine.
    ENGINE_INSIDE=$group unshare --net --mount --pid --fork --kill-child --mount-proc \
        "$0" 8>&- >"$state/dockerd.log" 2>&1 &
    unshare_pid=$!
    local tries
    for tries in {1..100}; do
        ENGINE_PID=$(cat "/proc/$unshare_pid/task/$unshare_pid/children" 2>/dev/null || true)
        ENGINE_PID=${ENGINE_PID%% *}
        if [ -n "$ENGINE_PID" ]; then
            break
        fi
        sleep 0.1
    done
    [ -n "$ENGINE_PID" ] || fail "no namespaces: $(tail -n 3 "$state/dockerd.log")"
    export ENGINE_PID
    slirp4netns --configure --mtu=65520 --disable-host-loopback "$ENGINE_PID" tap0 \
        8>&- >"$state/slirp.log" 2>&1 &
    slirp_pid=$!
    export DOCKER_HOST=unix://$state/docker.sock
    for tries in {1..300}; do
        if docker version >/dev/null 2>&1; then
            return
        fi
        kill -0 "$unshare_pid" 2>/dev/null || break
        sleep 0.1
    done
    show_tail "$state/dockerd.log"
    fail 'the engine does not answer'
}

stop_engine() {
    local tries folder
    if [ -n "$unshare_pid" ]; then
        kill "$ENGINE_PID" 2>/dev/null || true
        for tries in {1..200}; do
            kill -0 "$unshare_pid" 2>/dev/null || break
            sleep 0.1
        done
        kill -KILL "$unshare_pid" 2>/dev/null || true
        wait "$unshare_pid" 2>/dev/null || true
    fi
    if [ -n "$slirp_pid" ]; then
        kill "$slirp_pid" 2>/dev/null || true
        wait "$slirp_pid" 2>/dev/null || true
    fi
    find /sys/fs/cgroup -depth -type d -path "*$group*" -exec rmdir {} + 2>/dev/null || true
}

# What a command left that was killed: the engine has just started it again.
remove_left() {
    local -a left
    mapfile -t left < <(docker ps --all --quiet)
    if [ ${#left[@]} -gt 0 ]; then
        docker rm --force --volumes "${left[@]}" >/dev/null
    fi
    docker swarm leave --force >/dev/null 2>&1 || true
}

# The base image, where the engine lacks it.
import_base() {
    make_base "$state"
    if ! docker image inspect debian:bookworm-slim >/dev/null 2>&1; then
        docker import --change 'CMD ["bash"]' "$state/base.tar" debian:bookworm-slim >/dev/null
    fi
}

if [ -n "${ENGINE_INSIDE-}" ]; then
    group=$ENGINE_INSIDE
    unset ENGINE_INSIDE
    inside
fi
if [ "${1-}" = --fresh ]; then
    shift
    rm -rf -- "$state/docker"
fi
[ $# -gt 0 ] || fail 'engine.sh [--fresh] COMMAND...'
[ "$(id -u)" -eq 0 ] || fail 'this needs root'
ensure_packages "${engine_packages[@]}"
trap stop_engine EXIT
trap 'exit 130' INT TERM
start_engine
remove_left
import_base
"$@" 8>&-
