#!/usr/bin/env bash
# sanitize.sh TOOL: this tool of compute-sanitizer finds a planted fault, and no fault in small runs.
. "${BASH_SOURCE[0]%/*}/lib.sh"
tool=$1
need_gpu
PATH=$PATH:${CUDA_BIN:-/usr/local/cuda/bin}:${CUDA_BIN:-/usr/local/cuda/bin}/../compute-sanitizer:/usr/local/cuda/compute-sanitizer
command -v compute-sanitizer >/dev/null || skip "no compute-sanitizer"
export OMP_NUM_THREADS=2

checked() { # checked COMMAND...: exit 42 where the tool has found something
  timeout -k 5 300 compute-sanitizer --tool "$tool" --error-exitcode 42 "$@" >output 2>&1
}

code=0
checked "${PLANTED:?}" "$tool" || code=$?
if grep -qiE 'device not supported|unable to (find|load)|not supported on this' output; then
  skip "compute-sanitizer does not work here: $(grep -iE -m 1 'not supported|unable' output)"
fi
[ "$code" = 42 ] || fail "$tool does not see the planted fault (exit $code)"

options=()
if [ "$tool" = memcheck ]; then options=(--leak-check full); fi
scenario s.lua
diffusion_scenario d.lua
run() { # run NAME OPTION...
  local code=0
  checked "${options[@]}" "$SIM" run "${file:-s.lua}" -o "$1.out" --device cuda "${@:2}" || code=$?
  [ "$code" = 0 ] || fail "$tool: exit $code from the run $1"
  grep -q 'ERROR SUMMARY: 0 errors\|RACECHECK SUMMARY: 0 hazards' output || fail "$tool says no summary of 0"
}
grains grains.lua
run single --set 'every=every 2 steps' --set steps=3 --set n=700 --set kind=single
run mixed --set 'every=every 2 steps' --set steps=3 --set n=700 --set kind=mixed
run double --set 'every=every 2 steps' --set steps=3 --set n=333 --set scheme=hermite4
run symmetric --set 'every=every 2 steps' --set n=8200 --set kind=single --set steps=1
# 600 bodies: three levels of cells, with M2L, and long enough lists for several tiles; error 1e-2 is the cheapest order.
sed 's/softening = 0.05/&, solver = "fmm", error = 1e-2/' s.lua >multipoles.lua
file=multipoles.lua run multipoles_single --set steps=1 --set n=600 --set kind=single
file=multipoles.lua run multipoles_double --set steps=1 --set n=600 --set kind=double
# Individual steps of several levels, with trees that are kept.
for name in s multipoles; do
  sed 's/integrate = {/& steps = "individual", eta = 0.003,/' "$name.lua" >"individual_$name.lua"
  file=individual_$name.lua run "individual_$name" --set steps=1 --set n=600 --set kind=single
done
file=individual_multipoles.lua run individual_double --set steps=1 --set n=600 --set kind=double
file=d.lua run spectral --set steps=3 --set kind=single
file=d.lua run jump --set scheme=exact --set steps=3
fluid_scenario f.lua
for kind in single double; do
  file=f.lua run "march_$kind" --set steps=4 --set "kind=$kind"
  file=f.lua run "flat_$kind" --set steps=4 --set "kind=$kind" --set rank=2
done
file=f.lua run narrow --set steps=4 --set n=20
for with in heat sponge motion stl flux warm_sponge grains; do
  file=f.lua run "$with" --set steps=4 --set kind=single --set with=$with
done
for kind in single half; do
  file=f.lua run "trt_$kind" --set steps=4 --set "kind=$kind" --set with=trt
done
file=grains.lua run gas --set steps=12 --set n=700
file=grains.lua run hertz --set steps=3 --set n=300 --set law=hertz --set 'every=every 2 steps'
file=grains.lua run rain --set steps="$([ "$tool" = memcheck ] && echo 102 || echo 3)" --set n=200 --set law=rain
