#!/usr/bin/env bash
# kubernetes_node.sh COMMAND...: runs COMMAND beside a cluster of one node, inside the engine that
# engine.sh starts.
#
# Debian 12 has Kubernetes as a source package (1.20, whose kubelet still drives Docker by itself).
# It is built here at the first time, in five minutes of two cores, and kept in $ENGINE_DIR. Three
# parts of a cluster have no package: names are served by dnsmasq, which a loop here tells who is
# there; volumes are folders; and network policies are taken and not enforced.
#
# COMMAND finds KUBECONFIG set and this cluster's kubectl first in PATH, and runs where the pods'
# addresses can be reached. Needs root, and 5 GB in $ENGINE_DIR. Where others use the machine, every
# wait is CHECK_PATIENCE times as long (1).
set -euo pipefail
here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)
root=$(cd -- "$here/../.." && pwd)

if [ -z "${ENGINE_PID-}" ]; then
    exec "$here/engine.sh" "$0" "$@"
fi
source "$root/tools/prepare.sh"
source "$root/tests/deploy/base.sh"

state=${ENGINE_DIR:-/var/tmp/actorq-engine}
built=$state/kubernetes
work=$(mktemp -d /tmp/actorq-kubernetes.XXXXXX)
bridge=172.17.0.1
api=https://127.0.0.1:6443
export KUBECONFIG=$work/config
cluster_packages=(
    golang-go            'compiles Kubernetes'
    dpkg-dev             'unpacks its source'
    rsync                'is used by its build'
    jq                   'is used by its build'
    etcd-server          'stores the state of the cluster'
    dnsmasq-base         'serves names'
    socat                'forwards ports'
    conntrack            'is asked for by the kubelet'
    openssl              'makes a key'
)
naming=
# Where the kubelet insists to be.
folders=(/var/lib/kubelet /var/lib/dockershim)
programs=(kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl)

# Where the containers' host is.
inside() {
    nsenter --target "$ENGINE_PID" --net --mount --pid "$@"
}

build_kubernetes() {
    local -r source=$state/kubernetes-source
    if [ -e "$built/done" ]; then
        return
    fi
    say 'building Kubernetes (five minutes or more)'
    rm -rf -- "$source"
    mkdir -p -- "$source"/{lists/partial,home,tree} "$built"
    echo 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]' \
        'http://deb.debian.org/debian bookworm main' >"$source/sources.list"
    local -ra options=(-o "Dir::Etc::sourcelist=$source/sources.list" -o Dir::Etc::sourceparts=-
        -o "Dir::State::lists=$source/lists" -o APT::Sandbox::User=root)
    (
        cd "$source/tree"
        apt-get -qq "${options[@]}" update
        apt-get -qq "${options[@]}" source kubernetes
        cd kubernetes-*/
        # Not everywhere may root ask that a process is the last to go when memory is out.
        sed -i 's/defaultSandboxOOMAdj int = -998/defaultSandboxOOMAdj int = 0/' \
            pkg/kubelet/dockershim/docker_sandbox.go
        grep -q 'defaultSandboxOOMAdj int = 0' pkg/kubelet/dockershim/docker_sandbox.go
        # As debian/rules does for kubectl.
        mkdir -p .go/src/k8s.io
        ln -s ../../.. .go/src/k8s.io/kubernetes
        env GOPATH="$PWD/.go" HOME="$source/home" CGO_ENABLED=0 PATH="/usr/lib/go/bin:$PATH" \
            make WHAT="${programs[*]/#/cmd/}"
        cp -L "${programs[@]/#/_output/bin/}" "$built/"
        # What holds a pod's network while its container is replaced.
        gcc -Os -static -DVERSION=local -o "$built/pause" build/pause/linux/pause.c
    ) >"$state/kubernetes.log" 2>&1 8>&- &
    # Waited for, since a command whose failure is looked at goes on after the first error in it.
    wait $! || { show_tail "$state/kubernetes.log"; fail 'no Kubernetes'; }
    chmod -R u+w -- "$source"
    rm -rf -- "$source"
    touch "$built/done"
}

# start NAME COMMAND...: a part of the cluster.
start() {
    # shellcheck disable=SC2016 # the inner shell expands it
    inside sh -c 'echo $$ >"$0" && exec "$@"' "$work/$1.pid" "${@:2}" \
        >"$work/$1.log" 2>&1 8>&- &
}

# Only then is nothing written any more.
stop_all() {
    [ -z "$naming" ] || kill "$naming" || true
    inside sh -c "kill -KILL \$(cat $work/*.pid)" || true
    wait
}

