#!/usr/bin/env bash
# The manual builds as a site without a warning; there is a page of the reference for each model; a broken link fails.
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
: "${ROOT:?the source tree}"
site=${BUILD:?}/manual # its Python is kept there for the next time
code=0
bash "$ROOT/docs/site/build.sh" "$SIM" "$site" >output 2>&1 || code=$?
[ "$code" != 69 ] || skip "$(tail -n 1 output)"
[ "$code" = 0 ] || fail "exit $code"
while read -r model _; do
  grep -q "sim.$model" "$site/site/reference/$model.html" || fail "no page of sim.$model"
  grep -q "location\":\"reference/$model.html" "$site/site/search/search_index.json" || fail "sim.$model is not searched"
done < <("$SIM" list)
for page in docs/start docs/hpc docs/gpu docs/viewing docs/tutorials/nbody CONTRIBUTING reference/commands; do
  [ -f "$site/site/$page.html" ] || fail "no page $page"
  [ "$page" = docs/viewing ] || grep -q "href=\"[^\"]*${page##*/}.html\"" "$site/site/index.html" || fail "nothing leads to $page"
done
# Nothing is loaded from other sites.
elsewhere=$(grep -rhoE '<(script|link|img)[^>]*(src|href)="?https?:[^">]*' "$site/site" --include='*.html' || true)
[ -z "$elsewhere" ] || fail "a page loads something from elsewhere: $elsewhere"

# A planted fault.
mkdir copy && cp -r "$ROOT"/{README,CONTRIBUTING,CHANGELOG}.md "$ROOT"/{docs,scenarios} copy/
echo '[nothing](nothing.md) [heading](hpc.md#no-such-heading)' >>copy/docs/gpu.md
code=0
mkdir planted && cp -r "$site/python" planted/
bash copy/docs/site/build.sh "$SIM" "$PWD/planted" >output 2>&1 || code=$?
[ "$code" = 1 ] && grep -q "nothing.md" output && grep -q "no-such-heading" output || fail "exit $code with two links that lead nowhere"
