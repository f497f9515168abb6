#!/usr/bin/env bash
# Ranks that are not alike: settings that cannot be used, ranks that end with different states, and processes of a
# launcher of other builds, commands, instruction sets or C libraries. Nothing of it ends with 0 and other bits.
. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/mpi_lib.sh"
: "${FAULTS:?the library rank_faults}"
unset SIM_MPI
export CUDA_VISIBLE_DEVICES= OMP_WAIT_POLICY=passive
bodies_scenario "every 2 steps"
run=("$SIM" run bodies.lua --set steps=6 --threads 1)
started() { [ -n "$(ranks_of "$1")" ]; }
one_line() { [ "$(grep -c '^sim: ' output)" = 1 ] || fail "$1: not one line"; }

# ---- settings ----
for setting in SIM_COMM_PATIENCE=abc SIM_COMM_PATIENCE=0 SIM_COMM_HOSTS=0 SIM_COMM_HOSTS=3 SIM_COMM_PATH=foo \
  SIM_COMM_DELAY=1s SIM_COMM_CHUNK=-1 SIM_IO_SHARED_FROM=x SIM_ISA=sse; do
  expect 64 "${setting%=*}" env "$setting" "${run[@]}" -o refused --ranks 2
  one_line "$setting"
done
expect 64 "--oversubscribe is for ranks that share GPUs" "${run[@]}" -o refused --ranks 2 --oversubscribe
expect 64 "--oversubscribe is for ranks that share GPUs" "${run[@]}" -o refused --oversubscribe
# shellcheck disable=SC2016
expect 74 "open files (ulimit -n)" bash -c 'ulimit -n 12; exec "$0" run bodies.lua -o refused --ranks 9' "$SIM"
one_line "ulimit -n"
[ ! -e refused ] || fail "a refused run leaves a folder"

# ---- ranks that end with different states ----
differ=(env LD_PRELOAD="$FAULTS" FAULT=bits FAULT_RANK=1)
expect 70 "the ranks differ at step 0" "${differ[@]}" "${run[@]}" -o differ --ranks 2
one_line "ranks that differ"
[ -z "$(checkpoints differ)" ] || fail "checkpoints of ranks that differ are left"
[ "$(key exit_code differ)" = 70 ] || fail "ranks that differ: exit code $(key exit_code differ) in status.json"
expect 66 "holds no checkpoint" "$SIM" resume differ
expect 0 "" "${run[@]}" -o calm
expect 0 "" "${run[@]}" -o differ --resume=auto
same calm differ "after ranks that differed"

