#!/usr/bin/env bash
# An installed tree may be moved, and needs neither the sources nor the build folder.
root=$(cd -- "${BASH_SOURCE[0]%/*}/../.." && pwd)
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"

expect 0 "" cmake --install "${BUILD:?}" --strip --prefix "$scratch/first" # debugging notes name sources, rightly
mv first second
[ -x second/bin/sim ] || fail "no bin/sim"
ls second/share/sim/scenarios/*.lua >/dev/null || fail "no scenarios"
# The man page and the completions equal what this program prints.
while read -r file words; do
  # shellcheck disable=SC2086
  second/bin/sim $words | cmp -s - "second/share/$file" || fail "share/$file is not what sim $words prints"
done <<'END'
man/man1/sim.1 help --man
bash-completion/completions/sim completion bash
zsh/site-functions/_sim completion zsh
fish/vendor_completions.d/sim.fish completion fish
END
if command -v readelf >/dev/null && readelf -d second/bin/sim | grep -E 'R(UN)?PATH' | grep -qF "$root"; then
  fail "bin/sim looks for libraries in the source tree"
fi
# A sanitizer names the sources in its reports, and GPU code in its line tables for profilers: this is allowed.
if ! grep -qaE '__(asan|tsan)_init|nv_fatbin' second/bin/sim && grep -qaF "$root/" second/bin/sim; then
  fail "bin/sim names the source tree"
fi
# Plugins for MPI are beside the program, and the command that sim info prints builds another one.
for plugin in "$BUILD"/cli/libsim_mpi_*.so; do
  [ ! -e "$plugin" ] || [ -e "second/bin/${plugin##*/}" ] || fail "no ${plugin##*/} is installed"
done
second/bin/sim info >info
grep -qF "mpicc -O2 -fPIC -shared -o $scratch/second/bin/libsim_mpi_NAME.so $scratch/second/share/sim/mpi/mpi_plugin.c" info ||
  fail "sim info does not say how to build a plugin: $(cat info)"
if command -v mpicc >/dev/null; then
  rm -f second/bin/libsim_mpi_*.so
  bash -c "$(sed -n 's/.*\(mpicc -O2 .*\)NAME\(.*\)/\1our_own\2/p' info)" || fail "the command of sim info fails"
  second/bin/sim info | grep -q '^mpi  *our_own: ' || fail "sim info does not list the plugin that was built"
fi
scenario s.lua
expect 0 "" env -i "$scratch/second/bin/sim" run s.lua
[ "$(key state s.out)" = done ] || fail "state"
