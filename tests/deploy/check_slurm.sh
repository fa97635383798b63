#!/usr/bin/env bash
# check_slurm.sh BIN...: the jobs of deploy/slurm for real, on a cluster of this one host that is
# made for it: munged, slurmctld and slurmd with a configuration, ports and folders of their own,
# ended by their process ids. BIN are the folders with the programs. As root; a few minutes.
#
# The head and an array of three actors are submitted; the learner trains; an actor is cancelled and
# drains; the head gets SIGTERM, writes its checkpoint, is queued again and goes on where it was.
# With CHECK_RANKS=2 the learner is two ranks, of which one is killed in the end: the job is queued
# again, and goes on. In the end an array works at a sweep, without two of its jobs. Where others
# use the machine, every wait is CHECK_PATIENCE times as long (1).
set -euo pipefail
root=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.." && pwd)
source "$root/tools/prepare.sh"
source "$root/tests/deploy/base.sh"
slurm_packages=(
    slurmctld    'hands out jobs'
    slurmd       'runs them'
    slurm-client 'submits them'
    munge        'tells them who asks'
    openmpi-bin  'connects ranks'
)
ranks=${CHECK_RANKS:-1}
[ $# -gt 0 ] || fail 'check_slurm.sh BIN...'
[ "$(id -u)" -eq 0 ] || fail 'this needs root'
ensure_packages "${slurm_packages[@]}"

for folder; do
    PATH=$(readlink -f -- "$folder"):$PATH
done
export PATH
work=$(mktemp -d /tmp/actorq-slurm.XXXXXX)
run=$work/run
pids=()
host=$(hostname -s)
export SLURM_CONF=$work/slurm.conf ACTORQ_PORT=25550

# The controller is the last to go: a job tells it that it has ended until it has heard so, and the
# node waits for its jobs. One that had time to queue itself again is cancelled again.
end() {
    local i
    scancel --full --signal=KILL --user=root 2>/dev/null || true
    for ((i = 0; i < 60 * ${CHECK_PATIENCE:-1}; i++)); do
        [ -n "$(squeue --noheader 2>/dev/null)" ] || break
        scancel --user=root 2>/dev/null || true
        sleep 1
    done
    for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
        kill "${pids[i]}" 2>/dev/null || true
        wait "${pids[i]}" 2>/dev/null || true
    done
    if [ -z "${CHECK_KEEP-}" ]; then
        rm -rf -- "$work"
    fi
}
trap end EXIT
trap 'exit 130' INT TERM

show_state() {
    tail -n 20 "$work"/*.log "$work"/out.*
}

status() {
    actorq status "$(cat "$run/learner.url")" --certs "$run/certs/operator" --json
}

# steps_beyond COUNT: the learner has trained more than that.
steps_beyond() {
    status | python3 -c '
import json, sys
sys.exit(int(json.load(sys.stdin)["learner"].get("learner_steps", 0)) <= int(sys.argv[1]))' "$1"
}

members_are() {
    status | python3 -c '
import json, sys
found = [one for one in json.load(sys.stdin)["members"] if one["role"].endswith("ACTOR")]
sys.exit(len(found) != int(sys.argv[1]))' "$1"
}

start_cluster() {
    # Programs that guard secrets refuse folders that others may write to.
    chmod 755 "$work"
    mkdir -p "$work"/{munge,state,spool}
    chmod 755 "$work/munge"
    dd if=/dev/urandom of="$work/munge/key" bs=1024 count=1 status=none
    chmod 600 "$work/munge/key"
    munged --force --foreground --key-file="$work/munge/key" --socket="$work/munge/socket" \
        --pid-file="$work/munge/pid" --log-file="$work/munge/log" --seed-file="$work/munge/seed" \
        >"$work/munged.log" 2>&1 &
    pids+=($!)
    cat >"$SLURM_CONF" <<END
ClusterName=check
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
SlurmctldPort=26817
SlurmdPort=26818
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
KillWait=30
SlurmctldTimeout=60
SlurmdTimeout=60
NodeName=$host NodeAddr=127.0.0.1 CPUs=16 RealMemory=8192 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
    sed -i "s/CPUs=16/CPUs=16 CoresPerSocket=16 SocketsPerBoard=1 ThreadsPerCore=1/" "$SLURM_CONF"
    printf 'SlurmdParameters=config_overrides\n' >>"$SLURM_CONF"
    slurmctld -D -f "$SLURM_CONF" >"$work/slurmctld.log" 2>&1 &
    pids+=($!)
    slurmd -D -f "$SLURM_CONF" >"$work/slurmd.log" 2>&1 &
    pids+=($!)
    wait_for 60 'a cluster of one node' sh -c 'sinfo -h -o %t | grep -q -E "^(idle|mix)"'
}

submit() {
    sbatch --parsable --chdir="$work" --output="$work/out.%A.%a" --export=ALL "$@"
}

start_cluster
head=$(submit --cpus-per-task=2 --ntasks="$ranks" "$root/deploy/slurm/head.sbatch" "$run" \
    --set evaluator.threshold=1000000 --set limits.env_steps=1000000000 \
    --set replay.tolerance=2000)
actors=$(submit --array=0-2 "$root/deploy/slurm/actors.sbatch" "$run")
wait_for 120 'the learner trains' steps_beyond 0
wait_for 60 'three actors are in the run' members_are 3

scancel --signal=TERM --batch "${actors}_2"
wait_for 60 'an actor that is asked to end drains' \
    grep -q 'event=drained complete=true' "$work/out.$actors.2"
wait_for 60 'two actors go on' members_are 2

wait_for 60 'there is a checkpoint' sh -c "ls $run/run/checkpoints/*.aqc"
scancel --signal=TERM --batch "$head"
wait_for 60 'the head writes a checkpoint and ends' \
    grep -q 'role=learner event=exit' "$work/out.$head."*
before=$(ls "$run"/run/checkpoints/*.aqc | sed 's/.*step-0*//; s/.aqc//' | sort -n | tail -1)
say "the last checkpoint is of step $before"
# Slurm holds what was queued again back for up to two minutes.
wait_for 300 'queued again, it resumes' grep -q 'role=learner.* event=resumed' "$work/out.$head."*
wait_for 120 "it goes on beyond step $before" steps_beyond "$before"
wait_for 60 'the actors are back' members_are 2

# trained_by COUNT: the newest figures are of so many ranks.
trained_by() {
    grep -q -E "\"ranks\": *$1(\.0)?[,}]" <(tail -n 200 "$run/run/metrics.jsonl")
}

if [ "$ranks" -gt 1 ]; then
    wait_for 60 "$ranks ranks train" trained_by "$ranks"
    lives=$(grep -c 'event=resumed' "$work/out.$head."*)
    # Processes come and go while they are looked at.
    pid=$({ grep -z -l "^SLURM_PROCID=1\$" /proc/[0-9]*/environ 2>/dev/null || true; } |
        while IFS=/ read -r _ _ pid _; do
            ! grep -q -a "actorq-learner.*$run/run" "/proc/$pid/cmdline" || echo "$pid"
        done)
    kill -KILL "$pid"
    # shellcheck disable=SC2016 # the inner shell expands it
    wait_for 300 'a rank was killed; queued again, it resumes' \
        sh -c '[ "$(grep -c event=resumed "$0")" -gt "$1" ]' "$work/out.$head."* "$lives"
    wait_for 120 "it goes on beyond step $before" steps_beyond "$before"
fi

cat >"$work/spec.yaml" <<'END'
task: gym:CartPole-v1
trials: 8
rungs: [4000, 8000]
seeds: {tune: 1, report: 2}
space: {learner.learning_rate: {log: [1e-3, 4e-3]}}
settings: {evaluator.threshold: 1e9}
END
sweep=$(submit --cpus-per-task=1 --array=0-2 "$root/deploy/slurm/sweep.sbatch" "$work/sweep" \
    "$work/spec.yaml")
wait_for 120 'a sweep has begun' grep -q '"event": "report"' "$work/sweep/journal.jsonl"
scancel --signal=TERM --batch "${sweep}_0"
scancel --signal=KILL --full "${sweep}_1"
wait_for 300 'a worker was cancelled, one was killed; the sweep has ended' \
    grep -q '"event": "end"' "$work/sweep/journal.jsonl"
actorq sweep status "$work/sweep" --json | python3 -c '
import json, sys
status = json.load(sys.stdin)
assert status["done"] == 8 and all(one["score"] is not None for one in status["trials"]), status'
say PASSED
