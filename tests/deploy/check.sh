#!/usr/bin/env bash
# check.sh [1|2]: the deployment under Compose for real, with docker-compose 1.29 (1, the default)
# or Compose v2 (2, Debian 13's package, unpacked beside the engine). See check_compose.py for what
# is done, and engine.sh for the engine. As root; twenty minutes, most of them the first build.
#
#   APT_CONF, APT_MIRROR, http_proxy     as for the build of the image, where this host needs them
#   CHECK_FIRST_STEP_S                   the time that the first learner step may take (180)
#   CHECK_PATIENCE                       waits that many times as long, a whole number (1)
#   CHECK_NO_BUILD=1                     takes the images that the engine has
set -euo pipefail
here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)
state=${ENGINE_DIR:-/var/tmp/actorq-engine}
limit_s=$((3600 * ${CHECK_PATIENCE:-1}))

# Debian 13's package needs nothing of Debian 13.
unpack_compose_v2() {
    local -r apt=$state/trixie
    mkdir -p "$apt"/{lists/partial,cache/archives/partial}
    echo 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]' \
        'http://deb.debian.org/debian trixie main' >"$apt/sources.list"
    local -ra options=(-o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=-
        -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache"
        -o APT::Sandbox::User=root)
    (cd "$apt" && apt-get -qq "${options[@]}" update &&
        apt-get -qq "${options[@]}" download docker-compose/trixie &&
        dpkg-deb --extract docker-compose_*.deb "$apt/root")
}

compose=/usr/bin/docker-compose
if [ "${1-1}" = 2 ]; then
    compose=$state/trixie/root/usr/libexec/docker/cli-plugins/docker-compose
    [ -x "$compose" ] || unpack_compose_v2
fi
exec "$here/engine.sh" timeout "$limit_s" python3 "$here/check_compose.py" "$compose"
