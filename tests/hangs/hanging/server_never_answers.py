import socket, threading
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
peer, _ = server.accept()

def ask_for_weights():
    client.sendall(b"GET /weights\r\n")
    return client.recv(100)

ask_for_weights()
