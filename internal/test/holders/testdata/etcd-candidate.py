"""A candidate that uses Python's etcd3: etcd-candidate.py HOST PORT NAME TTL"""
import sys
import time

import etcd3

host, port, name, ttl = sys.argv[1:]
lock = etcd3.client(host, int(port)).lock(name, ttl=int(ttl))
while not lock.acquire(timeout=0):  # other timeouts fail with Debian's tenacity
    time.sleep(0.1)
print('leads', flush=True)
while True:
    time.sleep(int(ttl) / 3)
    lock.refresh()
