#!/usr/bin/env bash
# expect: 65 too many local variables
for i in {1..300}; do echo "local v$i = $i"; done >s.lua
exec "$SIM" s.lua
