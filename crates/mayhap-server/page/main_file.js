// Starts the self-contained page: figures come from the WebAssembly inside, and there is no server.
import { start } from "./app.js";
import { backend } from "./backend_wasm.js";
import { mount as mountServer } from "./no_server.js";

start(backend, mountServer);
