#!/usr/bin/env bash
# --watch: the page beside a run is started, and holds none of the run's descriptors. It ends with the run in every
# case. A page that fails, or that does not end, changes nothing. A script that records what it sees stands in for
# simview.
. "${BASH_SOURCE[0]%/*}/lib.sh"
scenario s.lua
mkdir bin
seen=$scratch/seen
cat >bin/simview <<SH
#!/bin/sh
{ echo "arguments \$*"; echo "process \$\$"; ls -l /proc/self/fd; } >$seen
echo "the link"
case \${FAKE:-} in
  fails) exit 70 ;;
  stays) exec sleep 600 ;;
esac
cat >/dev/null # until its standard input ends
echo "ended" >>$seen
SH
chmod +x bin/simview
with=(env PATH="$PWD/bin:$PATH")
ended() { grep -q '^ended' "$seen" 2>/dev/null; }
begun() { grep -q '^arguments' "$seen" 2>/dev/null; }

expect 0 "" "$SIM" run s.lua -o plain.out
[ ! -e "$seen" ] || fail "a page that nobody asked for"

expect 0 "" "${with[@]}" "$SIM" run s.lua -o page.out --watch
until_true 120 ended
grep -qx "the link" output || fail "the page's link is not shown"
grep -qx "arguments watch --until-eof -- page.out" "$seen" || fail "begun as: $(cat "$seen")"
! grep -q "page.out/" "$seen" || fail "the page holds a file of the run: $(cat "$seen")"
same plain.out page.out "with and without a page"

# A page that fails at once, and a page that ignores its input; a later run finds the folder free.
rm -f "$seen"
expect 0 "" "${with[@]}" FAKE=fails "$SIM" run s.lua -o fails.out --watch
until_true 120 begun
rm -f "$seen"
same plain.out fails.out "with a page that fails"
expect 0 "" "${with[@]}" FAKE=stays "$SIM" run s.lua -o stays.out --watch -q
same plain.out stays.out "with a page that stays"
expect 0 "" "$SIM" run s.lua -o stays.out --force
until_true 120 grep -q '^process' "$seen"
kill "$(sed -n 's/^process //p' "$seen")"

# A run that is killed ends its page; a run that is resumed has a page again.
rm -f "$seen"
"${with[@]}" "$SIM" run s.lua --set steps=100000000 -o long.out --watch >/dev/null 2>&1 &
run=$!
until_true 120 begun
kill -KILL "$run"
until_true 120 ended
rm -f "$seen"
expect 75 "" "$SIM" run s.lua -o cut.out --wall 1 --set steps=100000000
expect 75 "" "${with[@]}" "$SIM" resume cut.out --wall 1 --watch
until_true 120 ended

# Without simview the run continues and says so.
mkdir empty
expect 0 "no program simview in PATH" env PATH="$PWD/empty" "$SIM" run s.lua -o none.out --watch
same plain.out none.out "without simview"
expect 64 "does not take --watch" "$SIM" check s.lua --watch
