# A service that accepts connections and says nothing, as behind a dead proxy or a firewall that swallows packets.
shift
export CONFIG_URL=http://127.0.0.1:18494/config
python -c "import socket, time
server = socket.create_server(('127.0.0.1', 18494)); open('listening', 'w').close(); time.sleep(60)" &
service=$!
until [ -e listening ]; do sleep 0.05; done
"$@"
code=$?
kill $service; rm -f listening
exit $code
