#!/usr/bin/env bash
# Checks src/ and cli/ with clang-tidy, from PyPI (it takes half the time of Debian 12's), by the compile
# commands of a build.
#   scripts/check_tidy.sh [BUILD] [JOBS]   default: build-dev, on all cores
set -euo pipefail
build=$(realpath "${1:-$(dirname "$0")/../build-dev}")
jobs=${2:-$(nproc)}
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
/usr/bin/python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check -r tests/requirements.txt
# check [--alone]: the output of clang-tidy over sources that are put together, or over each alone
check() {
  # ViennaCL's headers are no C++ to this clang. -w: warnings of a compiler are the build's.
  /usr/bin/python3 scripts/tidy_units.py "$build/compile_commands.json" "$folder" \
    "^$PWD/(src|cli)/(?!baselines/viennacl)" "$@"
  "$folder/venv/bin/python" "$folder/venv/bin/run-clang-tidy.py" -quiet -extra-arg=-w -j "$jobs" \
    -config-file .clang-tidy -clang-tidy-binary "$folder/venv/bin/clang-tidy" -p "$folder" 2>&1
}
status=0
output=$(check) || status=$?
# What does not compile together may do so alone.
if grep -q clang-diagnostic-error <<<"$output"; then
  status=0
  output=$(check --alone) || status=$?
fi
grep -q 'clang-tidy -' <<<"$output" || { echo "$build has no compile commands for $PWD/src: $output" >&2; exit 1; }
# The findings alone, without commands, colours and the counts of warnings in headers of the system.
[ $status -eq 0 ] || sed 's/\x1b\[[0-9;]*m//g' <<<"$output" | grep -vE 'clang-tidy -|^[0-9]+ warnings? |^$' >&2
exit $status
