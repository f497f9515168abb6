#!/usr/bin/env bash
# expect: 69 cuda
. "${BASH_SOURCE[0]%/*}/small.bash"
CUDA_VISIBLE_DEVICES= exec "$SIM" run s.lua --device cuda
