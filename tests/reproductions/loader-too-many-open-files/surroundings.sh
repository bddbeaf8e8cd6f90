# The limit a login shell often has is 1024; a small one shows the same with fewer samples.
case "$1" in faulty) ulimit -n 128 ;; *) ulimit -n 16384 ;; esac
shift
exec "$@"
