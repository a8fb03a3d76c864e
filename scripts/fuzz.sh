#!/usr/bin/env bash
# Fuzzes what reads anybody's bytes, two targets at a time (docs/reliability.md); needs clang-14.
#   scripts/fuzz.sh [SECONDS_FOR_EACH_TARGET]   default: 30
# Prints a line a target; inputs that break one are left in build-fuzz/found/.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-30}
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz | tail -n 1
cd build-fuzz
fuzz() {
  local target=$1 seconds=$2
  mkdir -p "found/$target"
  if tests/lugpu_fuzz "$target" "found/$target" "../tests/fuzz/corpus/$target" -max_total_time="$seconds" \
    -artifact_prefix="found/$target-" >"found/$target.log" 2>&1; then
    echo "$target: $(grep -oE 'Done [0-9]+ runs' "found/$target.log"), nothing found"
  else
    echo "$target: BROKEN, see build-fuzz/found/$target.log"
    return 1
  fi
}
export -f fuzz
mkdir -p found
ls ../tests/fuzz/corpus | xargs -P 2 -I{} bash -c "fuzz {} $seconds"
