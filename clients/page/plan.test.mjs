// The Plan tab: the same figures as `mayhap plan --json`, in the self-contained file and on the page of a server.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { launch } from "./chromium.mjs";
import { figures, fileUrl, open } from "./pages.mjs";
import { each, run } from "./program.mjs";
import { random, randomPlan, words } from "./random_plans.mjs";
import { Server, program } from "./server_process.mjs";

const POINTS = 500;
let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** Every value of the JSON, by the name that the page gives to it. */
function flat(object, start = "") {
  return Object.fromEntries(Object.entries(object).flatMap(([name, value]) =>
    value !== null && typeof value === "object" && !Array.isArray(value) ? Object.entries(flat(value, `${start}${name}.`)) : [[start + name, value]]));
}

/** Sets the fields of the form as a link does, and waits for the answer to exactly this request. */
async function ask(page, request) {
  await page.evaluate((hash) => { location.hash = hash; }, new URLSearchParams({ ...request, lang: "en" }).toString());
  await page.waitForFunction((wanted) => {
    const answered = document.getElementById("panel-plan").dataset.answered;
    if (!answered) return false;
    const found = JSON.parse(answered);
    const names = Object.keys(wanted);
    return names.length === Object.keys(found).length && names.every((name) => found[name] === wanted[name]);
  }, request, { polling: "raf" });
}

let expected = null;
async function expectations() {
  if (expected !== null) return expected;
  const next = random(19);
  const requests = Array.from({ length: POINTS }, () => randomPlan(next));
  const answers = await each(requests, (request) => run(words(request)));
  expected = requests.map((request, at) => ({ request, ...answers[at] }));
  return expected;
}

async function comparePoints(page) {
  let plans = 0;
  for (const { request, status, stdout } of await expectations()) {
    await ask(page, request);
    const context = JSON.stringify(request);
    const isError = await page.locator(".plan-message .danger").count();
    assert.equal(isError > 0, status !== 0, context);
    if (status !== 0) continue;
    plans += 1;
    const plan = JSON.parse(stdout);
    const shown = await figures(page, ".plan-summary");
    const all = flat(plan);
    for (const [name, value] of Object.entries(shown)) assert.equal(value, String(all[name]), `${name} of ${context}`);
    for (const name of ["kind", "why", "size_bytes", "bits_per_key", "keys", "false_positive_rate", "limit_bits_per_key"]) assert.ok(name in shown, `${name} of ${context}`);
    // Every kind that the plan names is in the table, with its size.
    const rows = await page.$$eval(".plan-kinds tbody tr", (all) => all.map((row) => [row.dataset.kind, row.querySelector('[data-field="size_bytes"]').dataset.value]));
    const sizes = Object.fromEntries(rows);
    assert.equal(rows.length, 12, context);
    for (const { kind, size_bytes: bytes } of plan.alternatives ?? []) assert.equal(sizes[kind], String(bytes), `${kind} of ${context}`);
  }
  assert.ok(plans > POINTS / 2, `only ${plans} of ${POINTS} requests have a plan`);
}

test("the self-contained file shows the figures of plan --json on 500 random points", async (t) => {
  await comparePoints(await open(t, browser, fileUrl));
});

test("the page of a server shows the figures of plan --json on 500 random points", async (t) => {
  const server = await Server.start(t);
  // Requests that have no plan are answered with a status that Chromium reports on its console.
  const context = await browser.newContext({ locale: "en" });
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(server.url);
  await comparePoints(page);
});

test("the self-contained file is at most 400 KB when packed", () => {
  const bytes = gzipSync(readFileSync(new URL(fileUrl)), { level: 9 }).length;
  console.log(`the self-contained file takes ${bytes} bytes, packed`);
  assert.ok(bytes <= 400_000, `${bytes} bytes`);
});

