# shellcheck shell=bash
# What the checks of deployments share, for those that source this after tools/prepare.sh.

# wait_for SECONDS WHAT COMMAND...: until COMMAND succeeds, or CHECK_PATIENCE (1) times so many
# seconds are over. Before it fails it shows what the caller's show_state says.
wait_for() {
    local -r end=$((SECONDS + $1 * ${CHECK_PATIENCE:-1})) what=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        if [ "$SECONDS" -ge "$end" ]; then
            show_state >&2 || true
            fail "not in time: $what"
        fi
        sleep 1
    done
    say "[$SECONDS s] $what"
}

# make_base FOLDER: FOLDER/base.tar, the root of a Debian with nothing in it, as the image of that
# name on the hub: minbase, without documentation. The caller has the lock FOLDER/lock.
make_base() {
    local -r base=$1/base
    if [ -e "$base.tar" ]; then
        return
    fi
    say 'making the base image with debootstrap'
    rm -rf -- "$base"
    debootstrap --variant=minbase bookworm "$base" >"$1/debootstrap.log" 2>&1 8>&- ||
        { show_tail "$1/debootstrap.log"; fail 'debootstrap failed'; }
    cat >"$base/etc/dpkg/dpkg.cfg.d/docker" <<'END'
path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/info/*
path-exclude /usr/share/lintian/*
path-exclude /usr/share/locale/*
path-exclude /usr/share/man/*
END
    cat >"$base/etc/apt/sources.list" <<'END'
deb http://deb.debian.org/debian bookworm main
deb http://deb.debian.org/debian bookworm-updates main
deb http://deb.debian.org/debian-security bookworm-security main
END
    find "$base/usr/share/doc" -type f ! -name copyright -delete
    rm -rf -- "$base"/usr/share/{info,lintian,locale,man}/* "$base"/var/cache/apt/* \
        "$base"/var/lib/apt/lists/* "$base"/var/log/*
    tar -C "$base" -c . >"$base.tar.new"
    mv -- "$base.tar.new" "$base.tar"
    rm -rf -- "$base"
}
