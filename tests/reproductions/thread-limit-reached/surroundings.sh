# The limit counts the threads of all processes of a user; containers and login settings often set it low.
mode=$1; shift
[ "$mode" = mended ] || exec prlimit --nproc=40:40 "$@"
exec "$@"
