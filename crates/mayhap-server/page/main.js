// Starts the page that a server serves: figures come from its API.
import { start } from "./app.js";
import { backend } from "./backend_server.js";
import { mount as mountServer } from "./server.js";

start(backend, mountServer);
