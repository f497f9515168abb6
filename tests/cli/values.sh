#!/usr/bin/env bash
# Last values of a run as JSON, without a folder: sim run --json, and sim serve for many.
. "${BASH_SOURCE[0]%/*}/lib.sh"
cat >call.lua <<'LUA'
local K = sim.param("strike", 100)
return sim.option { assets = { { spot = 100, vol = 0.2 } }, rate = 0.05, maturity = 1, steps = 1,
  payoffs = { sim.european { strike = K } }, sampling = { paths = 2^12 } }
LUA

# The values of the run itself, without files.
expect 0 "" "$SIM" run call.lua --threads 1
expect 0 '"tables": {"price": {"step": 1, "time": 4096, "paths": 4096, "price": ' "$SIM" run call.lua --threads 1 --json
[ "$(wc -l <output)" = 1 ] || fail "more than a line"
grep -q "\"digest\": \"$(digest call.out)\"" output || fail "another digest than the run's"
rm -r call.out
expect 0 "" "$SIM" run call.lua --json --set strike=110 --seed 3 --precision mixed
[ ! -e call.out ] || fail "--json left a folder"
expect 65 "call.lua:3: payoffs[1].strike: expected a number" "$SIM" run call.lua --json --set strike=-1
for other in --output=x --force --resume --wall=10 --profile --watch --gpus=1 --ranks=2; do
  expect 64 "--json and ${other%%=*}: a run with --json has no folder" "$SIM" run call.lua --json "$other"
done
expect 64 "does not take --json" "$SIM" check call.lua --json
if "$SIM" run call.lua --json >/dev/full 2>output; then fail "a full disk"; fi
grep -q "cannot write to standard output" output || fail "no word of the full disk"

# A table of 798 columns: the spectra of three fields.
cat >wide.lua <<'LUA'
local function wave(axis) return function(x, y, z) return math.cos(6*({ x, y, z })[axis]) end end
return sim.diffusion { grid = { n = {16, 16, 16}, size = {2*math.pi, 2*math.pi, 2*math.pi} }, spectrum = 266,
  fields = { { name = "u", initial = wave(1) }, { name = "v", initial = wave(2) }, { name = "w", initial = wave(3) } },
  integrate = { t_end = 1 } }
LUA
expect 0 "" "$SIM" run wide.lua --json
for field in u v w; do
  grep -Eq "\"${field}_6\": (0.5|0.4999999999999|0.50000000000000)[0-9]*, \"${field}_7\": .*\"${field}_265\": " output ||
    fail "no half in bin 6 of $field"
done

# One response for each request, in order, also after faults. The last line may lack a newline.
printf 'call.lua\tstrike=110\ncall.lua\tstrke=1\nnone.lua\n\ncall.lua\tx\ncall.lua\tstrike=-1\ncall.lua' |
  "$SIM" serve --threads 1 >answers || fail "serve"
[ "$(wc -l <answers)" = 7 ] || fail "not seven answers"
line() { sed -n "$1p" answers; }
[[ $(line 1) == '{"model": "option"'*'"price": 6.'* ]] || fail "first answer"
[[ $(line 2) == '{"exit_code": 64, "error": "--set strke: '*nearest*'"}' ]] || fail "second answer"
[[ $(line 3) == '{"exit_code": 66, "error": "none.lua: '* ]] || fail "third answer"
[[ $(line 4) == '{"exit_code": 64, "error": "expected a scenario file"}' ]] || fail "fourth answer"
[[ $(line 5) == '{"exit_code": 64, "error": '*'expected NAME=VALUE'* ]] || fail "fifth answer"
[[ $(line 6) == '{"exit_code": 65, "error": "call.lua:3: payoffs'* ]] || fail "sixth answer"
"$SIM" run call.lua --json --threads 1 >alone
[ "$(line 7)" = "$(cat alone)" ] || fail "the seventh answer is not that of a run alone"
expect 64 "does not take --output" "$SIM" serve -o x
expect 64 "takes no argument" "$SIM" serve call.lua
"$SIM" serve </dev/null >output || fail "serve without requests"
printf 'call.lua\0x\n' | "$SIM" serve >answers || fail "serve with a zero byte"
grep -q '"exit_code": 64, "error": "expected a line of text, got a zero byte in it"' answers || fail "a zero byte"

# The server ends by a signal while it waits.
mkfifo requests
"$SIM" serve --threads 1 <requests >waiting &
server=$!
exec 3>requests
printf 'call.lua\n' >&3
until_true 120 test -s waiting
kill -TERM $server
wait $server || fail "serve after SIGTERM: $?"
# Also by a signal that comes when it begins to wait: it has ended, or never began.
for ((i = 0; i < 40; i++)); do
  signal=$([ $((i % 2)) = 0 ] && echo TERM || echo USR1) code=0
  "$SIM" serve --threads 1 <requests >waiting &
  server=$!
  exec 3>requests # the server is there
  sleep "0.0$((i % 3))$((i % 7))"
  kill -s "$signal" $server
  wait $server || code=$?
  exec 3>&-
  [ "$code" = 0 ] || [ "$code" = 143 ] || [ "$code" = 138 ] || fail "serve after SIG$signal: $code"
done

# A script that does not end, one that takes too much memory, and one that fails leave later requests as they are.
printf 'while true do end\n' >endless.lua
printf 'local t = {} for i = 1, 1e9 do t[i] = { i } end\n' >greedy.lua
printf 'error("no")\n' >failing.lua
printf '%s\n' endless.lua call.lua greedy.lua call.lua failing.lua call.lua | "$SIM" serve --threads 1 >answers ||
  fail "serve with scripts that fail"
