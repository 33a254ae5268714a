// The server's API. Errors are sentences that can be shown.

/** An answer that is not a success. Status 0 means that the server did not answer. */
export class ApiError extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  } catch {
    throw new ApiError(0, "");
  }
  let value = null;
  try {
    value = await response.json();
  } catch {
    // The status says enough.
  }
  if (!response.ok) throw new ApiError(response.status, value?.error ?? `HTTP ${response.status}`);
  return value;
}

const post = (path, body) =>
  request(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

export const api = {
  session: () => request("/api/session"),
  login: (password) => post("/api/login", { password }),
  logout: () => post("/api/logout", {}),
  filters: (parameters) => request(`/api/filters?${new URLSearchParams(parameters)}`),
  filter: ({ key, encoding }) => request(`/api/filter?${new URLSearchParams({ key, encoding })}`),
  add: (body) => post("/api/add", body),
  query: (body) => post("/api/query", body),
  reserve: (body) => post("/api/reserve", body),
  remove: (name) => post("/api/delete", name),
};

/** Items in the encoding of the key that they go to: a body has one encoding for both. */
export function encodeItems(items, encoding) {
  if (encoding !== "base64") return items;
  return items.map((item) => btoa(String.fromCharCode(...new TextEncoder().encode(item))));
}
