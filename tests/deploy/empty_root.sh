#!/usr/bin/env bash
# empty_root.sh [COMMAND...]: COMMAND (./run) in a clone of what is committed, in a Debian with
# nothing in it: no compiler, no packages of ours, no /etc/hosts, and then, where the clone is
# built, once more with one. What a newcomer gets from the README's two commands.
#
# It takes a minute or two.
#
#   APT_CONF, http_proxy   as for the build of the image, where this host needs them
#   ENGINE_DIR             keeps the base (/var/tmp/actorq-engine); needs root, and 4 GB there
set -euo pipefail
root=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.." && pwd)
source "$root/tools/prepare.sh"
source "$root/tests/deploy/base.sh"

state=${ENGINE_DIR:-/var/tmp/actorq-engine}
newcomer=$state/empty-root

# enter COMMAND...: in the clone, with processes, mounts and devices of its own.
enter() {
    unshare --mount --pid --fork --kill-child chroot "$newcomer" /bin/sh -c '
        mount -t proc proc /proc && mount -t devtmpfs dev /dev && mkdir -p /dev/shm &&
            mount -t tmpfs tmpfs /dev/shm && cd /root/actorq && exec "$@"' sh \
        env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
        http_proxy="${http_proxy-}" "$@"
}

[ "$(id -u)" -eq 0 ] || fail 'this needs root'
[ $# -gt 0 ] || set -- ./run
ensure_packages debootstrap 'makes the base'
mkdir -p -- "$state"
exec 9>"$newcomer.lock"
flock --nonblock 9 || fail "another one runs in $state"
if [ ! -e "$state/base.tar" ]; then
    # As engine.sh, which makes the same one.
    exec 8>"$state/lock"
    flock --nonblock 8 || fail "an engine runs in $state, and its base is not made yet"
    make_base "$state"
    exec 8>&-
fi
rm -rf -- "$newcomer"
trap 'rm -rf -- "$newcomer"' EXIT
mkdir -- "$newcomer"
tar -C "$newcomer" -x <"$state/base.tar"
[ -z "${APT_CONF-}" ] || echo "$APT_CONF" >"$newcomer/etc/apt/apt.conf.d/here"
[ ! -e /etc/resolv.conf ] || cp --dereference -- /etc/resolv.conf "$newcomer/etc/"
rm -f -- "$newcomer/etc/hosts"
git clone --quiet --no-local -- "$root" "$newcomer/root/actorq"
say "without /etc/hosts: $*"
enter "$@"
echo '127.0.0.1 localhost' >"$newcomer/etc/hosts"
say "with /etc/hosts: $*"
enter "$@"
