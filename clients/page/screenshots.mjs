// Pictures of every tab, light and dark, wide and narrow, for the documentation: node screenshots.mjs FOLDER
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { launch } from "./chromium.mjs";
import { fileUrl } from "./pages.mjs";
import { run } from "./program.mjs";
import { Server } from "./server_process.mjs";

const folder = process.argv[2];
mkdirSync(folder, { recursive: true });
const ends = [];
const server = await Server.start({ after: (end) => ends.push(end) });
const client = await server.client();
for (const [name, capacity, count] of [["users", 20000, 12000], ["urls", 5000, 9000], ["sessions", 100000, 30000]]) {
  await client.call("BF.RESERVE", name, "0.01", String(capacity), "NONSCALING");
  for (let at = 0; at < count; at += 500) await Promise.all(Array.from({ length: 500 }, (_, key) => client.call("BF.ADD", name, `${name}-${at + key}`)));
}
// A filter with too many keys, which the Inspect tab warns of.
const file = path.join(server.folder, "urls.mayhap");
const lines = path.join(server.folder, "urls.txt");
writeFileSync(lines, Array.from({ length: 9000 }, (_, at) => `https://example.com/${at}\n`).join(""));
await run(["build", "-o", file, "--capacity", "6000", "--fpr", "0.01", lines]);

const browser = await launch();
for (const theme of ["light", "dark"]) {
  for (const [size, width, language] of [["wide", 1280, "en"], ["narrow", 390, "zh"]]) {
    for (const tab of ["plan", "inspect", "server"]) {
      const page = await browser.newPage({ viewport: { width, height: size === "wide" ? 1000 : 1400 }, reducedMotion: "reduce" });
      const url = tab === "server" ? server.url : fileUrl;
      const costs = tab === "plan" && theme === "dark" ? "&cost_skip=0.001&cost_lookup=5&present=0.1&cost_gib=100000&lookups=1000000" : "";
      await page.goto(`${url}#tab=${tab}&theme=${theme}&lang=${language}${costs}`);
      if (tab === "plan") await page.waitForSelector(".demo-picture svg");
      if (tab === "inspect") {
        await page.setInputFiles("#inspect-file", { name: "urls.mayhap", mimeType: "application/octet-stream", buffer: readFileSync(file) });
        await page.waitForSelector(".inspect-filter");
        await page.fill("#inspect-keys", "https://example.com/7\nhttps://example.com/nobody");
        await page.click(".inspect-check form .button");
        await page.waitForSelector(".answers li");
      }
      if (tab === "server") {
        await page.waitForSelector('#panel-server[data-phase="live"]');
        // Some seconds of load, so that the curves show something.
        for (let second = 0; second < 6; second += 1) {
          await Promise.all(Array.from({ length: 400 + 150 * second }, (_, at) => client.call("BF.EXISTS", "users", `users-${at}`)));
          await page.waitForTimeout(1000);
        }
      }
      await page.waitForTimeout(300);
      await page.evaluate(() => scrollTo(0, 0));
      const isWhole = size === "wide" && tab !== "server";
      await page.screenshot({ path: path.join(folder, `${tab}-${theme}-${size}.jpg`), type: "jpeg", quality: 60, fullPage: isWhole });
      await page.close();
    }
  }
}
await browser.close();
client.close();
for (const end of ends) await end();
