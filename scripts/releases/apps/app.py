"""A server of Python that drains on SIGTERM by itself: procsup can help only Node, Deno and Bun."""

import os
import signal
import socket
import sys
import threading
import time

KIND = os.environ.get("KIND", "old")
INSTANCE = os.environ["PROCSUP_INSTANCE"]
PORT = int(os.environ["PORT"])
ACCEPTED = os.environ.get("ACCEPTED")
BEGUN = time.monotonic()
# Seconds without a request after which a connection of an ending server is closed.
IDLE = 1
ending = threading.Event()


def end(*_):
    if KIND != "hangs":
        ending.set()


def serve(connection):
    connection.settimeout(0.1)
    data, last = b"", time.monotonic()
    with connection:
        while True:
            try:
                piece = connection.recv(4096)
            except TimeoutError:
                if ending.is_set() and time.monotonic() - last > IDLE:
                    return
                continue
            except OSError:
                return
            if piece == b"":
                return
            data, last = data + piece, time.monotonic()
            if not data.endswith(b"\r\n\r\n") or KIND == "silent":
                continue
            wants_end = ending.is_set() or b"connection: close" in data.lower()
            data = b""
            is_bad = KIND == "bad" or (KIND == "bad_later" and time.monotonic() - BEGUN > 3)
            status = "503 Service Unavailable" if is_bad else "200 OK"
            body = f"{KIND} {INSTANCE} {os.getpid()}"
            close = "Connection: close\r\n" if wants_end else ""
            connection.sendall(
                f"HTTP/1.1 {status}\r\n{close}Content-Length: {len(body)}\r\n\r\n{body}".encode()
            )
            if wants_end:
                return


def eat():
    eaten = []
    while True:
        eaten.append(b"x" * (20 * 1024 * 1024))
        time.sleep(0.1)


signal.signal(signal.SIGTERM, end)
if KIND in ("crash", "exit"):
    sys.exit(1 if KIND == "crash" else 0)
if KIND == "deaf":
    ending.wait()
    sys.exit()
if KIND == "slow":
    time.sleep(2)
if KIND == "other_port":
    listener = socket.create_server(("127.0.0.1", PORT + 20_000))
elif os.environ.get("LISTEN_PID") == str(os.getpid()):
    listener = socket.socket(fileno=3)
else:
    listener = socket.create_server(("127.0.0.1", PORT), reuse_port=True)
if KIND == "crash_later":
    threading.Timer(2, lambda: os._exit(1)).start()
if KIND == "memory":
    threading.Thread(target=eat, daemon=True).start()
listener.settimeout(0.1)
served = []
while not ending.is_set():
    try:
        connection, (_, port) = listener.accept()
    except TimeoutError:
        continue
    if ACCEPTED:
        with open(ACCEPTED, "a", encoding="ascii") as file:
            file.write(f"{port}\n")
    served.append(threading.Thread(target=serve, args=(connection,), daemon=True))
    served[-1].start()
# An open listener would go on taking clients into its queue, which is lost at the end.
listener.close()
for thread in served:
    thread.join()
