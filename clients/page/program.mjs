// Runs the program, for what it prints.
import { execFile } from "node:child_process";
import { program } from "./server_process.mjs";

/** Its status, output and errors. */
export function run(words, options = {}) {
  return new Promise((resolve) => {
    execFile(program, words, { maxBuffer: 1 << 28, ...options }, (error, stdout, stderr) => resolve({ status: error ? error.code : 0, stdout, stderr }));
  });
}

/** Runs a task for each value, four at a time. */
export async function each(values, task) {
  const results = new Array(values.length);
  let next = 0;
  const work = async () => {
    while (next < values.length) {
      const at = next;
      next += 1;
      results[at] = await task(values[at], at);
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  return results;
}
