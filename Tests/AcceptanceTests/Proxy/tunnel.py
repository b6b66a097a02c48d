"""An HTTP proxy that opens tunnels, and servers with TLS before a plain one, all on 127.0.0.1.

usage: tunnel.py PORT CERTIFICATE KEY READY

The names that end in .test are the servers with TLS, which pass everything on to PORT. Every other name is refused. Prints the
head of each request to the proxy. Writes the proxy's port into READY.
"""
import os
import socket
import ssl
import sys
import threading


def listener():
    server = socket.create_server(("127.0.0.1", 0))
    return server, server.getsockname()[1]


def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def join(left, right):
    threading.Thread(target=pump, args=(left, right), daemon=True).start()
    pump(right, left)


def serve(server, handle):
    while True:
        connection, _ = server.accept()
        threading.Thread(target=handle, args=(connection,), daemon=True).start()


def main():
    plain, certificate, key, ready = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    secure, secure_port = listener()
    proxy, proxy_port = listener()

    def decrypt(connection):
        try:
            connection = context.wrap_socket(connection, server_side=True)
        except OSError:
            return
        join(connection, socket.create_connection(("127.0.0.1", int(plain))))

    def tunnel(connection):
        head = b""
        while b"\r\n\r\n" not in head and (data := connection.recv(4096)):
            head += data
        print(head.decode("latin-1").replace("\r\n", " | "), flush=True)
        words = head.split()
        if len(words) < 2 or words[0] != b"CONNECT" or not words[1].endswith(b".test:443"):
            connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            connection.close()
            return
        connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        join(connection, socket.create_connection(("127.0.0.1", secure_port)))

    threading.Thread(target=serve, args=(secure, decrypt), daemon=True).start()
    with open(ready + ".new", "w") as file:
        file.write(str(proxy_port))
    os.rename(ready + ".new", ready)
    serve(proxy, tunnel)


main()
