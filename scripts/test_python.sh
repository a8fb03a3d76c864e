#!/usr/bin/env bash
# Installs the Python module with pip into a new virtual environment, from a source distribution as users
# get it, and runs its tests there: unit tests, doctests and mypy.
#   scripts/test_python.sh PROGRAM [arguments of unittest]   PROGRAM: lugpu, which is not built again
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
program=$(realpath "$1")
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
/usr/bin/python3 -m venv "$folder/venv"
python=$folder/venv/bin/python
# Only what is imported is compiled.
"$python" -m pip install -q --disable-pip-version-check --no-compile -r "$source/python/tests/requirements.txt"
"$python" -m build --sdist --outdir "$folder" "$source" >"$folder/log" || { cat "$folder/log"; exit 1; }
# Not optimized, and the compiler need not save memory: building takes most of the time.
"$python" -m pip install -q --disable-pip-version-check \
  --config-settings=cmake.define.CMAKE_CXX_FLAGS_RELEASE="-O0 --param ggc-min-expand=1000 --param ggc-min-heapsize=2000000" \
  --config-settings=cmake.define.LUGPU_PROGRAM="$program" "$folder"/lugpu-*.tar.gz
cd "$folder"
"$python" -W error -c "import lugpu"
"$python" -m unittest discover -s "$source/python/tests" -p "*_test.py" "$@"
"$python" -m mypy --strict -p lugpu
"$python" -m mypy --strict "$source/python/tests/usage.py"
"$python" "$source/python/tests/usage.py" >/dev/null
