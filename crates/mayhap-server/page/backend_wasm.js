// The figures of the self-contained page: the WebAssembly inside computes them, and nothing leaves the browser.
import { parse } from "./json.js";
import { pairs } from "./options.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
let module = null;
let instance = null;

/** The module is packed in an element of the page. It is unpacked when the first figures are needed, after the first paint. */
function compiled() {
  module ??= (async () => {
    const text = document.getElementById("wasm").textContent.trim();
    const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const bytes = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return WebAssembly.compile(await new Response(bytes).arrayBuffer());
  })();
  return module;
}

async function call(request, file = new Uint8Array()) {
  if (instance === null) {
    try {
      instance = await WebAssembly.instantiate(await compiled());
    } catch (error) {
      throw new Error(`this browser cannot run the WebAssembly of the page (${error.message}): use a newer browser`);
    }
  }
  try {
    return run(instance.exports, request, file);
  } catch (error) {
    // What has trapped is in an unknown state: the next call gets a new instance.
    instance = null;
    if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) {
      throw new Error("the file is too large or too damaged for the page: use `mayhap info FILE`");
    }
    throw error;
  }
}

function run(exports, request, file) {
  const line = encoder.encode(`${JSON.stringify(request)}\n`);
  const length = line.length + file.length;
  const at = exports.mayhap_input(length) >>> 0;
  if (at === 0) throw new RangeError("not enough memory");
  const input = new Uint8Array(exports.memory.buffer, at, length);
  input.set(line);
  input.set(file, line.length);
  const answered = exports.mayhap_call() >>> 0;
  const output = new Uint8Array(exports.memory.buffer, exports.mayhap_output() >>> 0, answered);
  return parse(decoder.decode(output));
}

async function answer(request, file) {
  const value = await call(request, file);
  if (value.error === undefined) {
    // Memory of WebAssembly never shrinks, so the memory of a large file is given back with its instance.
    if (file !== undefined && file.length > 1 << 24) instance = null;
    return value;
  }
  const error = new Error(value.error);
  error.details = value;
  throw error;
}

export const backend = {
  isLocal: true,
  maxFileBytes: Infinity,
  plan: (parameters) => answer({ call: "plan", options: pairs(parameters) }),
  inspect: (bytes, fileName, options = {}) => answer({ call: "inspect", options: pairs({ ...options, name: fileName }) }, bytes),
  check: (handle, keys, options = {}) =>
    answer({ call: "check", keys, options: pairs({ ...options, name: handle.fileName }) }, handle.bytes),
  demo: (parameters) => answer({ call: "demo", demo: parameters }),
};
