#!/usr/bin/env python3
"""What reads of a large event cost those who want something else of the same io thread.

    bench/large_event.py [--places N] [HOLDFAST]

Starts a server with one io thread, makes an event of N places in rows of 50 and holds all of it, in
rows of a random order. Map, state and view are read one after the other while another process asks
for /healthz all the time: how long each answer took, and how long that process was kept waiting
meanwhile, at the median of seven reads and at worst. Then the server is killed and started again,
and each document is asked for as soon as it is ready. One JSON line.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import platform
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TOKEN = "token-of-the-bench-of-a-large-event"
ROW = 50
ROWS_A_SECTION = 400
READS = 7
EVENT = "/v1/events/large"
DOCUMENTS = {"map": EVENT + "/map", "state": EVENT + "/state", "view": EVENT}


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.room = bytearray(1 << 20)

    def ask(self, method, path, body=None):
        """Status, size of the body and its first bytes."""
        text = f"{method} {path} HTTP/1.1\r\nHost: t.example\r\nAuthorization: Bearer {TOKEN}\r\n"
        data = b"" if body is None else json.dumps(body).encode()
        if data:
            text += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        self.socket.sendall(text.encode() + b"\r\n" + data)
        got = b""
        while b"\r\n\r\n" not in got:
            more = self.socket.recv(65536)
            if not more:
                sys.exit("large_event: a connection was lost")
            got += more
        head, begin = got.split(b"\r\n\r\n", 1)
        lines = [line.split(b": ", 1) for line in head.lower().split(b"\r\n")[1:]]
        size = int(dict(lines).get(b"content-length", b"0"))
        left = size - len(begin)
        while left > 0:
            count = self.socket.recv_into(self.room, min(left, len(self.room)))
            if count == 0:
                sys.exit("large_event: a connection was lost")
            begin = begin or bytes(self.room[:count])
            left -= count
        return int(head.split()[1]), size, begin

    def must(self, status, *request):
        answer = self.ask(*request)
        if answer[0] != status:
            sys.exit(f"large_event: {request[:2]}: {answer[0]} {answer[2][:500]}")
        return answer


def look_on(port, pipe):
    """Asks again and again; tells the longest wait since it was last asked for that."""
    connection = Connection(port)
    longest = 0.0
    while True:
        before = time.perf_counter()
        connection.must(200, "GET", "/healthz")
        longest = max(longest, time.perf_counter() - before)
        time.sleep(0.0002)  # so that it does not take a core from the server
        if pipe.poll():
            if pipe.recv() == "end":
                return
            pipe.send(longest)
            longest = 0.0


class Onlooker:
    def __init__(self, port):
        self.pipe, other = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=look_on, args=(port, other), daemon=True)
        self.process.start()
        self.longest_wait_ms()

    def longest_wait_ms(self):
        self.pipe.send("tell")
        return self.pipe.recv() * 1000

    def end(self):
        self.pipe.send("end")
        self.process.join()


def read(connection, onlooker, path):
    onlooker.longest_wait_ms()
    before = time.perf_counter()
    size = connection.must(200, "GET", path)[1]
    taken = (time.perf_counter() - before) * 1000
    return taken, onlooker.longest_wait_ms(), size


def summary(reads):
    taken, waited, sizes = zip(*reads)
    return {
        "bytes": sizes[0],
        "answer_ms": round(statistics.median(taken), 1),
        "others_wait_ms": round(statistics.median(waited), 1),
        "others_wait_ms_worst": round(max(waited), 1),
    }


class Server:
    def __init__(self, holdfast, folder):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HOLDFAST_")}
        environment.update(HOLDFAST_ADMIN_TOKEN=TOKEN, HOLDFAST_LOG_LEVEL="error")
        command = [str(holdfast), "serve", "--io-threads", "1", "--data", folder + "/data"]
        command += ["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]
        before = time.perf_counter()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
        ready = self.process.stdout.readline().decode().split()
        self.start_ms = round((time.perf_counter() - before) * 1000)
        if ready[:1] != ["ready"]:
            sys.exit("large_event: the server is not ready")
        self.port = int(ready[1].rsplit(":", 1)[1])

    def kill(self):
        self.process.kill()
        self.process.wait()


def make_event(connection, rows):
    sections = []
    for first in range(0, rows, ROWS_A_SECTION):
        count = min(ROWS_A_SECTION, rows - first)
        of_section = [{"label": str(row), "seats": ROW} for row in range(count)]
        sections.append({"id": f"S{first // ROWS_A_SECTION}", "rows": of_section})
    event = {"id": "large", "name": "Large", "publish": True, "sections": sections}
    event["policy"] = {"max_per_order": ROW, "hold_ttl_s": 3600, "hold_max_life_s": 7200}
    connection.must(202, "POST", "/v1/events", event)
    while b'"state":"open"' not in connection.must(200, "GET", EVENT)[2]:
        time.sleep(0.01)


def hold_all(connection, rows):
    order = list(range(rows))
    random.Random(7).shuffle(order)
    for row in order:
        name = f"S{row // ROWS_A_SECTION}-{row % ROWS_A_SECTION}"
        seats = [f"{name}-{seat + 1}" for seat in range(ROW)]
        connection.must(201, "POST", EVENT + "/holds", {"seats": seats})


def measure(holdfast, folder, rows):
    server = Server(holdfast, folder)
    result = {"bench": "large_event", "places": rows * ROW, "kernel": platform.release()}
    try:
        connection = Connection(server.port)
        make_event(connection, rows)
        onlooker = Onlooker(server.port)
        first = read(connection, onlooker, DOCUMENTS["map"])
        result["first_map"] = summary([first])
        onlooker.end()
        hold_all(connection, rows)
        onlooker = Onlooker(server.port)
        for name, path in DOCUMENTS.items():
            reads = []
            for _ in range(READS):
                time.sleep(0.3)  # what was ready is too old
                reads.append(read(connection, onlooker, path))
            result[name] = summary(reads)
        time.sleep(0.3)
        onlooker.longest_wait_ms()
        time.sleep(1)
        result["nobody_reads_others_wait_ms"] = round(onlooker.longest_wait_ms(), 1)
        onlooker.end()
        server.kill()
        server = Server(holdfast, folder)
        result["start_ms"] = server.start_ms
        connection = Connection(server.port)
        onlooker = Onlooker(server.port)
        result["after_start"] = {
            name: summary([read(connection, onlooker, path)]) for name, path in DOCUMENTS.items()
        }
        onlooker.end()
    finally:
        server.kill()
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--places", type=int, default=1000000)
    parser.add_argument("holdfast", nargs="?", default=HERE / "../build/release/holdfast")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="holdfast-large-") as folder:
        print(json.dumps(measure(arguments.holdfast, folder, max(1, arguments.places // ROW))))


if __name__ == "__main__":
    main()
