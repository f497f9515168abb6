#!/usr/bin/env bash
# The README's two commands in a bare Debian 13 (GCC 14, CMake 3.31, HDF5 1.14) that debootstrap makes: as root, for
# whom `dev` installs missing packages; and as a user without sudo, who is told in one line what to install. Needs root,
# a network and some forty minutes of two cores. ROOT: the source tree. DEBIAN13: a folder that keeps the bare system
# for the next time (default: none).
. "${BASH_SOURCE[0]%/*}/bare.sh"
tree=$(readlink -f -- "${ROOT:?the source tree}")
bare_begin "${BASH_SOURCE[0]}" "$@"
bare_system trixie "${DEBIAN13:-}"

# as USER COMMAND...: in the tree, which then belongs to that user; its output goes to the log.
as() {
  local user=$1
  shift
  chroot "$root" chown -R "$user": /srv/sim
  inside "$user" /srv/sim "$@"
}
copy_tree "$tree" "$root/srv/sim"

# ---- a user without sudo, with nothing there ----

for command in "run scenarios/galaxy.lua" test; do
  read -ra words <<<"$command"
  code=0
  as someone ./dev "${words[@]}" || code=$?
  [ "$code" = 69 ] || fail "dev $command without what it needs: exit $code, not 69"
  [ "$(wc -l <"$scratch/log")" = 1 ] || fail "dev $command without what it needs: not one line"
done
named=$(sed -n 's/.*install with: sudo apt-get install -y //p' "$scratch/log")
[ -n "$named" ] || fail "the line names nothing to install"
echo "a user without sudo: $(cat "$scratch/log")"

# ---- root: both commands ----

SECONDS=0
as root ./dev run scenarios/galaxy.lua || fail "dev run scenarios/galaxy.lua as root: exit $?"
grep -q '^done step' "$scratch/log" && [ -f "$root/srv/sim/galaxy.out/status.json" ] || fail "galaxy.lua did not run"
chroot "$root" sh -c 'gcc --version; cmake --version; dpkg-query -W libhdf5-dev' | grep -E '^(gcc|cmake version|libhdf5)'
echo "root: dev run in $SECONDS s"
warnings=$scratch/warnings # of a build that makes everything, tests too
cp "$root/srv/sim/build/release/build.log" "$warnings"
for package in $named; do
  chroot "$root" dpkg -s "$package" >/dev/null 2>&1 || fail "$package is named to the user and was not installed for root"
done
as root ./dev test || fail "dev test as root: exit $?, $(grep -A 30 'tests FAILED' "$scratch/log" || true)"
grep -E 'tests passed|Skipped' "$scratch/log" || true
! grep -E 'tools_(simview|dev_plot|openpmd|h5dump|install).*Skipped' "$scratch/log" || fail "tests of the Python tools are skipped"
! grep -E 'warning:' "$warnings" >"$scratch/log" || fail "the compiler warns"
echo "root: dev test after $SECONDS s"

# ---- the user, with everything there: the same programs, and some tests that root cannot fail ----

rm -rf "$root/srv/sim/galaxy.out"
as someone ./dev run scenarios/galaxy.lua --set n=200 || fail "dev run as a user: exit $?"
as someone ./dev test -R '^(cli_(run|restart|disk|batch|basics|environment)|cache|io_folder|reject_paths)$' ||
  fail "dev test as a user: exit $?"
grep -E 'tests passed|Skipped' "$scratch/log" || true
echo "Debian 13: both commands, as root and as a user, in $SECONDS s"
