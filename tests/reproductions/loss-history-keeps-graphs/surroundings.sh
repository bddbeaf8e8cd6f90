# 3 GB of address space stand for the machine's memory, so that it is used up within seconds.
mode=$1; shift
ulimit -v 4000000
exec "$@"
