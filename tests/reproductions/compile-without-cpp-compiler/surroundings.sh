# A slim image: no compiler on PATH (faulty), or the one of this machine (mended).
mode=$1; shift
[ "$mode" = faulty ] || exec "$@"
mkdir -p bin
printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v python)" > bin/python
chmod +x bin/python
export PATH="$PWD/bin"
exec "$@"
