# Sourced by tests that need a bare Debian: debootstrap makes it in a folder, and chroot enters it. Needs root and a
# network.
# shellcheck shell=bash
set -euo pipefail
skip() {
  echo "skipped: $*"
  exit 77
}
fail() {
  echo "FAILED: $*" >&2
  tail -n 60 "$scratch/log" >&2 2>/dev/null || true
  exit 1
}

# bare_begin SCRIPT ARGUMENT...: starts SCRIPT again in a mount namespace of its own, so that its mounts are removed
# however it ends. Sets scratch, and outside: the variables that programs inside need to reach the network.
bare_begin() {
  local script=$1 tool name
  [ "$(id -u)" = 0 ] || skip "only root may make a root folder"
  for tool in debootstrap unshare chroot git; do command -v "$tool" >/dev/null || skip "no $tool here"; done
  if [ "${2:-}" != inside ]; then
    unshare --mount --propagation private true 2>/dev/null || skip "no mount namespace may be made here"
    exec unshare --mount --propagation private bash "$script" inside
  fi
  scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/sim-bare.XXXXXX")
  trap bare_end EXIT
  outside=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb)
  for name in http_proxy https_proxy no_proxy PIP_INDEX_URL PIP_CERT SSL_CERT_FILE REQUESTS_CA_BUNDLE; do
    [ -z "${!name:-}" ] || outside+=("$name=$([ -f "${!name}" ] && echo "/etc/outside/$name" || echo "${!name}")")
  done
}
bare_end() {
  local root kept=
  for root in "$scratch"/root*; do
    [ -d "$root" ] || continue
    umount -R "$root/dev" "$root/proc" 2>/dev/null || true
    if mountpoint -q "$root/dev" || mountpoint -q "$root/proc"; then kept=yes; fi
  done
  if [ "$kept" ]; then
    echo "left: $scratch, where something is still mounted" >&2
  else
    rm -rf -- "$scratch"
  fi
}

# bare_system SUITE KEPT: makes the system in $root, with a user `someone`. KEPT: a folder that keeps the system for the
# next time; "": none.
bare_system() {
  local suite=$1 bare=${2:-$scratch/bare-$1} name
  root=$scratch/root-$suite
  if [ ! -e "$bare/etc/debian_version" ]; then
    debootstrap --variant=minbase "$suite" "$bare" >"$scratch/log" 2>&1 ||
      skip "debootstrap: $(grep -E '^[EW]:' "$scratch/log" | tail -n 1)"
  fi
  cp -a -- "$bare" "$root"
  cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
  for name in http_proxy https_proxy no_proxy PIP_INDEX_URL PIP_CERT SSL_CERT_FILE REQUESTS_CA_BUNDLE; do
    # certificates, not where the package ca-certificates writes
    [ ! -f "${!name:-}" ] || install -D -m 644 -- "${!name}" "$root/etc/outside/$name"
  done
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  chroot "$root" useradd -m someone
}

# inside USER FOLDER COMMAND...: its output goes to the log.
inside() {
  local user=$1 folder=$2 home
  shift 2
  home=$(chroot "$root" getent passwd "$user" | cut -d: -f6)
  # shellcheck disable=SC2016
  chroot --userspec="$user": "$root" env -i "${outside[@]}" HOME="$home" sh -c 'cd "$0" && exec "$@"' "$folder" "$@" \
    >"$scratch/log" 2>&1 </dev/null
}

# copy_tree TREE FOLDER: the sources, without built files.
copy_tree() {
  mkdir -p "$2"
  git -C "$1" ls-files -z --cached --others --exclude-standard | tar -C "$1" --null -T - -c | tar -C "$2" -x
}
