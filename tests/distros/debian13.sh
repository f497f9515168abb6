#!/usr/bin/env bash
# The README's two commands in a bare Debian 13 (GCC 14, CMake 3.31, HDF5 1.14) that debootstrap makes: as root, for whom
# `dev` installs what is missing, and as a user without sudo, who is told in one line what to install. Needs root, a
# network and some forty minutes of two cores. ROOT: the source tree. DEBIAN13: a folder where the bare system is kept for the
# next time (default: none is).
set -euo pipefail
tree=$(readlink -f -- "${ROOT:?the source tree}")
skip() {
  echo "skipped: $*"
  exit 77
}
[ "$(id -u)" = 0 ] || skip "only root may make a root folder"
for tool in debootstrap unshare chroot git; do command -v "$tool" >/dev/null || skip "no $tool here"; done
# In a mount namespace of its own: what is mounted goes with it, however this ends.
if [ "${1:-}" != inside ]; then
  unshare --mount --propagation private true 2>/dev/null || skip "no mount namespace may be made here"
  exec unshare --mount --propagation private bash "${BASH_SOURCE[0]}" inside
fi

scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/sim-debian13.XXXXXX")
root=$scratch/root
cleanup() {
  umount -R "$root/dev" "$root/proc" 2>/dev/null || true
  if mountpoint -q "$root/dev" || mountpoint -q "$root/proc"; then
    echo "left: $scratch, where something is still mounted" >&2
  else
    rm -rf -- "$scratch"
  fi
}
trap cleanup EXIT
fail() {
  echo "FAILED: $*" >&2
  tail -n 60 "$scratch/log" >&2 2>/dev/null || true
  exit 1
}

# ---- the system ----

bare=${DEBIAN13:-$scratch/bare}
if [ ! -e "$bare/etc/debian_version" ]; then
  debootstrap --variant=minbase trixie "$bare" >"$scratch/log" 2>&1 ||
    skip "debootstrap: $(grep -E '^[EW]:' "$scratch/log" | tail -n 1)"
fi
cp -a -- "$bare" "$root"
cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
chroot "$root" useradd -m someone

# Only what says how the network is reached comes along, with the certificates that it names.
outside=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb)
for name in http_proxy https_proxy no_proxy PIP_INDEX_URL PIP_CERT SSL_CERT_FILE REQUESTS_CA_BUNDLE; do
  [ -n "${!name:-}" ] || continue
  if [ -f "${!name}" ]; then # not where the package ca-certificates writes
    install -D -m 644 -- "${!name}" "$root/etc/outside/$name"
    outside+=("$name=/etc/outside/$name")
  else
    outside+=("$name=${!name}")
  fi
done
# as USER COMMAND...: in the tree, which becomes that user's; what it says goes to the log.
as() {
  local user=$1 home
  shift
  home=$(chroot "$root" getent passwd "$user" | cut -d: -f6)
  chroot "$root" chown -R "$user": /srv/sim
  chroot --userspec="$user": "$root" env -i "${outside[@]}" HOME="$home" sh -c 'cd /srv/sim && exec "$@"' sh "$@" \
    >"$scratch/log" 2>&1 </dev/null
}
mkdir "$root/srv/sim"
git -C "$tree" ls-files -z --cached --others --exclude-standard | tar -C "$tree" --null -T - -c | tar -C "$root/srv/sim" -x

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
as someone ./dev test -R '^(cli_(run|restart|disk|batch|basics|environment)|cache|io_folder|reject_paths_.*)$' ||
  fail "dev test as a user: exit $?"
grep -E 'tests passed|Skipped' "$scratch/log" || true
echo "Debian 13: both commands, as root and as a user, in $SECONDS s"
