// client.bf and client.cf of node's redis, every method, in both protocols and both layouts.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createClient, RESP_TYPES } from 'redis';
import { startServer } from './server.mjs';

const numbers = (from, to) => Array.from({ length: to - from }, (_, at) => String(from + at));
const howMany = (found) => found.filter(Boolean).length;
// This version has no method for CF.MEXISTS.
const cfMExists = async (client, key, items) => (await client.sendCommand(['CF.MEXISTS', key, ...items])).map(Boolean);

for (const layout of ['native', 'redisbloom']) {
  for (const RESP of [2, 3]) {
    describe(`${layout}, RESP${RESP}`, () => filters(layout, RESP));
  }
}

function filters(layout, RESP) {
  let server, another, client, other;

  before(async () => {
    [server, another] = await Promise.all([0, 1].map(() => startServer(['--layout', layout])));
    [client, other] = await Promise.all(
      [server, another].map(({ port }) => createClient({ RESP, socket: { port, host: '127.0.0.1' } }).connect()),
    );
  });
  after(async () => {
    await Promise.all([client.close(), other.close()]);
    assert.deepEqual(await Promise.all([server.end(), another.end()]), [0, 0]);
  });
  beforeEach(() => Promise.all([client.flushAll(), other.flushAll()]));

  test('bloom: add and exists', async () => {
    assert.equal(await client.bf.add('b', 'apple'), true);
    assert.equal(await client.bf.add('b', 'apple'), false);
    assert.deepEqual(await client.bf.mAdd('b', ['apple', 'pear', '']), [false, true, true]);
    assert.equal(await client.bf.exists('b', 'pear'), true);
    assert.equal(await client.bf.exists('b', 'plum'), false);
    assert.deepEqual(await client.bf.mExists('b', ['apple', 'plum', '']), [true, false, true]);
    assert.equal(await client.bf.card('b'), 3);
    assert.equal(await client.bf.card('nothing'), 0);
  });

  test('bloom: reserve, insert, info', async () => {
    assert.equal(await client.bf.reserve('b', 0.001, 1000, { EXPANSION: 4 }), 'OK');
    assert.equal(await client.bf.reserve('n', 0.001, 1000, { NONSCALING: true }), 'OK');
    await assert.rejects(client.bf.reserve('b', 0.01, 10), /item exists/);
    await assert.rejects(client.bf.reserve('c', 7, 10), /error rate must be in the range/);
    assert.deepEqual(await client.bf.insert('b', ['x', 'y'], { NOCREATE: true }), [true, true]);
    const made = { CAPACITY: 500, ERROR: 0.001, EXPANSION: 3 };
    assert.deepEqual(await client.bf.insert('c', ['x', 'x'], made), [true, false]);
    await assert.rejects(client.bf.insert('nothing', ['x'], { NOCREATE: true }), /not found/);
    const info = await client.bf.info('b');
    assert.equal(info['Number of items inserted'], 2);
    assert.equal(info['Number of filters'], 1);
    assert.equal(info['Expansion rate'], 4);
    assert.ok(info['Capacity'] >= 1000 && info['Size'] > 1000);
    assert.equal((await client.bf.info('n'))['Expansion rate'], null);
    assert.equal((await client.bf.info('c'))['Expansion rate'], 3);
  });

  test('bloom: grows and forgets nothing', async () => {
    const parts = Array.from({ length: 40 }, (_, part) => numbers(part * 500, part * 500 + 500));
    await Promise.all(parts.map((part) => client.bf.mAdd('b', part)));
    assert.equal(howMany(await client.bf.mExists('b', numbers(0, 20_000))), 20_000);
    const wrong = howMany(await client.bf.mExists('b', numbers(1_000_000, 1_020_000)));
    assert.ok(wrong < 400, `of 20,000 strangers 1 % may be found, not ${wrong}`);
    const growsInPlace = layout === 'native';
    assert.equal((await client.bf.info('b'))['Number of filters'] === 1, growsInPlace);
  });

  // Chunks are bytes; texts would spoil them.
  async function carry(family) {
    const binary = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
    let iterator = 0;
    for (;;) {
      const dumped = await binary[family].scanDump('b', iterator);
      iterator = dumped.iterator;
      if (iterator === 0) return;
      assert.equal(await other[family].loadChunk('copy', iterator, dumped.chunk), 'OK');
    }
  }

  test('bloom: travels to another server', async () => {
    await client.bf.reserve('b', 0.05, 1000);
    await client.bf.mAdd('b', numbers(0, 3000));
    const asked = numbers(0, 6000);
    const found = await client.bf.mExists('b', asked);
    assert.ok(howMany(found) > 3000, 'the false positives travel as well');
    await carry('bf');
    assert.deepEqual(await other.bf.mExists('copy', asked), found);
    assert.equal(await other.bf.card('copy'), await client.bf.card('b'));
  });

  test('cuckoo: add, count and delete', async () => {
    assert.equal(await client.cf.add('c', 'apple'), true);
    assert.equal(await client.cf.add('c', 'apple'), true);
    assert.equal(await client.cf.count('c', 'apple'), 2);
    assert.equal(await client.cf.addNX('c', 'apple'), false);
    assert.equal(await client.cf.addNX('c', 'pear'), true);
    assert.equal(await client.cf.exists('c', 'pear'), true);
    assert.equal(await client.cf.exists('c', 'plum'), false);
    assert.deepEqual(await cfMExists(client, 'c', ['apple', 'plum']), [true, false]);
    assert.equal(await client.cf.del('c', 'apple'), true);
    assert.equal(await client.cf.del('c', 'apple'), true);
    assert.equal(await client.cf.del('c', 'apple'), false);
    await assert.rejects(client.cf.del('nothing', 'apple'), /Not found/);
  });

  test('cuckoo: reserve, insert, info', async () => {
    const made = { BUCKETSIZE: 2, MAXITERATIONS: 10, EXPANSION: 4 };
    assert.equal(await client.cf.reserve('c', 1000, made), 'OK');
    await assert.rejects(client.cf.reserve('c', 1000), /item exists/);
    assert.deepEqual(await client.cf.insert('c', ['x', 'y'], { NOCREATE: true }), [true, true]);
    // Numbers in both protocols, as RedisBloom has it.
    assert.deepEqual((await client.cf.insertNX('c', ['x', 'z'], { CAPACITY: 100 })).map(Boolean), [false, true]);
    await assert.rejects(client.cf.insert('nothing', ['x'], { NOCREATE: true }), /not found/);
    await client.cf.del('c', 'x');
    const info = await client.cf.info('c');
    assert.equal(info['Number of items inserted'], 2);
    assert.equal(info['Number of items deleted'], 1);
    assert.equal(info['Number of filters'], 1);
    assert.equal(info['Bucket size'], 2);
    assert.equal(info['Expansion rate'], 4);
    assert.equal(info['Max iterations'], 10);
    assert.ok(info['Number of buckets'] > 0 && info['Size'] > 500);
  });

  test('cuckoo: travels to another server', async () => {
    await client.cf.reserve('b', 4000);
    await client.cf.insert('b', numbers(0, 3000));
    const asked = numbers(0, 6000);
    const found = await cfMExists(client, 'b', asked);
    assert.equal(howMany(found.slice(0, 3000)), 3000);
    await carry('cf');
    assert.deepEqual(await cfMExists(other, 'copy', asked), found);
  });

  test('dump and restore', async () => {
    await client.bf.mAdd('b', ['x', 'y']);
    const dumped = await client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }).dump('b');
    assert.equal(await other.restore('b', 100_000, dumped), 'OK');
    assert.deepEqual(await other.bf.mExists('b', ['x', 'y', 'z']), [true, true, false]);
    assert.ok((await other.pTTL('b')) > 0);
    await assert.rejects(other.restore('b', 0, dumped), /BUSYKEY/);
    assert.equal(await other.restore('b', 0, dumped, { REPLACE: true }), 'OK');
  });

  test('transactions', async () => {
    const told = await client.multi().bf.reserve('b', 0.01, 100).bf.add('b', 'x').bf.mExists('b', ['x', 'y']).exec();
    assert.deepEqual(told, ['OK', true, [true, false]]);
    const piped = await client.multi().bf.add('b', 'y').cf.add('c', 'y').execAsPipeline();
    assert.deepEqual(piped, [true, true]);
  });
}
