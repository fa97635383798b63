#!/bin/sh
# actorq-rank-host: waits for ranks of a learner, which actorq-ranks starts here from another host.
#
# It is sshd at $ACTORQ_RANK_PORT (2222), which lets in nobody but who has the learner's key, that
# beside its certificate in $ACTORQ_CERTS; it shows the same one, so each side knows the other. It
# runs as any user, as which ranks run then.
set -eu
own=${TMPDIR:-/tmp}/actorq-rank-host-$$
key=${ACTORQ_CERTS:?the folder with key.pem}/key.pem
umask 077
# A container has the same process id in each life, and may keep its folder. A stranger's stays, and
# is not taken.
rm -rf "$own"
mkdir "$own"
ssh-keygen -y -f "$key" >"$own/learner"
exec /usr/sbin/sshd -D -e -f /dev/null -p "${ACTORQ_RANK_PORT:-2222}" -o "HostKey=$key" \
    -o "AuthorizedKeysFile=$own/learner" -o StrictModes=no -o PidFile=none -o UsePAM=no \
    -o PasswordAuthentication=no -o KbdInteractiveAuthentication=no -o PermitTTY=no \
    -o DisableForwarding=yes -o ClientAliveInterval=5 -o ClientAliveCountMax=2
