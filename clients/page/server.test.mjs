// The Server tab in a real browser against a real server.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { launch, violations } from "./chromium.mjs";
import { Server } from "./server_process.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** Opens the Server tab. The test fails if the page reports an error, opens a dialog or asks another host. */
async function open(t, server, { hash = "", ignore = null, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en", ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("dialog", (dialog) => {
    wrong.push(`a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(server.url) && !/^(data|blob):/.test(request.url())) wrong.push(`a request to ${request.url()}`);
  });
  page.on("console", (message) => {
    if (message.type() === "error" && !ignore?.test(message.text())) wrong.push(message.text());
  });
  t.after(async () => {
    await context.close();
    assert.deepEqual(wrong, []);
  });
  await page.goto(`${server.url}#tab=server${hash}`);
  return page;
}

const phase = (page, name) => page.waitForSelector(`#panel-server[data-phase="${name}"]`);
const figure = (page, name) => page.locator(`[data-figure="${name}"] .value`).textContent();
const row = (page, name) => page.locator("#server-table tbody tr").filter({ has: page.getByRole("button", { name, exact: true }) });
const NETWORK = /Failed to load resource|ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY/;

test("the figures follow a server under load", async (t) => {
  const server = await Server.start(t);
  const client = await server.client();
  await client.call("BF.RESERVE", "seen", "0.01", "100000");
  const page = await open(t, server);
  await phase(page, "live");
  let isRunning = true;
  let sent = 0;
  const load = (async () => {
    while (isRunning) {
      const batch = Array.from({ length: 100 }, (_, at) => client.call(at % 2 ? "BF.EXISTS" : "BF.ADD", "seen", `key ${(sent += 1)}`));
      await Promise.all(batch);
    }
  })();
  try {
    for (const command of ["bf.exists", "bf.add"]) {
      await page.waitForFunction((name) => {
        const cells = document.querySelectorAll(`[data-command="${name}"] td`);
        // Commands per second, and the median of their times.
        return cells.length > 1 && !["0", "–"].includes(cells[0].textContent) && /\d/.test(cells[1].textContent);
      }, command);
    }
    // Two events later the total has grown, and so has the table's number of keys.
    const total = () => page.locator('[data-figure="commands"] .more').textContent();
    const first = await total();
    await page.waitForFunction((text) => document.querySelector('[data-figure="commands"] .more').textContent !== text, first);
    const keys = () => row(page, "seen").locator('[data-column="keys"]').textContent();
    const before = await keys();
    await page.waitForFunction((text) => document.querySelector('#server-table [data-row="0"]').closest("tr").querySelector('[data-column="keys"]').textContent !== text, before);
    assert.notEqual(await figure(page, "commands"), "–");
    assert.equal(await page.locator(".spark polyline").count(), 4);
  } finally {
    isRunning = false;
    await load;
  }
  // And it falls again.
  await page.waitForFunction(() => document.querySelector('[data-figure="commands"] .value').textContent === "0");
});

test("the page survives a restart of the server, and shows it", async (t) => {
  const server = await Server.start(t);
  await (await server.client()).call("BF.ADD", "seen", "x");
  const page = await open(t, server, { ignore: NETWORK });
  await phase(page, "live");
  await row(page, "seen").waitFor();
  await page.evaluate(() => {
    globalThis.isSamePage = true;
  });
  await server.stop();
  await phase(page, "lost");
  assert.match(await page.locator("#server-status").textContent(), /no connection/);
  await server.run();
  await phase(page, "live");
  const client = await server.client();
  await client.call("BF.ADD", "new after the restart", "x");
  await row(page, "new after the restart").waitFor();
  assert.equal(await page.evaluate(() => globalThis.isSamePage), true);
});

test("a wrong password shows a message, and the right one the figures", async (t) => {
  const server = await Server.start(t, { password: "correct horse" });
  const page = await open(t, server, { ignore: /401|403|429/ });
  await phase(page, "login");
  assert.equal(await page.locator("#server-table").count(), 0);
  await page.getByLabel("Password").fill("wrong");
  await page.keyboard.press("Enter");
  await page.getByText("The password is wrong.").waitFor();
  assert.deepEqual(await violations(page), []);
  await page.getByLabel("Password").fill("correct horse");
  await page.keyboard.press("Enter");
  await phase(page, "live");
  // A script cannot read the session.
  assert.equal(await page.evaluate(() => document.cookie), "");
  // The session survives a reload, and ends with the password.
  await page.reload();
  await phase(page, "live");
  const client = await server.client();
  assert.equal(await client.call("CONFIG", "SET", "requirepass", "other"), "+OK");
  await phase(page, "login");
  await page.getByLabel("Password").fill("other");
  await page.getByRole("button", { name: "Log in" }).click();
  await phase(page, "live");
  await page.getByRole("button", { name: "Log out" }).click();
  await phase(page, "login");
});

test("hostile names are shown as text", async (t) => {
  const server = await Server.start(t);
  const client = await server.client();
  const markup = '<img src=x onerror="alert(1)">';
  const script = "</script><script>alert(2)</script>";
  const control = "a\r\n\u0000\u001b[31m\u202eb";
  const long = "<b>\u0007".repeat(2500);
  const bytes = Buffer.from([0xff, 0xfe, 0x41]);
  for (const name of [markup, script, control, long, bytes, "${alert(3)}", "__proto__", "javascript:alert(4)"]) {
    assert.equal(await client.call("BF.ADD", name, "x"), ":1");
  }
  // Too long for a request: shown, and nothing more.
  assert.equal(await client.call("BF.ADD", "y".repeat(1 << 20), "x"), ":1");
  await client.call("CONFIG", "SET", "slowlog-log-slower-than", "0");
  await client.call("BF.EXISTS", markup, markup);
  const page = await open(t, server);
  await phase(page, "live");
  await row(page, markup).waitFor();
  assert.equal(await page.locator("main img, main script, main iframe").count(), 0);
  await row(page, script).waitFor();
  await row(page, "__proto__").waitFor();
  await row(page, "a\\x0d\\x0a\\x00\\x1b[31m\\u{202e}b").waitFor();
  // Its width is that of the page, not of ten thousand letters.
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  // The name of the table is the key of the request: every filter answers.
  assert.equal(await page.locator("#server-table span.server-name").count(), 1);
  const names = await page.locator("#server-table button.server-name").allTextContents();
  assert.equal(names.length, 8);
  for (let at = 0; at < names.length; at += 1) {
    await page.locator("#server-table button.server-name").nth(at).click();
    await page.locator('[data-fact="keys"]').waitFor();
    await page.getByLabel("Keys to query or add").fill(`x\n${markup}`);
    await page.getByRole("button", { name: "Query" }).click();
    const answers = page.locator(".server-answers li");
    await answers.nth(1).waitFor();
    assert.match(await answers.nth(0).textContent(), /probably in it/, names[at]);
    assert.equal(await answers.nth(1).locator("bdi").textContent(), markup);
  }
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  assert.equal(await page.locator("main img, main script, main iframe").count(), 0);
  assert.match(await page.locator(".server-slow").textContent(), /<img src=x/);
  // The question before deleting is text, too.
  await row(page, markup).getByRole("button").click();
  await page.locator('[data-fact="keys"]').waitFor();
  await page.getByRole("button", { name: "Delete filter" }).click();
  const dialog = page.getByRole("dialog");
  assert.match(await dialog.textContent(), /<img src=x onerror="alert\(1\)">/);
  assert.equal(await dialog.locator("img").count(), 0);
  await dialog.getByRole("button", { name: "Delete filter" }).click();
  await page.getByText("was deleted").waitFor();
  assert.equal(await client.call("EXISTS", markup), ":0");
});

test("filters are created, filled, queried and deleted with the keyboard", async (t) => {
  const server = await Server.start(t);
  const client = await server.client();
  const page = await open(t, server, { ignore: /422/ });
  await phase(page, "live");
  await page.getByRole("button", { name: "New filter" }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.type("my filter");
  await page.keyboard.press("Enter");
  const title = page.locator("#server-detail-title");
  await title.filter({ hasText: "my filter" }).waitFor();
  assert.equal(await client.call("EXISTS", "my filter"), ":1");
  await page.getByLabel("Keys to query or add").focus();
  await page.keyboard.type("one\ntwo");
  await page.getByRole("button", { name: "Add", exact: true }).focus();
  await page.keyboard.press("Space");
  await page.locator(".server-answers .good").nth(1).waitFor();
  assert.equal(await client.call("BF.EXISTS", "my filter", "two"), ":1");
  await page.locator('[data-fact="keys"] dd', { hasText: "2" }).waitFor();
  // Escape means no.
  const remove = page.getByRole("button", { name: "Delete filter" });
  await remove.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.equal(await client.call("EXISTS", "my filter"), ":1");
  await remove.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByRole("button", { name: "Delete filter" }).click();
  await page.getByText("my filter was deleted.").waitFor();
  assert.equal(await client.call("EXISTS", "my filter"), ":0");
  // A wrong value is explained in the form.
  await client.call("BF.ADD", "taken", "x");
  await page.getByRole("button", { name: "New filter" }).click();
  await page.getByLabel("Name", { exact: true }).fill("taken");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("dialog").locator(".note.danger").waitFor();
});

test("a read-only page has nothing that changes filters", async (t) => {
  const server = await Server.start(t, { options: ["--http-read-only"] });
  const client = await server.client();
  await client.call("BF.ADD", "seen", "x");
  const page = await open(t, server, { hash: "&filter=seen" });
  await phase(page, "live");
  await page.locator('[data-fact="keys"]').waitFor();
  await page.getByText("read-only page").waitFor();
  for (const name of ["New filter", "Add", "Delete filter"]) {
    assert.equal(await page.getByRole("button", { name, exact: true }).count(), 0, name);
  }
  await page.getByLabel("Keys to query or add").fill("x");
  await page.getByRole("button", { name: "Query" }).click();
  await page.getByText("probably in it").waitFor();
});

test("pages of other sites change nothing and read nothing", async (t) => {
  const server = await Server.start(t, { password: "pw" });
  const client = await server.client();
  await client.call("BF.ADD", "seen", "x");
  const page = await open(t, server, { ignore: /40\d/ });
  await phase(page, "login");
  await page.getByLabel("Password").fill("pw");
  await page.keyboard.press("Enter");
  await phase(page, "live");

  const attack = (target) => `<!doctype html><title>attack</title>
    <form id="form" method="post" enctype="text/plain" target="frame" action="${target}api/delete">
      <input name='{"key":"seen","x":"' value='"}'></form><iframe name="frame"></iframe>
    <script>
      const outcomes = {};
      const attempt = async (name, path, options) => {
        try {
          const response = await fetch("${target}" + path, { credentials: "include", ...options });
          outcomes[name] = response.type === "opaque" ? "opaque" : "read " + response.status;
        } catch { outcomes[name] = "blocked"; }
      };
      const body = JSON.stringify({ key: "seen" });
      const reserve = JSON.stringify({ key: "evil", kind: "bloom", capacity: 10, rate: 0.1 });
      globalThis.finished = (async () => {
        document.getElementById("form").submit();
        await attempt("simple", "api/delete", { method: "POST", mode: "no-cors", body });
        await attempt("json", "api/delete", { method: "POST", headers: { "Content-Type": "application/json" }, body });
        await attempt("beacon", "api/reserve", { method: "POST", mode: "no-cors", headers: { "Content-Type": "text/plain" }, body: reserve });
        navigator.sendBeacon("${target}api/delete", new Blob([body], { type: "text/plain" }));
        await attempt("filters", "api/filters");
        await attempt("session", "api/session");
        outcomes.events = await new Promise((resolve) => {
          const events = new EventSource("${target}api/events", { withCredentials: true });
          events.addEventListener("figures", () => resolve("read"));
          events.addEventListener("error", () => { events.close(); resolve("blocked"); });
        });
        // The beacon and the form have no answer to wait for.
        await new Promise((resolve) => setTimeout(resolve, 500));
        return outcomes;
      })();
    </script>`;
  const attacker = createServer((request, response) => {
    response.setHeader("Content-Type", "text/html");
    response.end(attack(new URL(request.url, "http://x").searchParams.get("target")));
  });
  await new Promise((resolve) => attacker.listen(0, resolve));
  t.after(() => new Promise((resolve) => attacker.close(resolve)));
  const { port } = attacker.address();
  // Another port of the same site, for which the browser sends even strict cookies, and another site.
  for (const host of ["127.0.0.1", "localhost"]) {
    const other = await page.context().newPage();
    await other.goto(`http://${host}:${port}/?target=${encodeURIComponent(server.url)}`);
    const outcomes = await other.evaluate(() => globalThis.finished);
    for (const [name, outcome] of Object.entries(outcomes)) assert.match(outcome, /^(blocked|opaque)$/, `${host} ${name}`);
    await other.close();
  }
  assert.equal(await client.call("BF.EXISTS", "seen", "x"), ":1");
  assert.equal(await client.call("DBSIZE"), ":1");
  // The same change from the page itself works, so the attacks failed for the right reason.
  const status = await page.evaluate(async () => {
    const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ key: "seen" }) };
    return (await fetch("/api/delete", options)).status;
  });
  assert.equal(status, 200);
  assert.equal(await client.call("DBSIZE"), ":0");
});

