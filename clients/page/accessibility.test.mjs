// axe-core finds no violation: on each tab, light and dark, wide and narrow, in both languages. And the keyboard reaches everything.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { launch, violations } from "./chromium.mjs";
import { fileUrl, open } from "./pages.mjs";

const golden = path.join(process.env.MAYHAP_SOURCE ?? new URL("../..", import.meta.url).pathname, "golden");
let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

const ready = {
  plan: (page) => page.waitForSelector(".plan-kinds tbody tr").then(() => page.waitForSelector(".demo-picture svg")),
  inspect: async (page) => {
    const file = path.join(golden, "parquet-file", "arrow-100.parquet");
    await page.setInputFiles("#inspect-file", { name: "arrow-100.parquet", mimeType: "application/octet-stream", buffer: readFileSync(file) });
    await page.waitForSelector(".inspect-filter");
    await page.fill("#inspect-keys", "alice\nbob");
    await page.click(".inspect-check form .button");
    await page.waitForSelector(".answers li");
  },
  server: (page) => page.waitForSelector("#panel-server h1"),
};

for (const theme of ["light", "dark"]) {
  for (const [width, language] of [[1280, "en"], [390, "zh"]]) {
    test(`axe-core finds nothing: ${theme}, ${width} pixels, ${language}`, async (t) => {
      for (const tab of ["plan", "inspect", "server"]) {
        const costs = tab === "plan" ? "&cost_skip=0.001&cost_lookup=5&present=0.1&cost_gib=100000" : "";
        const page = await open(t, browser, fileUrl, { hash: `#tab=${tab}&theme=${theme}&lang=${language}${costs}`, viewport: { width, height: 900 } });
        await ready[tab](page);
        assert.deepEqual(await violations(page), [], tab);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.ok(overflow <= 0, `${tab}: ${overflow} pixels too wide`);
      }
    });
  }
}

test("axe-core finds nothing in errors", async (t) => {
  for (const theme of ["light", "dark"]) {
    // Without any answer, then with figures of an earlier request.
    const page = await open(t, browser, fileUrl, { hash: `#theme=${theme}&keys=many` });
    await page.waitForSelector(".plan-message .danger");
    assert.deepEqual(await violations(page), [], theme);
    await page.fill("#plan-keys", "1000");
    await ready.plan(page);
    await page.fill("#plan-keys", "many");
    await page.waitForSelector(".plan-summary.stale");
    assert.deepEqual(await violations(page), [], theme);
    await page.click("#tab-inspect");
    await page.setInputFiles("#inspect-file", { name: "lines.txt", mimeType: "text/plain", buffer: Buffer.from("some\nlines\n") });
    await page.waitForSelector(".inspect-message .danger");
    assert.deepEqual(await violations(page), [], theme);
  }
});

test("the keyboard switches tabs, moves sliders and reads charts", async (t) => {
  const page = await open(t, browser, fileUrl);
  await ready.plan(page);
  await page.focus("#tab-plan");
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.getAttribute("#tab-inspect", "aria-selected"), "true");
  await page.keyboard.press("Home");
  assert.equal(await page.getAttribute("#tab-plan", "aria-selected"), "true");
  await page.focus(".chart-svg");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.match(await page.textContent(".chart-values strong"), /keys/);
});
