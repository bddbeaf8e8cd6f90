import hashlib, threading, time
end = time.time() + 7
data = bytes(1)
hashlib.pbkdf2_hmac("sha256", b"x", b"y", 200_000)
began = time.process_time()
hashlib.pbkdf2_hmac("sha256", b"x", b"y", 1_000_000)
rounds = 1_000_000 / max(time.process_time() - began, 0.01)
hashlib.pbkdf2_hmac("sha256", b"x", b"y", int(rounds * max(end - time.time(), 1)))
