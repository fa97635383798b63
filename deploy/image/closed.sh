#!/bin/sh
# closed.sh IMAGE PROGRAM...: fills the folder IMAGE with programs, the libraries that they load,
# and of each of Debian's packages among them its licence and its entry in the package database,
# where scanners look. That is all that an image from nothing needs to run them.
set -eu
image=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The folders as Debian links them, so that the image can also be laid over one of Debian's.
for folder in bin lib lib64 sbin; do
    mkdir -p "$image/usr/$folder"
    ln -sfn "usr/$folder" "$image/$folder"
done
mkdir -p "$image/etc" "$image/var/lib/dpkg/status.d"
mkdir -p -m 1777 "$image/tmp"

# Not one pipeline: of that only the last command can fail.
for program; do
    ldd "$program" >"$work/loaded"
    if grep 'not found' "$work/loaded" >&2; then
        echo "closed.sh: $program loads what is not there" >&2
        exit 1
    fi
    echo "$program" >>"$work/files"
    grep -o '/[^ ]*' "$work/loaded" >>"$work/files"
done
sort -u -o "$work/files" "$work/files"

while read -r file; do
    mkdir -p "$image$(dirname "$file")"
    cp -L "$file" "$image$file"
    # dpkg may know the path with or without the /usr before it.
    path=$(realpath "$file")
    dpkg-query --search "$path" 2>/dev/null || dpkg-query --search "${path#/usr}" 2>/dev/null ||
        true
done <"$work/files" >"$work/owners"
sed 's/: .*//' "$work/owners" | sort -u >"$work/packages"

while read -r package; do
    name=${package%%:*}
    dpkg-query --status "$package" >"$image/var/lib/dpkg/status.d/$name"
    mkdir -p "$image/usr/share/doc/$name"
    cp -L "/usr/share/doc/$name/copyright" "$image/usr/share/doc/$name/"
done <"$work/packages"
