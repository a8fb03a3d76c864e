#!/usr/bin/env bash
# Runs every command, the library and the drop-in LAPACK on a device that misbehaves, and says what became
# of it (docs/reliability.md).
#   scripts/faults.sh [FOLDER_OF_THE_BUILD [INTERPRETER]]   default: build-dev; a Python that has the module lugpu
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build-dev}
cmake --build "$build" --target lugpu lugpu_lapack opencl_faults library_test sparse_library_test
for test in library_test sparse_library_test; do "$build/tests/$test" --gtest_brief=1 --gtest_filter='Faulty*'; done
exec /usr/bin/python3 tests/faults.py "$build/lugpu" ${2:+--python "$2"}