[[ $(line 1) == '{"exit_code": 65, "error": "endless.lua:1: the script '*' more than '*'"}' ]] || fail "a script without an end"
[[ $(line 3) == '{"exit_code": 65, "error": "greedy.lua'*'memory'* ]] || fail "a script that takes much memory"
[[ $(line 5) == '{"exit_code": 65, "error": "failing.lua:1: no"}' ]] || fail "a script that fails"
for k in 2 4 6; do [ "$(line $k)" = "$(cat alone)" ] || fail "answer $k is not that of a run alone"; done

# Different books in turn, between scripts with faults: each answer is that of a run alone.
cat >books.lua <<'LUA'
local kind, v = sim.param("kind", 0), sim.param("v", 0.2)
local asset, steps, payoffs, greeks = { spot = 100, vol = v }, 1, { sim.european { strike = 100 } }, {}
if kind == 1 then payoffs, steps = { sim.asian { strike = 95 }, sim.european { strike = 110, type = "put" } }, 12 end
if kind == 2 then asset, steps = { spot = 100, heston = { v = v^2, kappa = 2, theta = 0.04, sigma = 0.3, rho = -0.7 } }, 8 end
if kind == 3 then payoffs, greeks = { sim.digital { strike = 90 }, sim.european { strike = 90 } }, { delta = true } end
if kind == 4 then payoffs = { sim.european { strike = -1 } } end
if kind == 5 then error("no") end
return sim.option { assets = { asset }, rate = 0.05, maturity = 1, steps = steps, payoffs = payoffs, greeks = greeks,
  sampling = { paths = 2^12 } }
LUA
for k in 0 1 2 3; do
  "$SIM" run books.lua --json --threads 1 --set kind=$k >"alone_$k" || fail "books.lua, $k"
done
for ((i = 0; i < 60; i++)); do printf 'books.lua\tkind=%d\n' $(((5 * i + i / 7) % 6)); done >orders
"$SIM" serve --threads 1 <orders >answers || fail "serve with books"
for ((i = 0; i < 60; i++)); do
  k=$(((5 * i + i / 7) % 6))
  answer=$(line $((i + 1)))
  if [ $k -lt 4 ]; then
    [ "$answer" = "$(cat alone_$k)" ] || fail "answer $((i + 1)) is not that of a run of book $k alone"
  else
    [[ $answer == '{"exit_code": 65, "error": "books.lua:'* ]] || fail "answer $((i + 1)): $answer"
  fi
done

# 10^4 calls, for which the processes for scripts change: equal answers, and no more memory than after 10^3.
sed 's/2^12/64/' call.lua >small.lua
"$SIM" serve --threads 1 <requests >waiting 2>/dev/null &
server=$!
exec 3>requests
for ((i = 0; i < 1000; i++)); do echo small.lua; done >&3
asked=1000
answered() { [ "$(wc -l <waiting)" = "$asked" ]; }
until_true 120 answered
pages() { cut -d ' ' -f 2 /proc/$server/statm; }
before=$(pages)
for ((i = 0; i < 9000; i++)); do echo small.lua; done >&3
asked=10000
until_true 300 answered
after=$(pages)
[ $((after - before)) -lt 128 ] || fail "9000 calls have taken $((after - before)) pages of memory"
[ "$(sort -u waiting | wc -l)" = 1 ] || fail "10000 equal calls have several answers"
exec 3>&-
wait $server || fail "serve after 10000 calls"

# The limit of a script's time is its own, also in a process that has run others: four scripts of half the limit.
printf 'local n, s = sim.param("n", 1e6), 0 for i = 1, n do s = s + i %% 7 end\n' | cat - call.lua >slow.lua
TIMEFORMAT=%U
used=$({ time "$SIM" run slow.lua --json --threads 1 --set n=2e7 >/dev/null 2>&1; } 2>&1)
ms=$((10#${used/./}))
n=$((ms > 20 ? 20000000 / ms * 800 : 40000000)) # about 0.8 s, of 1.5
for ((i = 0; i < 4; i++)); do printf 'slow.lua\tn=%d\n' "$n"; done | "$SIM" serve --threads 1 >answers
[ "$(grep -c '"price": ' answers)" = 4 ] || fail "scripts within their limit: $(cat answers)"

# Processes for scripts are ready before they are asked for: without them, too, each request is answered, and they end
# with the server.
"$SIM" serve --threads 1 <requests >waiting &
server=$!
exec 3>requests
asked=0
answered() { [ "$(wc -l <waiting)" = "$asked" ]; }
ask() {
  printf 'call.lua\n' >&3
  asked=$((asked + 1))
  until_true 120 answered
  [ "$(tail -n 1 waiting)" = "$(cat alone)" ] || fail "answer $asked of the server: $(tail -n 1 waiting)"
}
ask
small=$(pgrep -P $server)
ready() { spares=$(pgrep -P "$small") && [ "$(wc -w <<<"$spares")" -ge 1 ]; }
until_true 120 ready
kill -KILL $spares
ask && ask && ask
kill -KILL "$small"
ask && ask
exec 3>&-
wait $server || fail "serve without its processes: $?"
gone() { ! kill -0 $spares 2>/dev/null; }
"$SIM" serve --threads 1 <requests >waiting &
server=$!
exec 3>requests
asked=0
ask
small=$(pgrep -P $server)
until_true 120 ready
kill -KILL $server
wait $server || true
until_true 120 gone
exec 3>&-
