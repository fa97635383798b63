#!/bin/sh
# image-apt: apt inside the build of an image. The mirror and the configuration that the build was
# given (APT_MIRROR, APT_SECURITY_MIRROR, APT_CONF) are in force while it runs; the image keeps
# neither them nor what apt downloaded.
#
#   image-apt install PACKAGE...    without what is only recommended, without documentation
#   image-apt run COMMAND...        a command that calls apt-get itself
set -eu

kept=$(mktemp -d)

restore() {
    rm -rf /etc/apt/sources.list /etc/apt/sources.list.d
    cp -a "$kept"/sources.list* /etc/apt/
    rm -rf "$kept" /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log
}

cp -a /etc/apt/sources.list* "$kept"/
mkdir -p /etc/apt/sources.list.d
trap restore EXIT

if [ -n "${APT_MIRROR-}" ]; then
    find /etc/apt/sources.list* -type f -exec sed -i \
        -e "s|http://deb.debian.org/debian-security|${APT_SECURITY_MIRROR:-$APT_MIRROR-security}|" \
        -e t -e "s|http://deb.debian.org/debian|$APT_MIRROR|" {} +
fi
printf '%s\n' "${APT_CONF-}" >"$kept/apt.conf"
export APT_CONFIG="$kept/apt.conf" DEBIAN_FRONTEND=noninteractive

case $1 in
install)
    shift
    cat >/etc/dpkg/dpkg.cfg.d/image <<'END'
path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/man/*
path-exclude /usr/share/locale/*
END
    apt-get -q -y update
    apt-get -q -y install --no-install-recommends "$@"
    rm /etc/dpkg/dpkg.cfg.d/image
    # Copies of BLAS and LAPACK that come with OpenBLAS, and that nothing here loads.
    rm -f /usr/lib/*/openblas-pthread/liblapack.so* /usr/lib/*/openblas-pthread/libblas.so*
    ;;
run)
    shift
    "$@"
    ;;
*)
    echo "image-apt: install PACKAGE... or run COMMAND..." >&2
    exit 2
    ;;
esac
