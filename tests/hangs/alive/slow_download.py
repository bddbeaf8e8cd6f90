import socket, tempfile, threading, time
server = socket.create_server(("127.0.0.1", 0))

def send():
    peer, _ = server.accept()
    with peer:
        for _ in range(28):
            peer.sendall(b"x" * 30_000)
            time.sleep(0.25)

threading.Thread(target=send, daemon=True).start()
with socket.create_connection(server.getsockname()) as client, tempfile.TemporaryFile(buffering=0) as file:
    while chunk := client.recv(65536):
        file.write(chunk)
