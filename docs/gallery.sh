#!/usr/bin/env bash
# gallery.sh FOLDER [NAME...]: makes the pictures of docs/gallery.md, all or those named, by the commands that stand there.
# Runs go to FOLDER, and a run that is done there is not made anew. SIM is the program.
set -euo pipefail
here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)
root=$(cd -- "$here/.." && pwd)
: "${SIM:?the program sim}"
mkdir -p -- "$1"
folder=$(cd -- "$1" && pwd)
shift
ln -sfn -- "$root/scenarios" "$root/data" "$folder"

# Lines NAME, command, command: of each picture the words between the marks of code.
commands=$(awk -F'`' '/^### / { name = substr($0, 5) } /^`sim / { print name "\t" $2 "\t" $4 }' "$here/gallery.md")
for name in "$@"; do
  grep -q "^$name	" <<<"$commands" || { printf 'gallery: no picture %s in docs/gallery.md\n' "$name" >&2 && exit 64; }
done
while IFS=$'\t' read -r name run plot; do
  if (($#)) && [[ " $* " != *" $name "* ]]; then continue; fi
  read -r -a words <<<"${run#sim }"
  if [ "${words[0]}" = sweep ]; then
    [ -d "$folder/$name.out" ] || (cd -- "$folder" && "$SIM" "${words[@]}") </dev/null >"$folder/$name.log" 2>&1
  elif ! grep -qs '"state": *"done"' "$folder/$name.out/status.json"; then
    (cd -- "$folder" && "$SIM" "${words[@]}" --force -o "$name.out") </dev/null >"$folder/$name.log" 2>&1
  fi
  read -r -a words <<<"${plot#simview }"
  picture=$here/view_$name.png
  draw() { (cd -- "$folder" && bash "$root/viz/plot.sh" "$root/build/simview" "${words[@]}" -o "$picture" --dpi 110 "$@") </dev/null; }
  draw
  if [ "$(stat -c %s -- "$picture")" -gt 60000 ]; then draw --small; fi
done <<<"$commands"