# ---- a rank without a thread: for its signs of life (the first), or for the watch of its run ----
for fault in 0:1 1:1 0:3 1:2; do # rank 0 begins its folder before rank 1 has its watch
  words="the thread of a rank's signs of life cannot start"
  [ ${fault#*:} = 1 ] || words="the thread that watches a run cannot start"
  [ $fault != 1:1 ] || words="rank 1 on $(uname -n): got no memory or no thread at its start"
  [ $fault != 1:2 ] || words="rank 1 on $(uname -n): $words"
  expect 71 "sim: $words" env LD_PRELOAD="$FAULTS" FAULT=thread${fault#*:} FAULT_RANK=${fault%:*} "${run[@]}" -o refused --ranks 2
  one_line "rank ${fault%:*} without its thread ${fault#*:}"
  [[ ! -e refused || $fault = 1:2 ]] || fail "a rank without a thread leaves a folder"
done
rm -rf refused

# ---- a limit of the address space is for each rank ----
cat >large.lua <<'LUA'
return sim.diffusion {
  grid      = { n = {128, 128, 128}, size = {1, 1, 1} }, precision = "double",
  fields    = { { name = "u", D = 1e-3, initial = function(x) return math.sin(2 * math.pi * x) end } },
  integrate = { dt = 1e-3, t_end = 1e-3 }, output = { snapshots = "never" },
}
LUA
"$SIM" check large.lua --ranks 3 >output
most=$(sed -n 's/^memory *\([0-9]*\).* MiB on the fullest rank.*/\1/p' output)
[ -n "$most" ] || fail "sim check: memory of the fullest rank"
# shellcheck disable=SC2016
expect 0 "" bash -c 'ulimit -v "$1"; exec "$0" run large.lua -o large --ranks 3 --threads 1' "$SIM" $((1024 * (2 * most + 400)))

# ---- a rank waits no longer than the run takes ----
expect 0 "profile of the ranks" "${run[@]}" -o profile --ranks 3 --profile
awk '/profile of the ranks/ { rows = 1 } rows && $5 == "%" && $4 > 100 { exit 1 }' output || fail "--profile: a share above 100 %"

# ---- files that hosts have twice: two folders with scenarios of one text ----
mkdir A B
for here in A B; do
  printf 'mass,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n1,%s,0,0,0,0,0\n' "$([ $here = A ] && echo 1 || echo 1.5)" >$here/cloud.csv
  cat >$here/start.lua <<LUA
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0, initial = function(x) return $([ $here = A ] && echo x || echo "1 - x") end } },
  integrate = { dt = 1, t_end = 1 }, output = { snapshots = "ends" },
}
LUA
  (cd $here && "$SIM" run start.lua -o start --threads 1 && cp start/snap/*1.h5 field.h5 && cp field.h5 rock.h5) >output 2>&1 ||
    fail "a field as a file"
  cat >$here/cloud.lua <<'LUA'
return sim.nbody {
  bodies    = { sim.from_file { path = "cloud.csv" } },
  gravity   = { G = 1, softening = 0.05, solver = "direct" },
  integrate = { dt = 1/1024, t_end = sim.param("end", 4)/1024 },
  output    = { checkpoint = "ends" },
}
LUA
  cat >$here/field.lua <<'LUA'
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 1e-3, file = { path = "field.h5", dataset = "u" }, initial = function(file) return file end } },
  integrate = { dt = 0.1, t_end = 0.2 },
}
LUA
  cat >$here/rock.lua <<'LUA'
return sim.fluid {
  grid      = { n = {16, 16}, size = {1, 1} }, viscosity = 1e-2, speed = 0.1,
  solid     = { path = "rock.h5", dataset = "u" }, integrate = { t_end = 1 },
}
LUA
  printf '0,%s\n1,0.2\n' "$([ $here = A ] && echo 0.2 || echo 0.3)" >$here/vol.csv
  cat >$here/curve.lua <<'LUA'
return sim.option {
  assets   = { { spot = 100, vol = "vol.csv" } }, rate = 0.05, maturity = 1,
  payoffs  = { sim.european { strike = 100 } }, sampling = { paths = 4096 },
}
LUA
  (cd $here && "$SIM" run cloud.lua -o cloud.out --threads 1) >output 2>&1 || fail "a run in each folder"
  { cat bodies.lua; echo "-- $here"; } >$here/bodies.lua
  [ $here = A ] || sed -i 's/600/601/' $here/bodies.lua
done

find_mpi
for mpi in "${mpis[@]}"; do
  use_mpi "$mpi"
  one=("${launch[@]}" -n 1)
  # shellcheck disable=SC2016 # for the ranks' shells
  apart=("${launch[@]}" -n 2 bash -c '[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}" = 1 ] && cd B || cd A; exec "$@"' - "$SIM")
  # ---- a run that ends in order leaves no requests: MPICH over UCX warns of them ----
  expect 0 "" "${launch[@]}" -n 3 "${run[@]}" -o set_calm
  ! grep -i "warn" output || fail "$mpi: a run that ends in order"
  # ---- instruction sets ----
  for set in plain avx2; do
    "${run[@]}" --isa $set -o set_$set --force >output 2>&1 || continue # not on this processor
    expect 0 "all ranks use $set: rank 1 on $(uname -n)" "${one[@]}" "${run[@]}" -o both --force : -n 1 env SIM_ISA=$set "${run[@]}" -o both --force
    same set_$set both "$mpi: rank 1 with $set"
    expect 0 "" "${one[@]}" env SIM_ISA=$set "${run[@]}" -o both --force : -n 1 "${run[@]}" -o both --force
    same set_$set both "$mpi: rank 0 with $set"
    # a restart uses the set of the first part
    rm both/ckpt/ck_000000000006.h5
    expect 0 "" "${launch[@]}" -n 2 "$SIM" resume both --threads 1
    same set_$set both "$mpi: a restart with $set"
  done
  rm -rf set_* both
  # ---- two machines of one name ----
  if unshare -m true 2>/dev/null; then
    echo other >boot
    # shellcheck disable=SC2016
    expect 0 "2 ranks on 2 hosts" "${one[@]}" "${run[@]}" -o both --force : -n 1 unshare -m sh -c \
      'mount --bind boot /proc/sys/kernel/random/boot_id && exec "$0" "$@"' "${run[@]}" -o both --force
    same calm both "$mpi: two machines of one name"
    rm -rf both
  fi
  expect 64 "rank 1 on $(uname -n) was started as sim run bodies.lua --set steps=6 --isa plain -o refused, and rank 0" \
    "${one[@]}" "${run[@]}" -o refused : -n 1 "${run[@]}" --isa plain -o refused
  one_line "$mpi: --isa of one rank"
  expect 69 "the processor of rank 1 on $(uname -n) does not have it" "${one[@]}" "${run[@]}" --isa avx2 -o refused : \
    -n 1 env SIM_ISA=plain "${run[@]}" --isa avx2 -o refused
  # ---- commands, scenarios ----
  for option in "--device cpu" "--wall 9" --force --resume=auto "--seed 7" "--set steps=7" --profile; do
    # shellcheck disable=SC2086 # words
    expect 64 " $option, and rank 0" "${one[@]}" "${run[@]}" -o refused : -n 1 "${run[@]}" -o refused $option
    one_line "$mpi: $option of one rank"
  done
  expect 0 "" "${one[@]}" "${run[@]}" -o calm --force : -n 1 "${run[@]:0:5}" --threads=2 -o calm --force
  expect 65 "the ranks have different scenarios" "${apart[@]}" run bodies.lua -o "$PWD/refused"
  [ "$(grep -c 'different scenarios' output)" = 1 ] || fail "$mpi: unlike scenarios are told more than once"
  # ---- files of scenarios, checkpoints ----
  for scenario in field rock cloud curve; do
    expect 65 "rank 1 on $(uname -n) reads other contents than rank 0" "${apart[@]}" run $scenario.lua -o "$PWD/refused"
    [ "$(grep -cE "^$scenario.lua: ($scenario|vol).(h5|csv): " output)" = 1 ] || fail "$mpi: $scenario.lua: what the line says"
  done
  expect 78 "is not the checkpoint that rank 0 has" "${apart[@]}" run cloud.lua -o cloud.out --resume
  one_line "$mpi: unlike checkpoints"
  for chunk in 100 1000; do # rank 0's is taken
    expect 0 "" "${one[@]}" env SIM_COMM_CHUNK=$chunk "${run[@]}" -o both --force : -n 1 "${run[@]}" -o both --force
    same calm both "$mpi: unlike SIM_COMM_CHUNK"
  done
  for setting in SIM_IO_SHARED_FROM=0 SIM_COMM_PATH=staged; do
    expect 64 "has ${setting%=*} = \"\", and rank 0 on $(uname -n) \"${setting#*=}\"" \
      "${one[@]}" env $setting "${run[@]}" -o refused : -n 1 "${run[@]}" -o refused
    one_line "$mpi: unlike ${setting%=*}"
  done
  code=0 # the launcher of MPICH ends with 1; a process that ended would be Open MPI's to tell
  SIM_COMM_PATIENCE=1 timeout 60 "${one[@]}" "${run[@]}" -o refused : -n 1 sleep 100 >output 2>&1 || code=$?
  [[ $code = 82 || $mpi:$code = mpich:1 ]] || fail "$mpi: a process that does not join: exit $code"
  grep -qF "sim: rank 0 on $(uname -n): has waited 4 s for the other processes" output || fail "$mpi: what the line says"
  one_line "$mpi: a process that does not join"
  # ---- a process that waits for the others can be stopped; one that fails alone says why ----
  for signal in TERM INT; do
    timeout 60 "${one[@]}" "${run[@]}" -o refused : -n 1 sleep 100 >output 2>&1 &
    launcher=$!
    until_true 60 started refused || fail "$mpi: no process"
    sleep 0.5 # it has handlers and waits in the MPI library
    kill -s $signal "$(ranks_of refused)"
    code=0
    wait $launcher || code=$?
    [[ $code != 0 && $code != 124 ]] || fail "$mpi: $signal to a process that waits: exit $code"
    # the launcher of MPICH at times ends with 1 here, too
    [[ $signal = INT || $code = 75 || $mpi:$code = mpich:1 ]] || fail "$mpi: $signal to a process that waits: exit $code"
    grep -qF "stopped before the first step, while waiting for the other processes" output || fail "$mpi: $signal: what the line says"
    one_line "$mpi: $signal to a process that waits"
  done
  code=0
  timeout 5 "${one[@]}" "${run[@]}" -o refused : -n 1 env SIM_MPI=nosuch "${run[@]}" -o refused >output 2>&1 || code=$?
  [ $code != 0 ] || fail "$mpi: a process that fails before it joins: exit $code"
  grep -qF "sim: rank 1 on $(uname -n): SIM_MPI = \"nosuch\": no MPI plugin" output || fail "$mpi: a process that fails before it joins"
  expect 64 "sim: SIM_MPI = \"nosuch\"" env SIM_MPI=nosuch "${launch[@]}" -n 3 "${run[@]}" -o refused
  one_line "$mpi: processes that fail alike"
  # ---- a rank that fails after it has joined and before the run: the others wait for it in an exchange ----
  SECONDS=0
  for rank in 0 1; do
    where=
    [ $rank = 0 ] || where="rank 1 on $(uname -n): "
    LD_PRELOAD=$FAULTS FAULT=thread2 FAULT_RANK=$rank expect 71 "sim: ${where}out of memory for the thread that watches the ranks" \
      "${launch[@]}" -n 3 "${run[@]}" -o refused
    one_line "$mpi: rank $rank without a watch of the others"
    [ -n "${MEMORY:-}" ] || continue # 128 bytes a rank for their cores
    LD_PRELOAD=$MEMORY FAULT_BYTES=$((3 * 128)) FAULT_RANK=$rank expect 71 "sim: ${where}out of memory for the ranks" \
      "${launch[@]}" -n 3 "${run[@]}" -o refused
    one_line "$mpi: rank $rank that fails between joining and the run"
  done
  ((SECONDS < 35)) || fail "$mpi: ranks that fail at the start took $SECONDS s"
  # ---- C libraries: without FMA the C library has other functions ----
  without=glibc.cpu.hwcaps=-AVX2_Usable,-FMA_Usable,-AVX2,-FMA,-FMA4
  if grep -qw fma /proc/cpuinfo; then
    expect 64 "rank 1 on $(uname -n) has functions of its C library" \
      "${one[@]}" "${run[@]}" -o refused : -n 1 env GLIBC_TUNABLES=$without "${run[@]}" -o refused
    one_line "$mpi: another C library"
  fi
  # ---- builds ----
  revision=$("$SIM" --version | sed 's/.*(\([0-9a-z]*\).*/\1/')
  mkdir -p other
  LC_ALL=C sed "s/$revision/$(printf '%s' "$revision" | tr '0-9a-z' z)/g" "$SIM" >other/sim
  chmod +x other/sim
  cp "$plugin" other/
  expect 64 "start one build on all hosts" "${one[@]}" "${run[@]}" -o refused : -n 1 other/sim "${run[@]:1}" -o refused
  one_line "$mpi: another build"
  grep -qF "$revision" output && grep -qF zzz output || fail "$mpi: the line does not name both revisions"
  rm -r other
  [ ! -e refused ] || fail "$mpi: a refused run leaves a folder"
done
