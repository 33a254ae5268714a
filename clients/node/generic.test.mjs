// What else node's redis does with a server: transactions, expiry, scans, names, settings, passwords, TLS, many at once.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { createClient, createClientPool, WatchError } from 'redis';
import { startServer } from './server.mjs';

for (const RESP of [2, 3]) {
  describe(`RESP${RESP}`, () => generic(RESP));
}

function generic(RESP) {
  let server, client;
  const to = (port, more = {}) => ({ RESP, socket: { port, host: '127.0.0.1', reconnectStrategy: false }, ...more });

  before(async () => {
    server = await startServer();
    client = await createClient(to(server.port)).connect();
  });
  after(async () => {
    await client.close();
    assert.equal(await server.end(), 0);
  });
  beforeEach(() => client.flushAll());

  test('a watched key that changes', async () => {
    const pool = await createClientPool(to(server.port)).connect();
    await pool.execute(async (mine) => {
      await mine.watch('b');
      await client.bf.add('b', 'somebody else');
      await assert.rejects(mine.multi().bf.add('b', 'x').exec(), WatchError);
      await mine.watch('b');
      assert.deepEqual(await mine.multi().bf.add('b', 'x').exec(), [true]);
    });
    await pool.close();
  });

  test('expiry', async () => {
    await client.bf.add('b', 'x');
    assert.equal(await client.ttl('b'), -1);
    assert.equal(await client.expire('b', 100), 1);
    assert.ok((await client.ttl('b')) > 0);
    assert.equal(await client.persist('b'), 1);
    assert.equal(await client.pExpire('b', 1), 1);
    while ((await client.exists('b')) !== 0);
    assert.equal(await client.bf.exists('b', 'x'), false);
  });

  test('scan', async () => {
    const names = Array.from({ length: 300 }, (_, at) => `key:${at}`);
    await Promise.all(names.map((name) => client.set(name, 'x')));
    const seen = new Set();
    for await (const keys of client.scanIterator({ MATCH: 'key:*', COUNT: 7 })) keys.forEach((key) => seen.add(key));
    assert.deepEqual(seen, new Set(names));
    assert.equal(await client.dbSize(), 300);
  });

  test('keys', async () => {
    await client.bf.add('b', 'x');
    assert.equal(await client.rename('b', 'c'), 'OK');
    assert.equal(await client.copy('c', 'd'), 1);
    assert.equal(await client.type('d'), 'mayhap-bf');
    assert.equal(await client.del(['c', 'd']), 2);
    assert.equal(await client.set('s', 'x', { condition: 'NX', expiration: { type: 'EX', value: 100 } }), 'OK');
    assert.equal(await client.get('s'), 'x');
    assert.ok((await client.memoryUsage('s')) > 0);
  });

  test('names, settings, information', async () => {
    assert.equal(await client.clientSetName('some-name'), 'OK');
    assert.equal(await client.clientGetName(), 'some-name');
    const own = (await client.clientList()).find((one) => one.name === 'some-name');
    assert.equal(own.id, await client.clientId());
    assert.equal(own.resp, RESP);
    assert.deepEqual({ ...(await client.configGet('bf-error-rate')) }, { 'bf-error-rate': '0.01' });
    assert.equal(await client.configSet('bf-error-rate', '0.02'), 'OK');
    assert.equal(await client.configSet('bf-error-rate', '0.01'), 'OK');
    assert.match(await client.info('server'), /redis_mode:standalone/);
    assert.equal(await client.commandCount(), (await client.command()).length);
    assert.deepEqual((await client.moduleList()).map(({ name }) => name), ['bf', 'mayhap']);
  });

  test('many promises', async () => {
    await client.bf.reserve('b', 0.000001, 100_000);
    const clients = await Promise.all([0, 1, 2, 3].map(() => createClient(to(server.port)).connect()));
    const added = await Promise.all(
      clients.flatMap((one) => Array.from({ length: 3000 }, (_, at) => one.bf.add('b', `${at}`))),
    );
    assert.equal(added.filter(Boolean).length, await client.bf.card('b'));
    assert.ok((await client.bf.card('b')) > 2990);
    await Promise.all(clients.map((one) => one.close()));
  });

  test('password', async () => {
    const locked = await startServer([], { MAYHAP_PASSWORD: 'secret' });
    const attempt = (more) => {
      const one = createClient(to(locked.port, more));
      one.on('error', () => {});
      return one.connect();
    };
    await assert.rejects(attempt({ password: 'wrong' }), /WRONGPASS/);
    const stranger = attempt({}).then((one) => one.ping());
    await assert.rejects(stranger, /NOAUTH/);
    const known = await attempt({ password: 'secret' });
    assert.equal(await known.bf.add('b', 'x'), true);
    await known.close();
    await locked.end();
  });

  test('TLS', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mayhap-clients-'));
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name));
    const making = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost';
    const names = ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    await promisify(execFile)('openssl', [...making.split(' '), ...names, '-keyout', key, '-out', cert]);
    const sealed = await startServer(['--tls-port', '0', '--tls-cert', cert, '--tls-key', key]);
    const socket = { port: sealed.tlsPort, host: '127.0.0.1', tls: true, reconnectStrategy: false };
    const trusting = await createClient({ RESP, socket: { ...socket, ca: await readFile(cert) } }).connect();
    assert.equal(await trusting.bf.add('b', 'x'), true);
    await trusting.close();
    const distrustful = createClient({ RESP, socket });
    distrustful.on('error', () => {});
    await assert.rejects(distrustful.connect(), /self-signed/);
    await sealed.end();
    await rm(folder, { recursive: true });
  });
}
