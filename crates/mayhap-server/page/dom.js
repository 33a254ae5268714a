// Builds elements. Texts are set as text, never as HTML, so that a hostile name is only ever shown.

const SVG = "http://www.w3.org/2000/svg";

/**
 * element("button", { class: "quiet", onclick: save, "aria-label": "Save" }, "Save", otherElement)
 * Attributes that are functions become listeners (`onclick` -> "click"); true is an empty attribute; null, undefined and false are
 * left out. Children are nodes, texts, numbers, or arrays of them; null, undefined and false are left out.
 */
export function element(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for SVG. */
export function svg(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  append(node, children);
  return node;
}

/** Appends nodes and texts. */
export function append(node, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
}

/** Replaces all children. */
export function replace(node, ...children) {
  node.replaceChildren();
  append(node, ...children);
}

/** Runs a function at most once per frame, with the newest arguments. */
export function oncePerFrame(run) {
  let newest = null;
  return (...values) => {
    if (newest === null) {
      requestAnimationFrame(() => {
        const values = newest;
        newest = null;
        run(...values);
      });
    }
    newest = values;
  };
}