test("sliders, requirements and the language keep the state in the URL", async (t) => {
  const page = await open(t, browser, fileUrl);
  await page.fill("#plan-keys", "10M");
  await page.fill("#plan-fpr", "0.1%");
  await page.check("#plan-delete");
  await page.waitForSelector('.plan-summary [data-field="kind"][data-value="cuckoo"]');
  await page.getByRole("slider", { name: "Keys, slider" }).press("ArrowRight");
  await page.waitForFunction(() => location.hash.includes("keys=1e%2B7") === false && location.hash.includes("delete=1"));
  const url = page.url();
  const shown = await figures(page, ".plan-summary");
  await page.goto("about:blank");
  await page.goto(url);
  await page.waitForSelector('.plan-summary [data-field="kind"]');
  assert.deepEqual(await figures(page, ".plan-summary"), shown);
  await page.click("#language");
  await page.waitForSelector("html[lang=zh-CN]");
  assert.match(await page.textContent("#panel-plan h1"), /规划/);
  // No text is missing: a missing one would show its key.
  assert.doesNotMatch(await page.textContent("body"), /\b(plan|demo|kind|line|can|missing|inspect|shell)\.[a-z]/);
});

test("another quantity can be computed from what was computed before", async (t) => {
  const page = await open(t, browser, fileUrl);
  const value = (field) => page.getAttribute(`.plan-summary [data-field="${field}"]`, "data-value");
  const compute = async (name, request) => {
    await page.check(`#plan-${name}-solve`);
    await page.waitForFunction((wanted) => document.getElementById("panel-plan").dataset.answered === wanted, JSON.stringify(request));
    assert.equal(await page.locator(".plan-message .danger").count(), 0, name);
  };
  await page.waitForSelector('.plan-summary [data-field="kind"]');
  let size = await value("size_bytes");
  await compute("keys", { fpr: "0.01", memory: size });
  // The field shows 1,000,041; the request has all digits and no separators.
  const keys = await value("keys");
  assert.ok(Number(keys) >= 1e6 && Number(keys) < 1.01e6, keys);
  assert.match(await page.inputValue("#plan-keys"), /^1,00\d,\d{3}$/);
  await compute("fpr", { keys, memory: size });
  const rate = Number(await value("false_positive_rate"));
  assert.ok(rate > 0.0099 && rate <= 0.01, `${rate}`);
  await compute("memory", { keys, fpr: String(Number(rate.toPrecision(6))) });
  size = await value("size_bytes");
  assert.ok(Math.abs(Number(size) / 1241728 - 1) < 0.01, size);
});

test("numbers are understood as people type them, and a wrong one is explained in both languages", async (t) => {
  const page = await open(t, browser, fileUrl);
  for (const [text, keys] of [["2,500,000", "2500000"], ["2 500 000", "2500000"], ["２５００", "2500"], [" 10k ", "10000"]]) {
    await page.fill("#plan-keys", text);
    await page.waitForSelector(`.plan-summary [data-field="keys"][data-value="${keys}"]`);
  }
  await page.fill("#plan-fpr", "1 ％");
  await page.waitForSelector('.plan-summary [data-field="false_positive_rate"][data-value="0.01"]');
  await page.fill("#plan-fpr", "2");
  await page.getByText("False-positive rate: give a rate above 0 and below 1").waitFor();
  // The figures of the last answer are not those of this request.
  assert.equal(await page.inputValue("#plan-memory"), "–");
  assert.equal(await page.locator(".plan-summary.stale, .plan-charts.stale, .plan-kinds.stale, .plan-code.stale").count(), 4);
  await page.click("#language");
  await page.getByText("误判率：请填写大于 0 且小于 1 的数").waitFor();
});

test("a link in the other language translates the whole page", async (t) => {
  const page = await open(t, browser, fileUrl);
  await page.waitForSelector('.plan-summary [data-field="kind"]');
  await page.evaluate(() => { location.hash = "lang=zh&keys=5000"; });
  await page.waitForSelector('.plan-summary [data-field="keys"][data-value="5000"]');
  assert.match(await page.textContent("#panel-plan h1"), /规划/);
  assert.match(await page.title(), /布隆过滤器/);
  await page.evaluate(() => { location.hash = "lang=en&keys=6000"; });
  await page.waitForSelector('.plan-summary [data-field="keys"][data-value="6000"]');
  assert.match(await page.textContent("#panel-plan h1"), /Bloom filter/);
});

test("a small filter shows the bits of a key, and what a lookup finds", async (t) => {
  const page = await open(t, browser, fileUrl);
  await page.waitForSelector(".demo-picture .hit");
  const before = await page.locator(".demo-picture .bit.set, .demo-picture .bit.hit").count();
  await page.fill("#demo-key", "a new key");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.waitForSelector('.chip[aria-pressed="true"]:text-is("a new key")');
  const after = await page.locator(".demo-picture .bit.set, .demo-picture .bit.hit").count();
  assert.ok(after >= before);
  await page.fill("#demo-key", "a new key");
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await page.waitForFunction(() => document.querySelector(".demo-verdict").textContent.includes("it was added"));
});

