#!/usr/bin/env bash
# The products of `dev package` on bare systems: the .deb, the .tar.gz and the wheel of simview in a bare Debian 12 and
# 13, installed by root and used by another user. They are built here, so a Debian older than this system is skipped.
# Needs root, a network and some ten minutes of two cores. ROOT: the source tree. BARE: a folder that keeps the bare
# systems for the next time (default: none). PACKAGES: a folder of packages that dev package has made from ROOT
# (default: they are made in a copy). KIND: cpu (default), or cuda: the packages with GPU code, which run on the CPU
# where there is no GPU.
. "${BASH_SOURCE[0]%/*}/bare.sh"
tree=$(readlink -f -- "${ROOT:?the source tree}")
bare_begin "${BASH_SOURCE[0]}" "$@"
here=$(. /etc/os-release && [ "$ID" = debian ] && echo "${VERSION_ID:-0}") || skip "this system is no Debian"

# ---- the packages ----

SECONDS=0
kind=${KIND:-cpu} name=sim-engine
[ "$kind" = cpu ] || name=sim-engine-$kind
packages=${PACKAGES:-$scratch/tree/build/packages}
if [ -z "${PACKAGES:-}" ]; then
  copy_tree "$tree" "$scratch/tree"
  "$scratch/tree/dev" package "$kind" >"$scratch/log" 2>&1 || fail "dev package: exit $?"
fi
echo "packages in $SECONDS s: $(cd "$packages" && stat -c '%n %s' -- * | tr '\n' ' ')"
deb=$(ls "$packages/$name"_*.deb) archive=$(ls "$packages/$name"-[0-9]*-linux-*[!m].tar.gz)
wheel=$(ls "$packages"/sim_engine_simview-*.whl) || fail "no wheel"
ls "$packages/$name"-[0-9]*-dbgsym.tar.gz "$packages/$name"-dbgsym_*.d*deb >/dev/null || fail "no symbols"

# Their content names no folder of this machine (except in the line tables of GPU code), and belongs to root.
mkdir "$scratch/content" "$scratch/archive"
dpkg-deb -x "$deb" "$scratch/content"
dpkg-deb -c "$deb" >"$scratch/list"
tar -C "$scratch/archive" -xzf "$archive"
for folder in "$scratch" "$tree/" "$HOME/"; do
  [ "$kind" = cuda ] || ! grep -rlaF -- "$folder" "$scratch/content" "$scratch/archive" >"$scratch/log" || fail "files in the packages name $folder"
done
! awk '$2 != "root/root"' "$scratch/list" | grep . || fail "files of the .deb do not belong to root"
left=$(find "$scratch/content" -name '*.pyc' -o -name '*.out' -o -name build)
[ -z "$left" ] || fail "what a build or a run leaves is packaged: $left"
dpkg-deb -f "$deb" Depends | grep -q 'libc6 (>= ' || fail "the .deb states no dependency on the C library"
dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed 's/^ *//' | sort >"$scratch/depends"
echo "depends on: $(paste -sd' ' "$scratch/depends")"
# The symbols belong to the program: the same build id.
if command -v readelf >/dev/null; then
  mkdir "$scratch/symbols"
  tar -C "$scratch/symbols" -xzf "$packages/$name"-[0-9]*-dbgsym.tar.gz
  id() { readelf -n "$1" 2>/dev/null | sed -n 's/.*Build ID: //p'; }
  program=$(find "$scratch/archive" -name sim -path '*/bin/*') symbols=$(find "$scratch/symbols" -name sim.debug)
  [ "$(id "$program")" = "$(id "$symbols")" ] || fail "the symbols are of another program"
  ! readelf -S "$program" | grep -F .debug_info || fail "the program holds its symbols"
  readelf -S "$symbols" 2>/dev/null | grep -F .debug_info >/dev/null || fail "the symbols hold nothing"
fi

# ---- in a bare system ----

tried=0
for system in 12:bookworm 13:trixie; do
  version=${system%%:*} suite=${system#*:}
  if ((version < here)); then
    echo "Debian $version: left out, as the packages are built on Debian $here"
    continue
  fi
  SECONDS=0
  bare_system "$suite" "${BARE:+$BARE/$suite}"
  mkdir "$root/srv/packages"
  cp -- "$deb" "$archive" "$wheel" "$root/srv/packages/"
  inside root /srv/packages apt-get update || fail "Debian $version: apt-get update"
  inside root /srv/packages env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    "./${deb##*/}" || fail "Debian $version: the .deb is not installed"
  inside someone /home/someone sim run /usr/share/sim/scenarios/kepler.lua -o kepler.out || fail "Debian $version: exit $?"
  grep -q '^done step' "$scratch/log" || fail "Debian $version: the run is not done"
  if [ "$kind" = cuda ]; then # without a driver: said, and refused where a GPU was asked for
    inside someone /home/someone sim info || fail "Debian $version: sim info: exit $?"
    grep -E '^(gpu|cuda)' "$scratch/log" | sed "s/^/Debian $version: /"
    code=0
    inside someone /home/someone sim run /usr/share/sim/scenarios/kepler.lua --device cuda -o none.out || code=$?
    [ "$code" = 69 ] || fail "Debian $version: --device cuda without a driver: exit $code, not 69"
    echo "Debian $version: --device cuda: $(tail -n 1 "$scratch/log")"
  fi
  inside someone /home/someone sim verify kepler.out || fail "Debian $version: sim verify: exit $?"
  inside someone /home/someone sim doctor || fail "Debian $version: sim doctor: exit $?"
  for file in man/man1/sim.1 bash-completion/completions/sim zsh/site-functions/_sim fish/vendor_completions.d/sim.fish \
    "doc/$name/copyright"; do
    [ -s "$root/usr/share/$file" ] || fail "Debian $version: no share/$file"
  done

  # The archive, unpacked by the user, and moved.
  inside someone /home/someone tar -xzf "/srv/packages/${archive##*/}" || fail "Debian $version: tar"
  inside someone /home/someone sh -c 'mv sim-engine-[0-9c]* moved' || fail "Debian $version: mv"
  inside root / apt-get purge -y "$name" || fail "Debian $version: apt-get purge"
  [ ! -e "$root/usr/bin/sim" ] && [ ! -e "$root/usr/share/sim" ] || fail "Debian $version: purge leaves files"
  inside someone /home/someone moved/bin/sim run moved/share/sim/scenarios/kepler.lua -o again.out ||
    fail "Debian $version: the archive's program: exit $?"
  cmp -s <(grep -o '"digest": *"[^"]*"' "$root/home/someone/kepler.out/status.json") \
    <(grep -o '"digest": *"[^"]*"' "$root/home/someone/again.out/status.json") || fail "Debian $version: digests differ"

  # The wheel.
  inside root / env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3-venv ca-certificates ||
    fail "Debian $version: python3-venv"
  inside someone /home/someone python3 -m venv python || fail "Debian $version: venv"
  inside someone /home/someone python/bin/pip install --disable-pip-version-check "/srv/packages/${wheel##*/}" ||
    fail "Debian $version: the wheel is not installed"
  inside someone /home/someone env MPLBACKEND=agg python/bin/simview plot kepler.out -o figures.png ||
    fail "Debian $version: simview plot: exit $?"
  find "$root/home/someone" -name '*.png' -size +5k | grep -q . || fail "Debian $version: simview has drawn nothing"
  echo "Debian $version: .deb, .tar.gz and wheel in $SECONDS s"
  tried=$((tried + 1))
done
((tried > 0)) || skip "no Debian is new enough for packages that are built here"
