# Sourced: a Slurm of one node, or of several on this host, in the scratch folder; its daemons are ended by process id.
# shellcheck shell=bash disable=SC2154
daemons=()
stop_slurm() {
  local i
  for ((i = ${#daemons[@]} - 1; i >= 0; i--)); do kill -TERM "${daemons[i]}" 2>/dev/null || true; done
  for ((i = 0; i < 50; i++)); do
    kill -0 "${daemons[@]}" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL "${daemons[@]}" 2>/dev/null || true
}

# Runs a daemon in the foreground of a job of this shell.
daemon() {
  "$@" >>"$scratch/daemons.log" 2>&1 &
  daemons+=($!)
}

# start_slurm [NODES]: with a number, nodes n1, n2, ..., each a daemon of this host with as many cores as it has.
start_slurm() {
  local dir=$scratch/slurm name user node nodes=${1:-0}
  name=$(hostname) user=$(id -un)
  PATH=$PATH:/usr/sbin
  for tool in munged slurmctld slurmd sbatch scontrol squeue; do
    command -v "$tool" >/dev/null || skip "no $tool here (Debian: slurm-wlm, munge)"
  done
  mkdir -p "$dir/state" "$dir/spool" "$dir/munge"
  chmod 700 "$dir/munge"
  head -c 1024 /dev/urandom >"$dir/munge/key"
  chmod 600 "$dir/munge/key"
  cat >"$dir/slurm.conf" <<CONF
ClusterName=t
SlurmctldHost=$name
SlurmUser=$user
SlurmdUser=$user
AuthInfo=socket=$dir/munge/socket
SlurmctldPort=$((20000 + $$ % 20000))
SlurmdPort=$((20001 + $$ % 20000))
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
ReturnToService=2
KillWait=5
SchedulerParameters=sched_interval=2,bf_interval=2
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
  if ((nodes == 0)); then
    echo "NodeName=$name CPUs=$(nproc) RealMemory=1000 State=UNKNOWN" >>"$dir/slurm.conf"
  else
    sed -i "s|^SlurmdSpoolDir=.*|SlurmdSpoolDir=$dir/spool/%n|; s|^SlurmdLogFile=.*|SlurmdLogFile=$dir/slurmd.%n.log|
      s|^SlurmdPidFile=.*|SlurmdPidFile=$dir/slurmd.%n.pid|; /^SlurmdPort/d" "$dir/slurm.conf"
    echo SlurmdParameters=config_overrides >>"$dir/slurm.conf"
    for ((node = 1; node <= nodes; node++)); do
      echo "NodeName=n$node NodeHostname=$name NodeAddr=127.0.0.1 Port=$((20001 + $$ % 20000 + node)) CPUs=2" \
        "RealMemory=1000 State=UNKNOWN" >>"$dir/slurm.conf"
    done
  fi
  export SLURM_CONF=$dir/slurm.conf
  daemon munged -F --force --key-file="$dir/munge/key" --socket="$dir/munge/socket" --pid-file="$dir/munge/pid" \
    --log-file="$dir/munge/log" --seed-file="$dir/munge/seed"
  until_true 10 test -S "$dir/munge/socket"
  daemon slurmctld -D
  if ((nodes == 0)); then
    daemon slurmd -D
  else
    for ((node = 1; node <= nodes; node++)); do daemon slurmd -D -N "n$node"; done
  fi
  local tries=300
  until (($(sinfo -h -N -o %t 2>/dev/null | grep -c idle) >= (nodes > 0 ? nodes : 1))); do
    ((tries-- > 0)) || skip "Slurm does not come up here: $(tail -n 1 "$dir/slurmctld.log")"
    sleep 0.1
  done
}

# submit SCRIPT OPTIONS...: the job's number.
submit() { sbatch --parsable --mem=0 "${@:2}" "$1"; }
state_of() { scontrol show job "$1" 2>/dev/null | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p' | head -n 1; }
# Waits for the end of a job. A requeued job, which would wait two minutes, starts at once. requeues: how often.
requeues=0
finish_job() {
  local id=$1 seconds=$2 state restarts ended=0 # ended: looks in a row; a job on its way back into the queue may seem so
  requeues=0
  while :; do
    state=$(state_of "$id")
    restarts=$(scontrol show job "$id" | sed -n 's/.*Restarts=\([0-9]*\).*/\1/p' | head -n 1)
    requeues=${restarts:-$requeues}
    case $state in
      PENDING)
        if scontrol show job "$id" | grep -q Reason=BeginTime; then
          sleep 3 # until the node is done with it, or it is started too soon and fails
          scontrol update jobid="$id" StartTime=now
        fi
        ;;
      COMPLETED | FAILED | CANCELLED* | TIMEOUT | OUT_OF_MEMORY | NODE_FAIL | '')
        ((++ended < 4)) || return 0
        sleep 0.5
        continue
        ;;
    esac
    ended=0
    ((seconds-- > 0)) || fail "job $id is still $state after $requeues requeues: $(tail -n 20 "$scratch"/*.log)"
    sleep 1
  done
}
