# A container gives /dev/shm 64 MB unless told otherwise; here 4 MB (faulty) and 2 GB (mended), in a mount namespace of our own.
case "$1" in faulty) size=4m ;; *) size=2g ;; esac
shift
exec unshare -m sh -c 'mount -t tmpfs -o size="$0" none /dev/shm && exec "$@"' "$size" "$@"
