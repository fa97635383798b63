#!/bin/sh
# Builds the example plug-in: ./build.sh [FOLDER]. INCLUDE says where actorq_env.h is.
set -eu
here=$(dirname -- "$0")
: "${CC:=cc}" "${INCLUDE:=$here/../../include}"
exec "$CC" -std=c99 -O2 -Wall -Wextra -pedantic -fPIC -shared -I "$INCLUDE" \
    "$here/point_robot.c" -lm -o "${1:-.}/point_robot.so"
