# Another environment's python comes first on PATH (faulty), while pip is still that of ours.
mode=$1; shift
[ -d other ] || python -m venv --without-pip other
[ "$mode" = mended ] || export PATH="$PWD/other/bin:$PATH"
exec "$@"
