mode=$1; shift
[ "$mode" = faulty ] || export RANK=0 WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=18472
exec "$@"
