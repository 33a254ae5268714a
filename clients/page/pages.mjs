// The pages under test: the self-contained file and the page of a server, each with a record of what it requests and reports.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";

export const fileUrl = pathToFileURL(process.env.MAYHAP_PAGE ?? "mayhap-page.html").href;

/** Opens a page. The test fails if it reports an error, or requests anything but the page's own files. */
export async function open(test, browser, url, { hash = "", ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en", ...options });
  const page = await context.newPage();
  const [requests, wrong] = [[], []];
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  page.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url())) requests.push(request.url());
  });
  test.after(async () => {
    await context.close();
    assert.deepEqual(wrong, []);
    if (url.startsWith("file:")) assert.deepEqual([...new Set(requests)], [url], "the file requests nothing else");
    else for (const request of requests) assert.ok(request.startsWith(url), `a request to ${request}`);
  });
  await page.goto(url + hash);
  return page;
}

/** What each figure of a panel says exactly: by the name of its field. */
export function figures(page, selector) {
  return page.$$eval(`${selector} [data-field]`, (all) => Object.fromEntries(all.map((one) => [one.dataset.field, one.dataset.value])));
}
