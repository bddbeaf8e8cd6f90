import http.server, threading
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Timer(7, server.shutdown).start()
server.serve_forever(poll_interval=20)