test("ten thousand filters are paged, sorted and searched by the server", async (t) => {
  const server = await Server.start(t);
  const client = await server.client();
  const replies = [];
  for (let number = 0; number < 10_000; number += 1) {
    replies.push(client.call("BF.RESERVE", `filter:${String(number).padStart(5, "0")}`, "0.01", String(100 + number)));
  }
  assert.ok((await Promise.all(replies)).every((reply) => reply === "+OK"));
  for (let key = 0; key < 90; key += 1) await client.call("BF.ADD", "filter:07777", `key ${key}`);
  const page = await open(t, server);
  const sizes = [];
  page.on("response", async (response) => {
    if (response.url().includes("/api/filters")) sizes.push((await response.body()).length);
  });
  await phase(page, "live");
  await page.getByText("10,000 of 10,000 filters").waitFor();
  assert.equal(await page.locator("#server-table tbody tr").count(), 25);
  const timed = async (what, action) => {
    const start = performance.now();
    await action();
    t.diagnostic(`${what}: ${Math.round(performance.now() - start)} ms`);
  };
  const first = (start) => page.waitForFunction((text) => document.querySelector('#server-table [data-row="0"]')?.textContent.startsWith(text), start);
  await timed("next page", async () => {
    await page.getByRole("button", { name: "Next" }).click();
    await first("filter:00025");
  });
  await timed("sort by size", async () => {
    await page.locator('[data-sort="size"]').click();
    await first("filter:099");
  });
  await timed("sort by keys", async () => {
    await page.locator('[data-sort="keys"]').click();
    await first("filter:07777");
  });
  assert.equal(await page.locator('th[aria-sort="descending"]').textContent(), "Keys ↓");
  await timed("search", async () => {
    await page.getByLabel("Search names").fill("*:0123?");
    await page.getByText("10 of 10,000 filters").waitFor();
  });
  // The state is in the URL, so a reload shows the same.
  await page.waitForFunction(() => location.hash.includes("search="));
  await page.reload();
  await page.getByText("10 of 10,000 filters").waitFor();
  assert.ok(Math.max(...sizes) < 64 << 10, `the largest answer has ${Math.max(...sizes)} bytes`);
});

