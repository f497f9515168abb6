#!/usr/bin/env bash
# Each check of the suite sees the fault that is planted for it (faulty.c), and nothing where there is none.
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
: "${DESCRIPTOR:?the program faulty_descriptor}"
suite=$(cd -- "${BASH_SOURCE[0]%/*}" && pwd)

expect 0 "" bash "$suite/conformance.sh" template
expect 0 "" "$DESCRIPTOR" template

# sees FAULT CHECK TEXT: that check fails with this fault, with TEXT.
sees() { FAULT=$1 expect 1 "$3" bash "$suite/conformance.sh" template "$2"; }
sees example example "integrate: "
sees outputs outputs "outputs change the state"
sees state restart "restart at step 7 of 16: digest"
sees tables restart "restart at step 7 of 16: tables differ"
sees threads threads "2 threads: digest"
sees precision precision "precision double has the bits of single"
sees reseal reseal "a resealed checkpoint, mutation"
for fault in encode memory; do
  FAULT=$fault expect 1 "FAILED: $fault: " "$DESCRIPTOR" template
done
