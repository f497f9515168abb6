#!/usr/bin/env bash
# The recipes of packaging/ for containers. The Dockerfile is built by podman, with bare Debian 12 systems by debootstrap as
# base images (no registry is asked), and its image run as its own user and as another one. The commands of the Apptainer
# definition, for want of Apptainer in Debian, are run one section after the other in such systems, where Apptainer would
# run them. Needs root, a network, podman and some twenty minutes of two cores. ROOT: the source tree. BARE: a folder where
# the bare system is kept for the next time (default: none is). ONLY: docker or apptainer alone.
. "${BASH_SOURCE[0]%/*}/bare.sh"
tree=$(readlink -f -- "${ROOT:?the source tree}")
only=${ONLY:-docker apptainer}
bare_begin "${BASH_SOURCE[0]}" "$@"
copy_tree "$tree" "$scratch/tree"
tried=0

# ---- the Dockerfile ----

engine() { podman --root "$scratch/store" --runroot "$scratch/run" "${runtime[@]}" "$@"; }
# Limits of podman on this machine: limits as they are, and a runtime that knows its control groups.
runs() { engine run --rm --network host "${limits[@]}" "$@"; }
choose() {
  local name
  for name in "" crun runc; do
    runtime=(${name:+--runtime "$name"})
    limits=()
    runs localhost/debian:12 true >"$scratch/log" 2>&1 && return
    limits=(--ulimit "nofile=1024:1024" --ulimit "nproc=1024:1024")
    runs localhost/debian:12 true >"$scratch/log" 2>&1 && return
  done
  return 1
}

docker() {
  command -v podman >/dev/null || { echo "Dockerfile: left out, no podman here (Debian: podman runc)" && return; }
  SECONDS=0
  bare_system bookworm "${BARE:+$BARE/bookworm}"
  umount -R "$root/dev" "$root/proc"
  runtime=()
  tar -C "$root" --one-file-system -c . | engine import - localhost/debian:12 >"$scratch/log" 2>&1 || fail "podman import: exit $?"
  rm -rf -- "$root"
  choose || { echo "Dockerfile: left out, podman runs nothing here: $(tail -n 1 "$scratch/log")" && return; }
  engine build --network host "${limits[@]}" --build-arg BASE=localhost/debian:12 --build-arg RUN=localhost/debian:12 \
    -f "$scratch/tree/packaging/Dockerfile" -t localhost/sim "$scratch/tree" >"$scratch/log" 2>&1 || fail "podman build: exit $?"
  echo "Dockerfile: built in $SECONDS s, $(engine image inspect --format '{{.Size}}' localhost/sim) bytes with the base"
  [[ "$(engine image inspect --format '{{.User}}' localhost/sim)" =~ ^[1-9][0-9]*: ]] || fail "the image's user is root, or not a number"
  [ "$(runs --entrypoint id localhost/sim -un)" = sim ] || fail "the container does not run as sim"
  mkdir "$scratch/work"
  cp "$tree/scenarios/kepler.lua" "$scratch/work"
  chown -R 1234:1234 "$scratch/work"
  # As docs/packages.md says: the folder's owner outside is the user inside.
  runs --user 1234:1234 -v "$scratch/work:/work" localhost/sim run kepler.lua >"$scratch/log" 2>&1 || fail "sim run in the container: exit $?"
  [ "$(stat -c %u "$scratch/work/kepler.out/status.json")" = 1234 ] || fail "the output is another user's"
  cp "$scratch/work/kepler.out/status.json" "$scratch/docker.json"
  runs --user 1234:1234 -v "$scratch/work:/work" localhost/sim verify kepler.out >"$scratch/log" 2>&1 || fail "sim verify in the container: exit $?"
  ! runs --entrypoint sh localhost/sim -c 'touch /opt/sim/x || touch /usr/bin/x' 2>/dev/null || fail "the container's user can write where the program is"
  runs --entrypoint sh localhost/sim -c '! command -v gcc && ! command -v cmake' >/dev/null || fail "the image has the build's tools in it"
  echo "Dockerfile: run as its own user and as the folder's owner, after $SECONDS s"
  engine rmi -af >"$scratch/log" 2>&1 || true
  tried=$((tried + 1))
}

# ---- the definition ----

# section STAGE NAME: the lines of a section in one of the definition's two stages.
section() {
  awk -v stage="$1" -v name="$2" '/^Bootstrap:/ { n++; on = 0 } /^%/ { on = n == stage && $1 == "%" name; next } on' \
    "$tree/packaging/sim.def"
}
apptainer() {
  SECONDS=0
  local stage
  for stage in 1 2; do
    bare_system bookworm "${BARE:+$BARE/bookworm}"
    umount -R "$root/dev" "$root/proc"
    mv -- "$root" "$scratch/root-stage$stage"
    mount -t proc proc "$scratch/root-stage$stage/proc"
    mount --rbind /dev "$scratch/root-stage$stage/dev"
    root=$scratch/root-stage$stage
    case $stage in
      1) copy_tree "$tree" "$root/src" ;;
      2) mkdir -p "$root/opt" && cp -a "$scratch/root-stage1/opt/sim" "$root/opt/sim" ;;
    esac
    section $stage post >"$root/post.sh"
    inside root / sh -eu /post.sh || fail "sim.def: %post of stage $stage: exit $?"
  done
  { section 2 environment && section 2 runscript; } >"$root/run.sh"
  cp "$tree/scenarios/kepler.lua" "$root/home/someone"
  inside someone /home/someone sh /run.sh run kepler.lua || fail "sim.def: %runscript: exit $?"
  inside someone /home/someone sh /run.sh verify kepler.out || fail "sim.def: verify: exit $?"
  echo "sim.def: its commands in two bare systems, in $SECONDS s"
  [ ! -f "$scratch/docker.json" ] || cmp -s <(grep -o '"digest": *"[^"]*"' "$scratch/docker.json") \
    <(grep -o '"digest": *"[^"]*"' "$root/home/someone/kepler.out/status.json") || fail "the containers' digests differ"
  tried=$((tried + 1))
}

for recipe in $only; do "$recipe"; done
((tried > 0)) || skip "no recipe could be tried"
