mode=$1; shift
case "$mode" in faulty) export LOG_LEVEL=info ;; *) export LOG_LEVEL=INFO ;; esac
exec "$@"