test("axe finds no violations, light and dark, wide and narrow, in both languages", async (t) => {
  const server = await Server.start(t);
  const client = await server.client();
  await client.call("BF.RESERVE", "nearly full", "0.01", "100", "NONSCALING");
  for (let key = 0; key < 95; key += 1) await client.call("BF.ADD", "nearly full", `key ${key}`);
  await client.call("CONFIG", "SET", "slowlog-log-slower-than", "0");
  for (const colorScheme of ["light", "dark"]) {
    for (const [width, language] of [[1280, "en"], [390, "zh"]]) {
      const page = await open(t, server, { colorScheme, viewport: { width, height: 900 }, hash: `&lang=${language}&filter=nearly+full` });
      await phase(page, "live");
      await page.locator('[data-fact="keys"]').waitFor();
      await page.locator("#server-table tbody tr").waitFor();
      await page.locator(".server-warnings .note").waitFor();
      assert.deepEqual(await violations(page), [], `${colorScheme} ${width}`);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${width} wide`);
      // Every text is translated: a missing one shows its key.
      assert.doesNotMatch(await page.locator("body").innerText(), /server\.[a-z]/i);
      await page.locator("#server-create").click();
      assert.deepEqual(await violations(page), [], `the form, ${colorScheme} ${width}`);
      assert.doesNotMatch(await page.getByRole("dialog").innerText(), /server\.[a-z]/i);
    }
  }
});
