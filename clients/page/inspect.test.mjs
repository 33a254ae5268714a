// The Inspect tab: the same results as `mayhap info --json` for every golden file, and nothing leaves the browser.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { launch } from "./chromium.mjs";
import { figures, fileUrl, open } from "./pages.mjs";
import { run } from "./program.mjs";
import { Server } from "./server_process.mjs";

const golden = path.join(process.env.MAYHAP_SOURCE ?? new URL("../..", import.meta.url).pathname, "golden");
let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** All files of `golden/` that may be filters: the others describe them. */
function files(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) return files(full);
    return /\.(json|jsonl|md|txt|py|java|sh)$/.test(entry.name) ? [] : [full];
  });
}

/** Chooses a file, and waits for its result. */
async function choose(page, file, name = path.basename(file)) {
  await page.setInputFiles("#inspect-file", { name, mimeType: "application/octet-stream", buffer: typeof file === "string" ? readFileSync(file) : file });
  await page.waitForFunction((wanted) => document.getElementById("panel-inspect").dataset.inspected === wanted, name, { polling: "raf" });
}

/** What the page says: the objects of `info --json`, or null for an error. */
async function inspected(page) {
  if ((await page.locator(".inspect-message .danger").count()) > 0) return null;
  const text = await page.textContent("#inspect-json");
  return text.split("\n").map(exactly);
}

/** Numbers that a double cannot hold stay text. */
const exactly = (line) => JSON.parse(line.replace(/:(\d{16,})(?=[,}])/g, ':"$1"'));
const withoutFile = (objects) => objects.map(({ file, ...rest }) => rest);
const parsed = (stdout) => (stdout === "" ? null : withoutFile(stdout.trim().split("\n").map(exactly)));

// What the files of some folders do not say about themselves.
const OPTIONS = {
  "cassandra-filter": { from: "cassandra", P: "order=new" },
  "cassandra-filter-old": { from: "cassandra", P: "order=old" },
  "clickhouse-bloom_filter": { from: "clickhouse", fpr: "0.01" },
  "clickhouse-bloom_filter-types": { from: "clickhouse", fpr: "0.01" },
  "clickhouse-ngrambf_v1": { from: "clickhouse-tokenbf", probes: "3", P: "ngram=3" },
  "clickhouse-tokenbf_v1": { from: "clickhouse-tokenbf", probes: "3" },
  "hbase-chunk": { from: "hbase", probes: "5" },
  leveldb: { from: "leveldb" },
  "parquet-file": { from: "parquet" },
  "parquet-sbbf": { from: "parquet" },
};
// Parts of our own server's data, and a table without filters.
const NO_FILTERS = ["hbase-hfile", "log", "redis", "slots", "store"];

/** The options of a file that needs some; its note says at which rate ClickHouse wrote it. */
function optionsOf(file) {
  const folder = path.relative(golden, file).split(path.sep)[0];
  const options = { ...OPTIONS[folder] };
  const note = file.replace(/\.\w+$/, ".json");
  if (options.from === "clickhouse" && existsSync(note)) {
    const { params, column_rules } = JSON.parse(readFileSync(note, "utf8"));
    options.fpr = String(params.fpp);
    if (column_rules !== undefined) options.columns = String(column_rules.length);
  }
  return NO_FILTERS.includes(folder) ? null : options;
}

test("every golden file is shown as info --json describes it, with an empty network log", async (t) => {
  const all = files(golden);
  assert.ok(all.length > 300, `${all.length} files`);
  const page = await open(t, browser, fileUrl, { hash: "#tab=inspect" });
  // One process describes all of them; files that it refuses have no lines.
  const lines = (await run(["info", "--json", ...all])).stdout.trim().split("\n").map(exactly);
  const byFile = new Map();
  for (const line of lines) byFile.set(line.file, [...(byFile.get(line.file) ?? []), line]);
  const expected = all.map((file) => (byFile.has(file) ? withoutFile(byFile.get(file)) : null));
  let [shown, refused, helped] = [0, 0, 0];
  const unread = [];
  for (const [at, file] of all.entries()) {
    const name = path.relative(golden, file);
    await choose(page, file);
    const found = await inspected(page);
    if (expected[at] === null) {
      assert.equal(found, null, `info refuses ${name}`);
      refused += 1;
      const options = optionsOf(file);
      if (options === null) continue;
      const given = Object.entries(options).flatMap(([option, value]) => [option === "P" ? "-P" : `--${option}`, value]);
      const { stdout, stderr } = await run(["info", "--json", ...given, file]);
      const again = parsed(stdout);
      if (again === null) { unread.push(`${name}: ${stderr}`); continue; }
      const { from, ...fields } = options;
      await page.selectOption("#inspect-format", from);
      for (const [option, value] of Object.entries(fields)) await page.fill(`#inspect-${option}`, value);
      await page.evaluate(() => delete document.getElementById("panel-inspect").dataset.inspected);
      await page.getByRole("button", { name: "Read again" }).click();
      await page.waitForFunction(() => "inspected" in document.getElementById("panel-inspect").dataset);
      assert.deepEqual(withoutFile(await inspected(page)), again, name);
      helped += 1;
      continue;
    }
    shown += 1;
    assert.notEqual(found, null, `${name}: ${await page.textContent(".inspect-message")}`);
    assert.deepEqual(withoutFile(found), expected[at], name);
    // The figures that people see are those of the first filter.
    const visible = await figures(page, ".inspect-filter");
    for (const [field, value] of Object.entries(expected[at][0])) assert.equal(visible[field], String(value), `${field} of ${name}`);
  }
  console.log(`${shown} files are shown, ${refused} refused by both, ${helped} of these shown with their options`);
  assert.deepEqual(unread, []);
  assert.ok(shown > 250, `${shown} files are shown`);
});

