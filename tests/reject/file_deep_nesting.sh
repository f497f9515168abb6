#!/usr/bin/env bash
# expect: 65 s.lua: the text is nested too deep
{ printf 'return ' && head -c 100000 /dev/zero | tr '\0' '{' && head -c 100000 /dev/zero | tr '\0' '}'; } >s.lua
exec "$SIM" s.lua
