"""Candidates that follow Consul's guide with Python's consul library: python-candidate.py PORT KEY,KEY VALUE [TTL]

Each watches its key, and acquires it whenever no session holds it. With a TTL in seconds, it renews its session.
"""
import sys
import threading
import time

import consul

port, keys, value, ttl = (sys.argv[1:] + [None])[:4]


def compete(key):
    client = consul.Consul(host='127.0.0.1', port=int(port))
    session = index = None
    while True:
        try:
            session = session or client.session.create(name='web', lock_delay=1, ttl=ttl and int(ttl))
            if ttl:
                client.session.renew(session)
            index, pair = client.kv.get(key, index=index, wait=f'{int(ttl or 120) // 2}s')
            if pair is None or 'Session' not in pair:
                client.kv.put(key, value, acquire=session)
        except consul.ConsulException:
            time.sleep(1)


for k in keys.split(','):
    threading.Thread(target=compete, args=(k,)).start()