const REQUIREMENTS = [{}, { delete: "1" }, { grow: "1" }, { window: "1" }, { static: "1" }, { static: "1", except: "1" }, { except: "1" }, { delete: "1", grow: "1" }];

async function showCode(page, request, hostile) {
  await page.evaluate((hash) => { location.hash = hash; }, new URLSearchParams({ ...request, hostile, lang: "en" }).toString());
  await page.waitForFunction((wanted) => {
    const found = JSON.parse(document.getElementById("panel-plan").dataset.answered ?? "{}");
    return Object.keys(wanted).length === Object.keys(found).length && Object.keys(wanted).every((name) => found[name] === wanted[name]);
  }, request);
}

test("the lines to copy for Rust compile and run", async (t) => {
  const page = await open(t, browser, fileUrl);
  const functions = [];
  for (const request of REQUIREMENTS) {
    for (const hostile of ["", "1"]) {
      await showCode(page, { keys: "1000", fpr: "0.01", ...request }, hostile);
      functions.push(`|| -> Result<(), Box<dyn std::error::Error>> {\n${await page.textContent('[data-code="rust"]')}\nOk(())\n}`);
    }
  }
  const source = process.env.MAYHAP_SOURCE ?? new URL("../..", import.meta.url).pathname;
  const folder = mkdtempSync(path.join(tmpdir(), "mayhap-rust-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(path.join(folder, "src"));
  writeFileSync(path.join(folder, "Cargo.toml"), `[package]\nname = "page-lines"\nedition = "2024"\n[workspace]\n[dependencies]\nmayhap = { path = ${JSON.stringify(path.join(source, "crates/mayhap"))} }\n`);
  writeFileSync(path.join(folder, "src/main.rs"), `fn main() {\n${functions.map((one) => `(${one})().unwrap();`).join("\n")}\n}\n`);
  // The versions of our own builds, which are there without a network.
  copyFileSync(path.join(source, "Cargo.lock"), path.join(folder, "Cargo.lock"));
  const target = process.env.CARGO_TARGET_DIR ?? path.join(source, "target");
  await promisify(execFile)("cargo", ["run", "--quiet", "--offline", "--target-dir", path.join(target, "page-lines")], { cwd: folder, maxBuffer: 1 << 24 });
});

test("the lines to copy for the command line and Redis work, for every kind", async (t) => {
  const page = await open(t, browser, fileUrl);
  const folder = mkdtempSync(path.join(tmpdir(), "mayhap-code-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const name of ["keys.txt", "queries.txt", "old.txt"]) writeFileSync(path.join(folder, name), "alice\nbob\n");
  writeFileSync(path.join(folder, "exceptions.txt"), "carol\n");
  const server = await Server.start(t);
  const client = await server.client();
  for (const request of REQUIREMENTS) {
    for (const hostile of ["", "1"]) {
      const all = { keys: "1000", fpr: "0.01", ...request };
      await showCode(page, all, hostile);
      const context = JSON.stringify({ ...all, hostile });
      for (const line of (await page.textContent('[data-code="cli"]')).split("\n")) {
        const parts = line.replace(/ +#.*/, "").split(" ");
        assert.equal(parts[0], "mayhap");
        const { status, stderr } = await run(parts.slice(1), { cwd: folder });
        assert.equal(status, 0, `${line}: ${stderr} (${context})`);
      }
      for (const line of (await page.textContent('[data-code="redis"]')).split("\n")) {
        const command = /^redis-cli -p 6380 (.*)$/.exec(line)?.[1];
        if (!command || (await page.textContent('[data-code="redis"]')).startsWith("#")) continue;
        const reply = await client.call(...command.split(" "));
        assert.match(reply, command.includes("RESERVE") || command.includes("WINDOW") ? /^\+OK$/ : /^:1$/, `${line} (${context})`);
      }
      await client.call("DEL", "seen");
      rmSync(path.join(folder, "seen.mayhap"), { force: true });
    }
  }
  client.close();
  assert.ok(program);
});
