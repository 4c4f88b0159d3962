// Candidates that use npm's consul package: node npm-candidate.js PORT KEY,KEY VALUE once|again [TTL]
'use strict';

const [port, keys, value, mode, ttl = '15s'] = process.argv.slice(2);
const consul = require('consul')({ host: '127.0.0.1', port });

for (const key of keys.split(',')) {
  const lock = consul.lock({ key, value, session: { name: 'web', ttl } });

  lock.on('acquire', () => console.log('acquire'));
  lock.on('retry', () => console.log('retry'));
  lock.on('release', () => console.log('release'));
  lock.on('error', (err) => {
    console.log('error', err.message);
    process.exit(1); // with the agent gone, competing again would never pause
  });
  lock.on('end', () => {
    console.log('end');
    if (mode === 'again') lock.acquire();
  });
  lock.acquire();
}
