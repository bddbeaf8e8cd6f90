mode=$1; shift
[ "$mode" = mended ] || unset PYTHONUNBUFFERED
exec "$@"
