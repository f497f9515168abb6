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
