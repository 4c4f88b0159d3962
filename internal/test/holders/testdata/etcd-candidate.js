// Candidates that use npm's etcd3 and etcd-leader: node etcd-candidate.js election|lock|leader ENDPOINT NAME VALUE TTL
'use strict';
const http = require('http');

const [kind, endpoint, name, value, ttl] = process.argv.slice(2);
const leads = () => console.log('leads');

// client has the methods of npm's node-etcd that etcd-leader calls.
const client = () => {
  const send = (method, key, query, done) => {
    let over = false;
    const end = (err, result) => { if (!over) { over = true; done(err, result); } };
    const request = http.request(`${endpoint}/v2/keys${key}?${new URLSearchParams(query)}`, { method }, (response) => {
      let text = '';
      response.on('data', (part) => { text += part; });
      response.on('error', end);
      response.on('end', () => {
        const result = JSON.parse(text);
        end(result.errorCode ? new Error(result.message) : null, result);
      });
    });
    request.on('error', end);
    request.end();
    return { abort() { over = true; request.destroy(); } };
  };
  return {
    create: (key, v, options, done) => send('POST', key, { ...options, value: v }, done),
    set: (key, v, options, done) => send('PUT', key, { ...options, value: v }, done),
    get: (key, options, done) => send('GET', key, options, done),
    del: (key, done) => send('DELETE', key, {}, done),
  };
};

const lock = (etcd) => etcd.lock(name).ttl(Number(ttl)).acquire().then(leads, (err) => {
  if (err.constructor.name !== 'EtcdLockFailedError') throw err;
  setTimeout(lock, 100, etcd);
});

if (kind === 'leader') {
  const candidate = require('etcd-leader')(client(), name, value, ttl);
  candidate.on('elected', leads);
  candidate.on('unelected', () => console.log('unelected'));
  candidate.on('error', (err) => { throw err; });
  candidate.start();
} else {
  const etcd = new (require('etcd3').Etcd3)({ hosts: endpoint });
  if (kind === 'lock') {
    lock(etcd);
  } else {
    const campaign = etcd.election(name, Number(ttl)).campaign(value);
    campaign.on('elected', leads);
    campaign.on('error', (err) => console.log(`error ${err.message}`));
  }
}
