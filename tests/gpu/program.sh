#!/usr/bin/env bash
# The whole program on a GPU: what it says of it, which one it takes, its memory, its profile, and restarts across
# devices.
. "${BASH_SOURCE[0]%/*}/lib.sh"
need_gpu
scenario s.lua

expect 0 "compute capability" "$SIM" info
grep -E '^cuda +.+ \(GPU 0\), compute capability [0-9]+\.[0-9]+, driver .*CUDA [0-9.]+\), GPU-[0-9a-f-]{36}, [0-9.]+ of [0-9.]+ GiB free(, (no )?peers.*)?$' output ||
  fail "the line about GPU 0"
uuid=$(grep -oE 'GPU-[0-9a-f-]{36}' output | head -n 1)

# It is picked by itself, by number and by UUID; the CPU only when asked for.
expect 0 "(GPU 0), compute capability" "$SIM" run s.lua -o auto.out
if grep -q '(GPU 0).* threads\?, ' output; then fail "threads in the line about a GPU"; fi
expect 0 "(GPU 0)" "$SIM" run s.lua -o number.out --device cuda:0
expect 0 "(GPU 0)" "$SIM" run s.lua -o uuid.out --device "cuda:$uuid"
expect 0 "(GPU 0)" "$SIM" run s.lua -o begin.out --device "cuda:${uuid:0:16}"
same auto.out number.out "auto and cuda:0"
same auto.out uuid.out "auto and the UUID"
expect 0 "thread" "$SIM" run s.lua -o cpu.out --device cpu
expect 69 "no GPU 63" "$SIM" run s.lua -o none.out --device cuda:63
expect 69 "no GPU with UUID" "$SIM" run s.lua -o none.out --device cuda:GPU-00000000-0000
[ ! -e none.out ] || fail "a refused device leaves a folder"

# Hidden, there is none: said, and only "auto" goes on without.
CUDA_VISIBLE_DEVICES='' expect 69 "CUDA_VISIBLE_DEVICES is empty" "$SIM" run s.lua -o none.out --device cuda
CUDA_VISIBLE_DEVICES='' expect 0 "thread" "$SIM" run s.lua -o hidden.out
CUDA_VISIBLE_DEVICES=99 expect 69 "CUDA_VISIBLE_DEVICES=99" "$SIM" run s.lua -o none.out --device cuda

# 1e9 bodies in double with hermite4 are 250 B each and more, which take minutes to make: refused before, with the list.
SECONDS=0
expect 71 "more memory on the GPU" "$SIM" run s.lua -o none.out --device cuda --set n=1e9 --set scheme=hermite4
((SECONDS <= 20)) || fail "out of memory took $SECONDS s" # a busy host starts a program on a GPU in up to 5
grep -q 'are free: ' output || fail "no list"
[ ! -e none.out ] || fail "out of memory leaves a folder"

# A profile changes nothing, names kernels, and its trace is one that a program can read.
expect 0 "profile of the GPU" "$SIM" run s.lua -o profile.out --profile
grep -qE '^  nbody_[a-z0-9_]+ .* %' output || fail "no kernel in the table"
same auto.out profile.out "with and without a profile"
if command -v python3 >/dev/null; then
  python3 - profile.out/trace.json <<'PY' || fail "trace.json"
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
kernels = [e for e in events if e["ph"] == "X" and e["pid"] == 0 and e["tid"] == 0]
steps = [e for e in events if e["ph"] == "X" and e["name"] == "step"]
assert len(steps) == 40, len(steps)
assert len(kernels) >= 40 and all(e["dur"] >= 0 for e in kernels), len(kernels)
assert min(e["ts"] for e in kernels) > -1000 and all(a["ts"] <= b["ts"] for a, b in zip(kernels, kernels[1:]))
PY
fi

# A run goes on where it began; elsewhere only when told to, and it says so.
expect 75 "" "$SIM" run s.lua -o cut.out --device cuda --set steps=4000000 --wall 2
expect 0 "(GPU 0)" "$SIM" check s.lua --device cuda
CUDA_VISIBLE_DEVICES='' expect 78 "--device cpu continues it with other last bits" "$SIM" resume cut.out
expect 75 "began on cuda and continues on cpu" "$SIM" resume cut.out --device cpu --wall 1

# Matched moments of many steps are on the CPU alone: said, and refused where a GPU is asked for.
cat >matched.lua <<'LUA'
return sim.option {
  assets = { { spot = 36, vol = 0.2 } }, rate = 0.06, maturity = 1, steps = 800,
  payoffs = { sim.european { strike = 40, type = "put" } }, sampling = { paths = 2^16, moment_matching = true },
}
LUA
expect 0 "on the CPU: matched moments of more than 768 steps times assets are not on a GPU" "$SIM" run matched.lua -o matched.out
expect 69 "matched moments of more than 768 steps times assets are not on cuda: use --device cpu" "$SIM" run matched.lua -o none.out --device cuda
[ ! -e none.out ] || fail "a refused device leaves a folder"

# Prices that were cut short go on to the same bits.
cat >call.lua <<'LUA'
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, rate = 0.05, maturity = 1, steps = 252,
  payoffs = { sim.asian { strike = 100 } }, sampling = { paths = 2^34 },
}
LUA
expect 0 "(GPU 0)" "$SIM" run call.lua -o whole.out --device cuda
expect 75 "" "$SIM" run call.lua -o part.out --device cuda --wall 1
expect 0 "(GPU 0)" "$SIM" resume part.out
same whole.out part.out "prices at one go and cut"