show_state() {
    local log
    for log in "$work"/*.log; do
        say "$log:"
        show_tail "$log"
    done
}

# The kubelet has folders that no option moves, and sets properties of the whole machine that it
# would leave so: it gets folders of its own, and finds those as it wants them.
prepare_host() {
    # shellcheck disable=SC2016 # the inner shell expands it
    inside sh -c '
        set -e
        work=$0
        for folder; do
            mkdir -p $folder
            mount -t tmpfs tmpfs $folder
        done
        mount --make-rshared /var/lib/kubelet
        pretend() {
            echo $2 >$work/$(basename $1)
            mount --bind $work/$(basename $1) /proc/sys/$1
        }
        pretend vm/overcommit_memory 1
        pretend vm/panic_on_oom 0
        pretend kernel/panic 10
        pretend kernel/panic_on_oops 1
        pretend kernel/keys/root_maxkeys 1000000
        pretend kernel/keys/root_maxbytes 25000000' "$work" "${folders[@]}" /var/log
}

# Whoever is in these namespaces may do everything: they are the test's own.
write_kubeconfig() {
    cat >"$KUBECONFIG" <<END
apiVersion: v1
kind: Config
clusters: [{name: check, cluster: {server: "$api", insecure-skip-tls-verify: true}}]
users: [{name: check, user: {token: check}}]
contexts: [{name: check, context: {cluster: check, user: check}}]
current-context: check
END
    echo check,check,check >"$work/tokens"
}

start_control_plane() {
    openssl genrsa -out "$work/key" 2048 2>/dev/null
    start etcd etcd --data-dir "$work/etcd"
    start apiserver "$built/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 \
        --bind-address=127.0.0.1 --advertise-address="$bridge" --cert-dir="$work/certs" \
        --service-cluster-ip-range=10.96.0.0/16 --kubelet-preferred-address-types=InternalIP \
        --authorization-mode=AlwaysAllow --token-auth-file="$work/tokens" \
        --disable-admission-plugins=ServiceAccount --service-account-issuer="$api" \
        --service-account-key-file="$work/key" --service-account-signing-key-file="$work/key"
    wait_for 120 'the API server' inside "$built/kubectl" get --raw /readyz
    start controllers "$built/kube-controller-manager" --kubeconfig="$KUBECONFIG" \
        --service-account-private-key-file="$work/key"
    start scheduler "$built/kube-scheduler" --kubeconfig="$KUBECONFIG"
}

start_node() {
    docker image inspect actorq-pause:local >/dev/null 2>&1 || tar -C "$built" -c pause |
        docker import --change 'ENTRYPOINT ["/pause"]' - actorq-pause:local >/dev/null
    start kubelet "$built/kubelet" --kubeconfig="$KUBECONFIG" \
        --docker-endpoint="$DOCKER_HOST" --container-runtime-endpoint="unix://$work/shim.sock" \
        --pod-infra-container-image=actorq-pause:local --hostname-override=node \
        --node-ip="$bridge" --anonymous-auth --authorization-mode=AlwaysAllow \
        --cgroup-driver=cgroupfs --cgroups-per-qos=false --enforce-node-allocatable= \
        --fail-swap-on=false --protect-kernel-defaults --eviction-hard= \
        --volume-plugin-dir="$work/plugins" --cert-dir="$work/kubelet" \
        --cluster-dns="$bridge" --cluster-domain=cluster.local
    wait_for 120 'the node' \
        inside "$built/kubectl" wait --for=condition=ready node/node --timeout=1s
}

# The name of a service whose pods have its address is theirs.
serve_names() {
    # shellcheck disable=SC2016 # it is a template
    local -r template='{{range .items}}{{$name := .metadata.name}}{{$space := .metadata.namespace}}
        {{- range .subsets}}{{range .addresses}}{{.ip}} {{$name}}.{{$space}}.svc.cluster.local
{{end}}{{range .notReadyAddresses}}{{.ip}} {{$name}}.{{$space}}.svc.cluster.local
{{end}}{{end}}{{end}}'
    while sleep 1; do
        inside "$built/kubectl" get endpoints --all-namespaces \
            --output="go-template=$template" >"$work/names.new" || continue
        if ! cmp -s "$work/names.new" "$work/names"; then
            cat "$work/names.new" >"$work/names"
            inside sh -c "kill -HUP \$(cat $work/dnsmasq.pid)"
        fi
    done 2>"$work/names.log"
}

start_name_server() {
    touch "$work/names"
    start dnsmasq dnsmasq --keep-in-foreground --no-resolv --no-hosts --addn-hosts="$work/names" \
        --listen-address="$bridge" --bind-interfaces --local=/cluster.local/ --user=root --pid-file=
    serve_names 8>&- &
    naming=$!
}

end() {
    stop_all 2>/dev/null
    rmdir "${folders[@]}" 2>/dev/null || true
    rm -rf -- "$work"
}

[ $# -gt 0 ] || fail 'kubernetes_node.sh COMMAND...'
ensure_packages "${cluster_packages[@]}"
trap end EXIT
build_kubernetes
prepare_host
write_kubeconfig
start_control_plane
start_node
start_name_server
say "[$SECONDS s] a cluster of one node"
PATH=$built:$PATH nsenter --target "$ENGINE_PID" --net "$@"
