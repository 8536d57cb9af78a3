#!/usr/bin/env python3
"""Which readers are cut off for their pace, by what carries their bytes.

    bench/slow_readers.py [--over lo|veth|veth-plain] [--seconds N] [HOLDFAST]

Starts a server with an event of 300,000 places and reads its map (16 MB) at several paces and with
several receive buffers at once: a program that reads slowly, on a fast network. Prints one JSON line
for each: after how many seconds it was cut off, or null, and by how many KiB its window opened.

lo: segments of up to 64 KiB. veth: a pair of interfaces with an MTU of 1,500 between two network
namespaces, whose segments come in batches, as with most network cards; veth-plain: one by one. Those
two need root and run by themselves in `unshare -n`.
"""
import argparse
import ctypes
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from large_event import EVENT, TOKEN, Connection, make_event  # noqa: E402

ROWS = 6_000
PACES_KIB = (1.5, 2, 4, 8, 12, 20)
BUFFERS = (0, 65_536, 212_992)  # SO_RCVBUF; 0: what the system gives
LOOK_S = 0.25
NEW_NETWORK = 0x40000000


def run(command):
    subprocess.run(command.split(), check=True)


def make_networks(plain):
    """Makes 10.9.0.1 of this network namespace reachable from a second one: its process."""
    run("ip link set lo up")
    other = subprocess.Popen(["unshare", "-n", "sleep", "3600"])
    time.sleep(0.5)
    run(f"ip link add server type veth peer name client netns {other.pid}")
    run("ip addr add 10.9.0.1/24 dev server")
    run("ip link set server up" + (" gso_max_segs 1" if plain else ""))
    run(f"nsenter -t {other.pid} -n ip addr add 10.9.0.2/24 dev client")
    run(f"nsenter -t {other.pid} -n ip link set client up")
    return other


def acknowledged(port, peers):
    """Of each connection that the server still has: the bytes that its peer's kernel has taken."""
    text = subprocess.run(
        ["ss", "-tinH", "state", "established", "sport", "=", f":{port}"],
        capture_output=True, text=True, check=True).stdout
    for peer, info in re.findall(r":(\d+)\s*\n\s+(.*)", text):
        acked = re.search(r"bytes_acked:(\d+)", info)
        if acked and int(peer) in peers:
            peers[int(peer)].append(int(acked[1]))
    return {int(peer) for peer in re.findall(r":(\d+)\s*\n", text)}


def read_slowly(connection, pace_kib, end):
    connection.sendall(f"GET {EVENT}/map HTTP/1.1\r\nHost: t\r\n\r\n".encode())
    try:
        while time.monotonic() < end and connection.recv(int(pace_kib * 1024 * LOOK_S)):
            time.sleep(LOOK_S)
    except OSError:
        pass  # cut off


def measure(holdfast, over, seconds):
    host = "127.0.0.1" if over == "lo" else "10.9.0.1"
    other = None if over == "lo" else make_networks(over == "veth-plain")
    with tempfile.TemporaryDirectory() as folder:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HOLDFAST_")}
        environment.update(HOLDFAST_ADMIN_TOKEN=TOKEN, HOLDFAST_LOG_LEVEL="error")
        command = [str(holdfast), "serve", "--data", folder + "/data"]
        command += ["--listen", host + ":0", "--admin-listen", "127.0.0.1:0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
        port = int(server.stdout.readline().decode().split()[1].rsplit(":", 1)[1])
        try:
            make_event(Connection(port, host), ROWS)
            readers = connect(host, port, other)
            watch(port, readers, seconds)
        finally:
            server.kill()
            server.wait()
            if other:
                other.kill()
    for (pace, buffer), (cut_s, acked) in readers.values():
        pairs = zip(acked, acked[1:])
        steps = [(after - before) // 1024 for before, after in pairs if after - before >= 1024]
        print(json.dumps({"over": over, "KiB_a_second": pace, "receive_buffer": buffer,
                          "cut_off_after_s": cut_s, "steps_KiB": steps[:8]}))
