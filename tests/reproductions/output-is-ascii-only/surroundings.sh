# A locale of ASCII, with Python's UTF-8 mode off: what cron, some batch systems and PYTHONIOENCODING give.
mode=$1; shift
[ "$mode" = mended ] || export PYTHONIOENCODING=ascii
exec "$@"
