#!/usr/bin/env bash
# One run on two hosts, for each MPI: two network namespaces with names of their own, joined by a pair of virtual
# interfaces, and a remote shell of a few lines. Digests, a rank that dies on the other host, and a network that fails.
. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/mpi_lib.sh"
export CUDA_VISIBLE_DEVICES= OMP_WAIT_POLICY=passive UCX_TLS=tcp,self UCX_NET_DEVICES=eth0 # or MPICH finds memory that both hosts share
unset SIM_MPI
find_mpi
if [ -z "${SIM_TEST_HOSTS:-}" ]; then
  for tool in unshare nsenter ip; do command -v $tool >/dev/null || skip "no $tool here (Debian: util-linux, iproute2)"; done
  unshare --mount --net --uts true 2>/dev/null || skip "no right to make network namespaces here (root has it)"
  SIM_TEST_HOSTS=1 unshare --mount --net --uts bash "$(readlink -f -- "${BASH_SOURCE[0]}")"
  exit
fi

# ---- the hosts alpha, where this script runs, and beta ----

printf '127.0.0.1 localhost\n10.77.0.1 alpha\n10.77.0.2 beta\n' >hosts
mount --make-rprivate / && mount --bind hosts /etc/hosts || skip "no right to mount here"
mount -t sysfs sysfs /sys || skip "no right to mount here" # the interfaces of these hosts, of equal names
hostname alpha
unshare --mount --net --uts sh -c 'hostname beta; exec sleep 3600' &
holder=$!
until [ "$(nsenter -t $holder -u uname -n)" = beta ]; do sleep 0.05; done
ip link add eth0 type veth peer name eth0 netns $holder || skip "no virtual network interfaces here"
ip link set lo up
ip addr add 10.77.0.1/24 dev eth0
ip link set eth0 up
nsenter -t $holder -n sh -c 'ip link set lo up; ip addr add 10.77.0.2/24 dev eth0; ip link set eth0 up'
connected() {
  [[ $(ip link show eth0) == *'state UP'* && $(nsenter -t $holder -n ip link show eth0) == *'state UP'* ]]
}
until_true 120 connected
cat >remote_shell <<SHELL
#!/bin/sh
[ "\$1" != -x ] || shift
shift # the only other host
exec nsenter -t $holder -n -u -m sh -c "cd '$PWD' && \$*"
SHELL
chmod +x remote_shell

option_scenario many.lua
run=("$SIM" run many.lua --threads 1)
long=("${run[@]}" --set "paths=$((20000 * 1048576))")
expect 0 "" "${run[@]}" -o one
has_checkpoint() { [ -n "$(checkpoints "$1")" ]; }
begin() {
  "${launch[@]}" "${long[@]}" -o "$1" >output 2>&1 &
  pid=$!
  until_true 120 has_checkpoint "$1"
  SECONDS=0
}
finish() {
  code=0
  wait "$pid" || code=$?
}

for name in "${mpis[@]}"; do
  use_mpi "$name"
  if [ "$mpi" = openmpi ]; then
    launch+=(-n 4 -H alpha:2,beta:2 --mca plm_rsh_agent "$PWD/remote_shell" --mca oob_tcp_if_include 10.77.0.0/24
      --mca btl_tcp_if_include 10.77.0.0/24)
  else
    launch+=(-n 4 -hosts alpha:2,beta:2 -launcher rsh -launcher-exec "$PWD/remote_shell")
  fi
  expect 0 "4 ranks on 2 hosts, by" "${launch[@]}" "${run[@]}" -o many --force
  same one many "$mpi: two hosts"
  SIM_COMM_DELAY=2000 expect 0 "4 ranks on 2 hosts, by" "${launch[@]}" "${run[@]}" -o many --force
  same one many "$mpi: two hosts, delayed ranks"

  begin "usr1_$mpi"
  kill -s USR1 "$pid"
  finish
  [ "$code" = 75 ] || fail "$mpi: SIGUSR1: exit $code, not 75"

  # A rank that dies on beta.
  begin "killed_$mpi"
  kill -s KILL "$(rank_of "killed_$mpi" 2)"
  finish
  ((code != 0 && code != 75 && SECONDS < 35)) || fail "$mpi: a killed rank: exit $code after $SECONDS s"
  echo "$mpi: a killed rank on the other host: exit $code after $SECONDS s: $(grep -m 1 '^sim: ' output || true)"
  until_true 40 none_of "killed_$mpi"
  expect 75 "continues from checkpoint" "$SIM" resume "killed_$mpi" --threads 1 --wall 1

  # The network fails: the two sides are cut off from each other.
  begin "cut_$mpi"
  ip link set eth0 down
  until_true 40 none_of "cut_$mpi"
  echo "$mpi: without a network all ranks have ended after $SECONDS s: $(grep -m 1 '^sim: ' output || true)"
  ((SECONDS < 40)) || fail "$mpi: without a network ranks end after $SECONDS s"
  ip link set eth0 up
  until_true 120 connected
  kill -s KILL "$pid" 2>/dev/null || true
  finish
  expect 75 "continues from checkpoint" "$SIM" resume "cut_$mpi" --threads 1 --wall 1
done
