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
# The commands without the headers that gcc has compiled beforehand, which clang cannot read. ViennaCL's are no C++
# to it. -w: warnings of a compiler are the build's.
sed -E 's/ -include [^ ]*cmake_pch\.hxx//' "$build/compile_commands.json" >"$folder/compile_commands.json"
status=0
output=$("$folder/venv/bin/python" "$folder/venv/bin/run-clang-tidy.py" -quiet -extra-arg=-w -j "$jobs" \
  -config-file .clang-tidy -clang-tidy-binary "$folder/venv/bin/clang-tidy" -p "$folder" \
  "^($PWD/(src|cli)/(?!baselines/viennacl)|$build/CMakeFiles/lugpu_\w+\.dir/Unity/)" 2>&1) || status=$?
grep -q 'clang-tidy -' <<<"$output" || { echo "$build has no compile commands for $PWD/src: $output" >&2; exit 1; }
# The findings alone, without commands, colours and the counts of warnings in headers of the system.
[ $status -eq 0 ] || sed 's/\x1b\[[0-9;]*m//g' <<<"$output" | grep -vE 'clang-tidy -|^[0-9]+ warnings? |^$' >&2
exit $status
