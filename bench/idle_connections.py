#!/usr/bin/env python3
"""Memory of connections that only stay open.

    bench/idle_connections.py [--connections N] [HOLDFAST]

Starts a server whose limits and idle timer are raised, opens N connections to it from several
loopback addresses and reads the server's resident memory: before, with all of them fresh, and when
each has had a request answered and has gone idle again. One JSON line. Each connection needs a
descriptor here and one in the server, so N is 100000 or what `ulimit -Hn` allows, if that is less.
Exit 1 if a connection was refused, lost or not answered.
"""
import argparse
import json
import os
import pathlib
import platform
import resource
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SPARE = 300  # descriptors for everything else; the server keeps 256 for itself
PER_ADDRESS = 10000  # a source address has fewer than 28,232 ports by default
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: t.example\r\n\r\n"


def resident_bytes(pid):
    pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE")


def open_connections(count, port):
    connections = []
    for number in range(count):
        source = f"127.0.1.{1 + number // PER_ADDRESS}"
        connections.append(socket.create_connection(("127.0.0.1", port), 30, (source, 0)))
    return connections


def answer(connection):
    got = b""
    while not got.endswith(b"\r\n\r\nok"):
        more = connection.recv(4096)
        if not more:
            sys.exit("idle_connections: a connection was lost: " + got.decode("latin-1"))
        got += more
    if not got.startswith(b"HTTP/1.1 200 "):
        sys.exit("idle_connections: not answered: " + got.decode("latin-1"))


def settled(pid):
    """Until it grows no more."""
    last = 0
    while True:
        now = resident_bytes(pid)
        if now == last:
            return now
        last = now
        time.sleep(0.5)


def measure(server, port, count):
    before = settled(server.pid)
    connections = open_connections(count, port)
    answer_last = connections[-1]
    answer_last.sendall(REQUEST)  # accepted in order: with this one all are
    answer(answer_last)
    fresh = settled(server.pid)
    for at in range(0, count, 500):  # as many at one time as have their buffers out
        group = connections[at : at + 500]
        for connection in group:
            connection.sendall(REQUEST)
        for connection in group:
            answer(connection)
    used = settled(server.pid)
    for connection in connections:
        connection.sendall(REQUEST)
    for connection in connections:
        answer(connection)
    crowd = settled(server.pid)
    per = lambda now: round((now - before) / count)
    return {
        "bench": "idle_connections",
        "connections": count,
        "sources": 1 + (count - 1) // PER_ADDRESS,
        "server_kib_before": before // 1024,
        "bytes_each_fresh": per(fresh),
        "bytes_each_used": per(used),
        "bytes_each_after_all_at_once": per(crowd),
        "mib_of_100000": round((max(fresh, used, crowd) - before) / count * 100000 / 2**20),
        "kernel": platform.release(),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connections", type=int)
    parser.add_argument("holdfast", nargs="?", default=HERE / "../build/release/holdfast")
    arguments = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    most = hard - SPARE if hard != resource.RLIM_INFINITY else 1000000
    count = min(arguments.connections or 100000, most)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HOLDFAST_")}
    environment.update(
        HOLDFAST_HTTP_CONNECTIONS_MAX="1000000",
        HOLDFAST_HTTP_STREAMS_MAX="0",
        HOLDFAST_HTTP_IDLE_TIMEOUT_S="3600",
        HOLDFAST_LOG_LEVEL="error",
    )
    with tempfile.TemporaryDirectory(prefix="holdfast-idle-") as folder:
        command = [str(arguments.holdfast), "serve", "--data", folder + "/data", "--listen"]
        command += ["127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as server:
            try:
                ready = server.stdout.readline().decode().split()
                if ready[:1] != ["ready"]:
                    sys.exit("idle_connections: the server is not ready")
                port = int(ready[1].rsplit(":", 1)[1])
                print(json.dumps(measure(server, port, count)))
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
