#!/usr/bin/env bash
# The mask `solid` of fluids on a GPU, and on several, which one may stand for: tests/cli/models/fluid_mask.sh.
. "${BASH_SOURCE[0]%/*}/lib.sh"
need_gpu
DEVICE=cuda bash "${BASH_SOURCE[0]%/*}/../cli/models/fluid_mask.sh"
