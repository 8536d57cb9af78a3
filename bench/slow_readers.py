#!/usr/bin/env python3
"""Which readers are cut off for their pace, by what carries their bytes.

    bench/slow_readers.py [--over lo|veth|veth-plain] [--seconds N] [--places N] [HOLDFAST]

Starts a server with an event of 300,000 places and reads its map (16 MB) at several paces and with
several receive buffers at once: programs that read slowly, on a fast network. Prints one JSON line
for each: after how many seconds it was cut off, or null, and by how many KiB its window opened.

lo: segments of up to 64 KiB. veth: a pair of interfaces with an MTU of 1,500 between two network
namespaces, whose segments come in batches, as with most network cards; veth-plain: one by one. For
those two run it as root in a namespace of its own: `unshare -n bench/slow_readers.py …`.
"""
import argparse
import ctypes
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
TOKEN = "token-of-the-bench-of-slow-readers"
MAP = "/v1/events/slow/map"
ROWS, SEATS = 400, 50  # of a section
PACES_KIB = (1.5, 2, 4, 8, 12, 20)
BUFFERS = (0, 65_536, 212_992)  # SO_RCVBUF; 0: what the system gives
LOOK_S = 0.25
NEW_NETWORK = 0x40000000


def run(command):
    subprocess.run(command.split(), check=True)


def make_networks(plain):
    """10.9.0.1 here, and a second network namespace that reaches it: a process in that."""
    run("ip link set lo up")
    other = subprocess.Popen(["unshare", "-n", "sleep", "3600"])
    time.sleep(0.5)
    run(f"ip link add server type veth peer name client netns {other.pid}")
    run("ip addr add 10.9.0.1/24 dev server")
    run("ip link set server up" + (" gso_max_segs 1" if plain else ""))
    run(f"nsenter -t {other.pid} -n ip addr add 10.9.0.2/24 dev client")
    run(f"nsenter -t {other.pid} -n ip link set client up")
    return other


def connected(address, buffer, other):
    """The namespace is one of the thread, so only a thread that ends here enters the other one."""
    made = []

    def connect():
        if other:
            network = os.open(f"/proc/{other.pid}/ns/net", os.O_RDONLY)
            if ctypes.CDLL(None).setns(network, NEW_NETWORK) != 0:
                sys.exit("slow_readers: the other network namespace cannot be entered")
            os.close(network)
        made.append(socket.socket())
        if buffer:
            made[0].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        made[0].connect(address)

    thread = threading.Thread(target=connect)
    thread.start()
    thread.join()
    return made[0]


def make_event(address, places):
    rows = [{"label": str(row), "seats": SEATS} for row in range(ROWS)]
    sections = [{"id": f"S{n}", "rows": rows} for n in range(max(1, places // (ROWS * SEATS)))]
    event = {"id": "slow", "name": "Slow", "publish": True, "sections": sections}
    body = json.dumps(event).encode()
    head = f"POST /v1/events HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer {TOKEN}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(address, 60) as connection:
        connection.sendall(head.encode() + body)
        if b" 202 " not in connection.recv(65536):
            sys.exit("slow_readers: the event was not made")
        answer = b""
        while b'"state":"open"' not in answer:  # its seats are built before
            time.sleep(0.05)
            connection.sendall(b"GET /v1/events/slow HTTP/1.1\r\nHost: t\r\n\r\n")
            answer = connection.recv(65536)


def read_slowly(connection, pace_kib, end):
    connection.sendall(f"GET {MAP} HTTP/1.1\r\nHost: t\r\n\r\n".encode())
    try:
        while time.monotonic() < end and connection.recv(int(pace_kib * 1024 * LOOK_S)):
            time.sleep(LOOK_S)
    except OSError:
        pass  # cut off


def acknowledged(port):
    """Of each connection that the server still has: what the kernel of its peer has taken."""
    command = ["ss", "-tinH", "state", "established", "sport", "=", f":{port}"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.findall(r":(\d+)\s*\n.*bytes_acked:(\d+)", text)
    return {int(peer): int(acked) for peer, acked in found}


def watch(port, readers, seconds):
    """When the server ended each reader, and what the kernels took from second to second."""
    began = time.monotonic()
    cut_off_s, acked = {}, {peer: [] for peer in readers}
    while time.monotonic() - began < seconds:
        time.sleep(1)
        alive = acknowledged(port)
        for peer in readers:
            if peer in alive:
                acked[peer].append(alive[peer])
            else:
                cut_off_s.setdefault(peer, round(time.monotonic() - began))
    return cut_off_s, acked


def measure(holdfast, over, seconds, places):
    host = "127.0.0.1" if over == "lo" else "10.9.0.1"
    other = None if over == "lo" else make_networks(over == "veth-plain")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HOLDFAST_")}
    environment.update(HOLDFAST_ADMIN_TOKEN=TOKEN, HOLDFAST_LOG_LEVEL="error")
    with tempfile.TemporaryDirectory() as folder:
        command = [str(holdfast), "serve", "--data", folder + "/data"]
        command += ["--listen", host + ":0", "--admin-listen", "127.0.0.1:0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
        try:
            ready = server.stdout.readline().decode().split()
            port = int(ready[1].rsplit(":", 1)[1])
            make_event((host, port), places)
            readers = {}
            end = time.monotonic() + seconds + 5  # not before the last look
            for pace in PACES_KIB:
                for buffer in BUFFERS:
                    connection = connected((host, port), buffer, other)
                    readers[connection.getsockname()[1]] = (pace, buffer)
                    arguments = (connection, pace, end)
                    threading.Thread(target=read_slowly, args=arguments, daemon=True).start()
            cut_off_s, acked = watch(port, readers, seconds)
        finally:
            server.kill()
            server.wait()
            if other:
                other.kill()
    for peer, (pace, buffer) in readers.items():
        taken = zip(acked[peer], acked[peer][1:])
        steps = [(after - before) // 1024 for before, after in taken if after - before >= 1024]
        print(json.dumps({"over": over, "kib_a_second": pace, "receive_buffer": buffer,
                          "cut_off_s": cut_off_s.get(peer), "steps_kib": steps[:8]}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--over", choices=("lo", "veth", "veth-plain"), default="lo")
    parser.add_argument("--seconds", type=int, default=75)
    parser.add_argument("--places", type=int, default=300_000)
    parser.add_argument("holdfast", nargs="?", default=HERE.parent / "build/release/holdfast")
    arguments = parser.parse_args()
    if not shutil.which("ss"):
        print("skipped: no ss (iproute2) here")
        sys.exit(4)
    measure(arguments.holdfast, arguments.over, arguments.seconds, arguments.places)


if __name__ == "__main__":
    main()
