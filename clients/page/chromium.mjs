// Debian's Chromium, driven by playwright-core. `require` finds packages in NODE_PATH, which `import` does not.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { chromium } = require("playwright-core");
export const axePath = require.resolve("axe-core/axe.min.js");

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });

/** What axe-core finds wrong in the page, one line for each element. */
export async function violations(page) {
  // Transitions show colours that are neither the old nor the new ones.
  await page.emulateMedia({ reducedMotion: "reduce" });
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(await axeSource());
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(" ")}: ${node.failureSummary}`));
}

let source = null;
async function axeSource() {
  source ??= await import("node:fs/promises").then(({ readFile }) => readFile(axePath, "utf8"));
  return `${source}; undefined`;
}
