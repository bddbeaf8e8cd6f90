# A server listens on 127.0.0.1 only (faulty), or on every address (mended); the request comes to 127.0.0.2, as from outside a container.
mode=$1; shift
export PORT=18473
case "$mode" in faulty) address=127.0.0.1 ;; *) address=0.0.0.0 ;; esac
python -m http.server --bind $address $PORT >/dev/null 2>&1 &
server=$!
until python -c "import socket; socket.create_connection(('127.0.0.1', $PORT))" 2>/dev/null; do sleep 0.05; done
"$@"
code=$?
kill $server
exit $code
