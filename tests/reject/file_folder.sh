#!/usr/bin/env bash
# expect: 66 s.lua: is a folder, not a scenario file
mkdir s.lua
exec "$SIM" s.lua
