#!/usr/bin/env bash
# expect: 65 s.lua: the file is empty
: >s.lua
exec "$SIM" s.lua
