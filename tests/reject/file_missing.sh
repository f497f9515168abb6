#!/usr/bin/env bash
# expect: 66 nosuch.lua
exec "$SIM" nosuch.lua
