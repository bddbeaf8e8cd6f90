# A server of an earlier run still holds the port (faulty), or nobody does (mended).
mode=$1; shift
export PORT=18471
if [ "$mode" = faulty ]; then
    python -c "import os, socket, time
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(('127.0.0.1', int(os.environ['PORT']))); s.listen(); open('held', 'w').close(); time.sleep(60)" &
    holder=$!
    until [ -e held ]; do sleep 0.05; done
fi
"$@"
code=$?
[ -z "$holder" ] || { kill $holder; rm -f held; }
exit $code
