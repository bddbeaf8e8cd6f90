# A job of the same person holds the port of MASTER_PORT (faulty), or this job was given a free one (mended).
mode=$1; shift
export RANK=0 WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=18482
if [ "$mode" = faulty ]; then
    python -c "import socket, time
s = socket.create_server(('', 18482)); open('held', 'w').close(); time.sleep(60)" &
    holder=$!
    until [ -e held ]; do sleep 0.05; done
fi
"$@"
code=$?
[ -z "$holder" ] || { kill $holder; rm -f held; }
exit $code
