mode=$1; shift
case "$mode" in faulty) export GLOO_SOCKET_IFNAME=eth7 ;; *) export GLOO_SOCKET_IFNAME=lo ;; esac
export MASTER_ADDR=127.0.0.1 MASTER_PORT=18478 RANK=0 WORLD_SIZE=1
exec "$@"
