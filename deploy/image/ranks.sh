#!/bin/sh
# actorq-ranks HOST,... COMMAND...: COMMAND, an actorq-learner, as the ranks of one learner: the
# first here, and one on each host, where actorq-rank-host waits. SIGTERM ends them in order.
#
# $ACTORQ_MPI is more for mpirun, such as --mca btl_tcp_if_include 10.0.0.0/24.
set -eu
hosts=$1
shift
own=${TMPDIR:-/tmp}/actorq-ranks-$$
key=${ACTORQ_CERTS:?the folder with key.pem}/key.pem
umask 077
# A container has the same process id in each life, and may keep its folder. A stranger's stays, and
# is not taken.
rm -rf "$own"
mkdir "$own"
echo "actorq $(ssh-keygen -y -f "$key")" >"$own/known"
ssh="-F none -p ${ACTORQ_RANK_PORT:-2222} -i $key -o IdentitiesOnly=yes -o BatchMode=yes
    -o UserKnownHostsFile=$own/known -o GlobalKnownHostsFile=none -o HostKeyAlias=actorq
    -o ConnectTimeout=10 -o ServerAliveInterval=5 -o ServerAliveCountMax=2 -o LogLevel=ERROR"

list=$(cat /proc/sys/kernel/hostname):1
count=1
# shellcheck disable=SC2086 # which cuts it
for host in $(IFS=,; echo $hosts); do
    list=$list,$host:1
    count=$((count + 1))
done
given=
for name in ACTORQ_CERTS ACTORQ_TOKEN_FILE ACTORQ_LOG ACTORQ_LOG_FORMAT ACTORQ_CPU \
    ACTORQ_BLAS_CORETYPE OPENBLAS_CORETYPE OPENBLAS_L2_SIZE OPENBLAS_NUM_THREADS \
    PYTHONPATH ACTORQ_PYTHON ACTORQ_PYTHONPATH; do
    eval "[ -z \"\${$name:-}\" ]" || given="$given -x $name"
done

mpirun=
told=no
# shellcheck disable=SC2317 # by the trap
end() {
    told=yes
    first=$(cat "$own/first" 2>/dev/null) || true
    kill -TERM "${first:-$mpirun}" 2>/dev/null || true
}
trap end TERM INT
# The first rank has 2 s for its checkpoint when another has died; a file has its process id.
# shellcheck disable=SC2016,SC2086,SC2116 # expanded by the inner shell; meant to be words
mpirun -n "$count" --host "$list" --bind-to none \
    --mca plm_rsh_agent ssh --mca plm_rsh_args "$(echo $ssh)" \
    --mca odls_base_sigkill_timeout 2 $given ${ACTORQ_MPI:-} \
    sh -c '[ "$OMPI_COMM_WORLD_RANK" != 0 ] || echo $$ >"$0/first"; exec "$@"' "$own" "$@" &
mpirun=$!
[ "$told" = no ] || end
# When the first has ended, so have all, or will: mpirun would wait for a host that is cut off.
left_s=5
while [ "$left_s" -gt 0 ] && kill -0 "$mpirun" 2>/dev/null; do
    sleep 1 &
    wait $! || true
    if [ -e "$own/first" ] && ! kill -0 "$(cat "$own/first")" 2>/dev/null; then
        left_s=$((left_s - 1))
    fi
done
[ "$left_s" -gt 0 ] || kill -KILL "$mpirun" 2>/dev/null || true
wait "$mpirun" && status=0 || status=$?
rm -rf "$own"
# Killed is worth another start, as a rank that is lost.
[ "$status" -ne 137 ] || status=75
exit "$status"
