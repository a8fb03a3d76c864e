#!/usr/bin/env bash
# Runs every command, the library and the drop-in LAPACK on a device that misbehaves, and says what became
# of it (docs/reliability.md).
#   scripts/faults.sh [FOLDER_OF_THE_BUILD]   default: build-dev
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build-dev}
cmake --build "$build" --target lugpu lugpu_lapack opencl_faults library_test
"$build/tests/library_test" --gtest_brief=1 --gtest_filter='FaultyOpenCl.*'
exec /usr/bin/python3 tests/faults.py "$build/lugpu"
