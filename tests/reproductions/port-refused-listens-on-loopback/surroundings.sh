# A server listens on 127.0.0.1 only (faulty), or on every address (mended); the request comes to 127.0.0.2, as from outside a container.
mode=$1; shift
export PORT=18473
case "$mode" in faulty) address=127.0.0.1 ;; *) address=0.0.0.0 ;; esac
printf 'async def app(scope, receive, send):\n    await send({"type": "http.response.start", "status": 200})\n    await send({"type": "http.response.body"})\n' > service.py
case "$*" in *train.py) python -m uvicorn service:app --lifespan off --host $address --port $PORT & ;; *) python -m uvicorn service:app --lifespan off --host $address --port $PORT >/dev/null 2>&1 & ;; esac
server=$!
until python -c "import socket; socket.create_connection(('127.0.0.1', $PORT))" 2>/dev/null; do sleep 0.1; done
"$@"
code=$?
kill $server
exit $code
