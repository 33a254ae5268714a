// Starts servers for the tests of the Server tab, and talks to them as a Redis client does.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

const target = process.env.CARGO_TARGET_DIR ?? new URL("../../target", import.meta.url).pathname;
export const program = process.env.MAYHAP ?? path.join(target, "debug", "mayhap");

/** A port that was free a moment ago: a restarted server needs the same ones again. */
function freePort() {
  return new Promise((resolve, reject) => {
    const listener = net.createServer();
    listener.once("error", reject);
    listener.listen(0, "127.0.0.1", () => {
      const { port } = listener.address();
      listener.close(() => resolve(port));
    });
  });
}

export class Server {
  /** Starts a server with a page; it stops after the test. */
  static async start(test, { password = "", options = [] } = {}) {
    const server = new Server();
    server.password = password;
    server.folder = mkdtempSync(path.join(tmpdir(), "mayhap-page-"));
    server.port = await freePort();
    server.http = await freePort();
    server.options = options;
    test.after(async () => {
      await server.stop();
      rmSync(server.folder, { recursive: true, force: true });
    });
    await server.run();
    return server;
  }

  get url() {
    return `http://127.0.0.1:${this.http}/`;
  }

  async run() {
    const words = ["serve", "--port", String(this.port), "--http", `127.0.0.1:${this.http}`, "--dir", this.folder, ...this.options];
    const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, MAYHAP_PASSWORD: this.password } });
    let output = "";
    await new Promise((resolve, reject) => {
      const see = (bytes) => {
        output += bytes;
        if (output.includes("page on")) resolve();
      };
      child.stdout.on("data", see);
      child.stderr.on("data", see);
      child.once("error", reject);
      child.once("exit", (code) => reject(new Error(`mayhap serve ended with ${code}: ${output}`)));
    });
    this.child = child;
  }

  async stop() {
    const child = this.child;
    this.child = null;
    if (!child) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await ended;
  }

  async client() {
    const client = new RedisClient(net.connect(this.port, "127.0.0.1"));
    if (this.password !== "") await client.call("AUTH", this.password);
    await client.call("PING");
    return client;
  }
}

/** A client for simple replies, integers, errors and nulls: all that these tests need. */
class RedisClient {
  constructor(socket) {
    this.socket = socket;
    this.waiting = [];
    let buffered = "";
    socket.setEncoding("latin1");
    socket.on("data", (text) => {
      const lines = (buffered + text).split("\r\n");
      buffered = lines.pop();
      for (const line of lines) this.waiting.shift()?.(line);
    });
    // A server that stops closes its connections.
    socket.on("error", () => {});
  }

  call(...words) {
    const parts = words.map((word) => Buffer.from(word));
    const chunks = [`*${parts.length}\r\n`, ...parts.flatMap((part) => [`$${part.length}\r\n`, part, "\r\n"])];
    this.socket.write(Buffer.concat(chunks.map((chunk) => Buffer.from(chunk))));
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  close() {
    this.socket.destroy();
  }
}