test("the page of a server shows the same", async (t) => {
  const server = await Server.start(t);
  const page = await open(t, browser, server.url, { hash: "#tab=inspect" });
  const some = files(golden).filter((file) => /\.(mayhap|parquet|rf|rdb)$/.test(file)).slice(0, 60);
  for (const file of some) {
    const expected = parsed((await run(["info", "--json", file])).stdout);
    if (expected === null) continue;
    await choose(page, file);
    assert.deepEqual(withoutFile(await inspected(page)), expected, file);
  }
});

test("pasted keys get the answers of mayhap check", async (t) => {
  const page = await open(t, browser, fileUrl, { hash: "#tab=inspect" });
  const file = path.join(golden, "parquet-file", "arrow-100.parquet");
  const keys = Array.from({ length: 3000 }, (_, at) => `key-${at}`);
  const folder = mkdtempSync(path.join(tmpdir(), "mayhap-keys-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(path.join(folder, "keys.txt"), `${keys.join("\n")}\n`);
  const { stdout } = await run(["check", file, "--column", "s", "--row-group", "0", path.join(folder, "keys.txt")]);
  const present = stdout.split("\n").filter((line) => line !== "");
  await choose(page, file);
  await page.$eval("#inspect-keys", (area, text) => { area.value = text; }, keys.join("\n"));
  await page.getByRole("button", { name: "Query", exact: true }).click();
  await page.waitForSelector(".answers li");
  assert.match(await page.textContent(".check-result p"), new RegExp(`^${present.length} of 3,000 `));
  const answers = await page.$$eval(".answers li", (all) => all.map((one) => [one.querySelector("code").textContent, one.querySelector("[data-answer]").dataset.answer]));
  for (const [key, answer] of answers) assert.equal(answer, String(present.includes(key)), key);
});

test("a file may be dropped anywhere", async (t) => {
  const page = await open(t, browser, fileUrl);
  const bytes = [...readFileSync(path.join(golden, "native", "bloom.mayhap"))];
  const transfer = await page.evaluateHandle((content) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(content)], "dropped.mayhap"));
    return data;
  }, bytes);
  for (const place of [".plan-form", ".drop"]) {
    await page.evaluate(() => { delete document.getElementById("panel-inspect").dataset.inspected; });
    await page.dispatchEvent(place, "dragover", { dataTransfer: transfer });
    await page.dispatchEvent(place, "drop", { dataTransfer: transfer });
    await page.waitForSelector('#panel-inspect[data-inspected="dropped.mayhap"] .inspect-filter');
  }
});

test("a file that is too large for a server is not sent", async (t) => {
  const server = await Server.start(t);
  const page = await open(t, browser, server.url, { hash: "#tab=inspect" });
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array((64 << 20) + 1)], "large.bin"));
    const input = document.getElementById("inspect-file");
    input.files = data.files;
    input.dispatchEvent(new Event("change"));
  });
  await page.waitForSelector('#panel-inspect[data-inspected="large.bin"]');
  const text = await page.textContent(".inspect-message");
  assert.match(text, /large\.bin/);
  assert.match(text, /64 MiB.*mayhap info/);
});

test("damaged, hostile and foreign files get an explanation, and the next file works", async (t) => {
  const page = await open(t, browser, fileUrl, { hash: "#tab=inspect" });
  const good = path.join(golden, "native", "bloom.mayhap");
  const damaged = readFileSync(good);
  damaged[damaged.length >> 1] ^= 1;
  const name = '<img src=x onerror="alert(1)">.mayhap';
  await choose(page, damaged, name);
  const text = await page.textContent(".inspect-message");
  assert.ok(text.includes(name), text);
  assert.match(text, /pages are damaged|damaged/);
  await choose(page, Buffer.from("some\nlines\nof text\n"), "lines.txt");
  assert.match(await page.textContent(".inspect-message"), /mayhap build/);
  // Random bytes after each format's first bytes, truncated files: an error or a filter, never a page that stops.
  for (const file of files(golden).filter((_, at) => at % 40 === 0)) {
    const bytes = readFileSync(file);
    await choose(page, bytes.subarray(0, bytes.length >> 1), "half");
    for (let at = 8; at < bytes.length; at += 37) bytes[at] ^= 0xff;
    await choose(page, bytes, "flipped");
  }
  await choose(page, good);
  assert.equal((await inspected(page)).length, 1);
});
