// The figures of a page that a server serves: the server computes them.
import { parse } from "./json.js";
import { pairs } from "./options.js";

async function answer(path, request) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...request });
  } catch {
    throw new Error("the server does not answer: check that it runs, and try again");
  }
  const text = await response.text();
  let value;
  try {
    value = parse(text);
  } catch {
    value = null;
  }
  if (!response.ok) {
    const error = new Error(value?.error ?? `the server answered with status ${response.status}: try again`);
    // What the page can offer: formats, settings, or the login.
    error.details = response.status === 401 ? { code: "login" } : value ?? {};
    throw error;
  }
  return value;
}

/** Values that are lists become several parameters. */
function query(parameters) {
  return new URLSearchParams(pairs(parameters));
}

export const backend = {
  /** Whether files stay in the browser. */
  isLocal: false,
  /** The server's limit: it closes the connection of a larger upload, which a browser cannot tell from a server that is down. */
  maxFileBytes: 64 * 2 ** 20,

  /** What `mayhap plan --json` prints, and the page's curves below `page`. */
  plan: (parameters) => answer(`/api/plan?${query(parameters)}`),

  /** What `mayhap info --json` prints for each filter of a file, and the picture of its fill. */
  inspect: (bytes, fileName, options = {}) =>
    answer(`/api/inspect?${query({ ...options, name: fileName })}`, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream" },
      body: bytes,
    }),

  /** Which of the keys may be in the filters of a file. `handle` is `{ bytes, fileName }`. */
  check: (handle, keys, options = {}) =>
    answer(`/api/check?${query({ ...options, name: handle.fileName })}`, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream" },
      body: new Blob([JSON.stringify({ keys }), "\n", handle.bytes]),
    }),

  /** The bits of a tiny filter after some inserts. */
  demo: (parameters) =>
    answer("/api/demo", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(parameters) }),
};
