#!/usr/bin/env bash
# build.sh SIM FOLDER: builds the manual in FOLDER/site by MkDocs with Material, from the pages of the repository and the
# reference that SIM prints. Python packages of pinned versions go to FOLDER/python, once. PYTHON names another
# interpreter than python3. Exits with 69 where Python or the packages cannot be had, 1 for a fault in a page.
set -euo pipefail
here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)
root=$(cd -- "$here/../.." && pwd)
sim=$1 folder=$2
venv=$folder/python wanted=$here/requirements.txt

say() { printf 'docs: %s\n' "$*" >&2; }

if ! cmp -s "$wanted" "$venv/requirements.txt"; then
  mkdir -p -- "$folder"
  say "installing MkDocs in $venv (once, about 50 MB)"
  if ! { "${PYTHON:-python3}" -m venv --clear "$venv" &&
    "$venv/bin/python" -m pip install --disable-pip-version-check -r "$wanted"; } >"$folder/python.log" 2>&1 </dev/null; then
    say "cannot install MkDocs, which needs Python 3.10 or later with venv, and a network once; see $folder/python.log"
    exit 69
  fi
  cp -- "$wanted" "$venv/requirements.txt"
fi

# The pages lie as in the repository, so that their links hold on both sides.
pages=$folder/pages
rm -rf -- "$pages"
mkdir -p -- "$pages/docs" "$pages/reference"
cp -- "$root"/{README,CONTRIBUTING,CHANGELOG}.md "$pages"
(cd -- "$root/docs" && find . -name site -prune -o -type f -print0 | tar -c --null -T -) | tar -x -C "$pages/docs"
cp -r -- "$root/scenarios" "$here/site.css" "$pages"
"$sim" help --markdown >"$pages/reference/commands.md"
nav=
while read -r model _; do
  "$sim" describe "$model" --markdown >"$pages/reference/$model.md"
  nav+="      - sim.$model: reference/$model.md"$'\n'
done < <("$sim" list)
awk -v nav="$nav" '/- REFERENCE$/ { printf "%s", nav; next } { print }' "$here/mkdocs.yml" >"$folder/mkdocs.yml"

export NO_MKDOCS_2_WARNING=1 DISABLE_MKDOCS_2_WARNING=true PYTHONDONTWRITEBYTECODE=1
if ! "$venv/bin/python" -m mkdocs build --strict --config-file "$folder/mkdocs.yml" >"$folder/mkdocs.log" 2>&1; then
  grep -E '^(WARNING|ERROR|Aborted)' "$folder/mkdocs.log" >&2 || cat -- "$folder/mkdocs.log" >&2
  exit 1
fi
say "$folder/site/index.html"
