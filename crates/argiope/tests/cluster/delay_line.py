"""Network namespaces at a distance: TUN devices, and packets between them that take their time.

Usage: delay_line.py OUTSIDE WORKERS DISTANCES

OUTSIDE are addresses of this side: who connects from here does so from the first. WORKERS are those of the namespaces, one each.
DISTANCES is JSON: by worker, by address outside, the milliseconds there and back; none where nothing is said. Prints a line of
JSON: by worker, where its namespace is. Namespaces and devices are there until the standard input ends.
"""

import ctypes
import fcntl
import heapq
import itertools
import json
import os
import select
import socket
import struct
import subprocess
import sys
import time

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000
PACKET_BYTES_MAX = 65_536
# Packets under way at once; what comes beyond is lost, as in a router.
PACKETS_MAX = 10_000


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def device(addresses, routes):
    """A device of the namespace that this process is in: with these addresses, and the way to those others."""
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    request = fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"argiope%d", IFF_TUN | IFF_NO_PI))
    name = request[:16].rstrip(b"\0").decode()
    for address in addresses:
        ip("address", "add", address, "dev", name)
    ip("link", "set", name, "up")
    for address in routes:
        ip("route", "add", address, "dev", name)
    return tun


def enter_new_namespace():
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "a new network namespace")
    ip("link", "set", "lo", "up")


def relay(device_of, delay_of):
    """Passes packets on, each after the delay between its addresses, until the standard input ends."""
    devices = list(set(device_of.values()))
    under_way, numbers = [], itertools.count()
    while True:
        wait = max(0.0, under_way[0][0] - time.monotonic()) if under_way else None
        readable, _, _ = select.select([sys.stdin, *devices], [], [], wait)
        if sys.stdin in readable:
            return
        now = time.monotonic()
        for tun in readable:
            packet = os.read(tun, PACKET_BYTES_MAX)
            ends = socket.inet_ntoa(packet[12:16]), socket.inet_ntoa(packet[16:20])
            is_ipv4 = packet[0] >> 4 == 4
            if is_ipv4 and ends[1] in device_of and len(under_way) < PACKETS_MAX:
                heapq.heappush(under_way, (now + delay_of(*ends), next(numbers), device_of[ends[1]], packet))
        while under_way and under_way[0][0] <= now:
            _, _, tun, packet = heapq.heappop(under_way)
            os.write(tun, packet)


def main():
    outside, workers, distances = sys.argv[1].split(","), sys.argv[2].split(","), json.loads(sys.argv[3])
    device_of = dict.fromkeys(outside, device(outside, workers))
    namespaces = {}
    for worker in workers:
        enter_new_namespace()
        device_of[worker] = device([worker], ["default"])
        namespaces[worker] = f"/proc/{os.getpid()}/fd/{os.open('/proc/self/ns/net', os.O_RDONLY)}"

    def delay_of(source, target):
        there_and_back = distances.get(source, {}).get(target, 0) or distances.get(target, {}).get(source, 0)
        return there_and_back / 2 / 1000

    print(json.dumps(namespaces), flush=True)
    relay(device_of, delay_of)


try:
    main()
except (OSError, subprocess.CalledProcessError) as error:
    sys.exit(str(error))
