// A server of its own for a test: the program, in a folder of its own, on ports of its own.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export async function startServer(options = [], environment = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'mayhap-clients-'));
  const child = spawn(process.env.MAYHAP, ['serve', '--port', '0', '--dir', folder, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const [told] = await Promise.race([
    once(lines, 'line'),
    ended.then(([status]) => Promise.reject(new Error(`the server ended with ${status}`))),
  ]);
  const ports = [...told.split(', data in')[0].matchAll(/127\.0\.0\.1:(\d+)/g)].map((found) => Number(found[1]));
  return {
    folder,
    port: ports[0],
    tlsPort: ports[1],
    // In an orderly way; how it ended.
    async end() {
      child.kill('SIGTERM');
      const [status] = await ended;
      await rm(folder, { recursive: true });
      return status;
    },
  };
}
