// Code to copy: the recommended filter in Rust, on the command line, in Redis and in Python.
import { element, replace } from "./dom.js";

const LANGUAGES = ["cli", "redis", "rust", "python"];

const RUST = { bloom: "Bloom", classic: "ClassicBloom", counting: "CountingBloom", growing: "GrowingBloom", window: "WindowBloom", cuckoo: "Cuckoo", fuse: "Fuse", ribbon: "Ribbon", retouched: "Retouched", "growing-cuckoo": "GrowingCuckoo", "counting-cuckoo": "CountingCuckoo", "window-cuckoo": "WindowCuckoo" };
const CAN_BE_FULL = ["cuckoo", "growing-cuckoo", "counting-cuckoo"];
const CAN_REMOVE = ["counting", "cuckoo", "growing-cuckoo", "counting-cuckoo"];

function grouped(keys) {
  return String(keys).replace(/\B(?=(\d{3})+$)/g, "_");
}

/** The texts of one plan. `exceptions` is whether there are some. */
export function codeFor({ kind, keys, rate, isHostile, exceptions }) {
  const isStatic = kind === "fuse" || kind === "ribbon";
  const isWindow = kind === "window" || kind === "window-cuckoo";
  return { cli: cli(), redis: redis(), rust: rust(), python: python() };

  function cli() {
    const capacity = isStatic ? "" : ` --capacity ${keys}`;
    const options = `--kind ${kind}${capacity} --fpr ${rate}${isWindow ? " --window 24h" : ""}${isHostile ? " --keyed" : ""}${exceptions ? " --except exceptions.txt" : ""}`;
    const lines = [`mayhap build -o seen.mayhap ${options} keys.txt`, "mayhap check seen.mayhap queries.txt    # the lines that may be in it"];
    if (CAN_REMOVE.includes(kind)) lines.push("mayhap remove seen.mayhap old.txt");
    return lines.join("\n");
  }

  function redis() {
    if (isStatic || exceptions) {
      return ["# built once, and served from the folder of the server, a second later", cli().split("\n")[0].replace("seen.mayhap", "mayhap-data/seen.mayhap"), "redis-cli -p 6380 BF.EXISTS seen alice"].join("\n");
    }
    const [create, family] = isWindow ? [`BF.WINDOW seen ${rate} ${keys} 86400`, "BF"]
      : kind === "cuckoo" || kind === "growing-cuckoo" ? [`CF.RESERVE seen ${keys} ERROR ${rate}`, "CF"]
        : kind === "counting" || kind === "counting-cuckoo" ? [`CBF.RESERVE seen ${rate} ${keys}`, "CBF"]
          : [`BF.RESERVE seen ${rate} ${keys}${kind === "growing" ? "" : " NONSCALING"}`, "BF"];
    const lines = [create, `${family}.ADD seen alice`, `${family}.EXISTS seen alice`];
    if (CAN_REMOVE.includes(kind)) lines.push(`${family}.DEL seen alice`);
    return lines.map((line) => `redis-cli -p 6380 ${line}`).join("\n");
  }

  function rust() {
    const type = RUST[kind];
    const uses = [type];
    const lines = [];
    const size = `${grouped(keys)}, ${rate}`;
    if (isStatic) {
      lines.push('let keys = ["alice", "bob"];');
      if (isHostile) {
        uses.push("HashScheme", "SipKey");
        lines.push(`let filter = ${type}::build_with(keys, ${rate}, HashScheme::Sip13(SipKey::random()))?;`);
      } else lines.push(`let filter = ${type}::build(keys, ${rate})?;`);
    } else if (isWindow) {
      uses.push("Timestamp");
      lines.push("let day = std::time::Duration::from_secs(86_400);");
      if (isHostile) uses.push("SipKey");
      lines.push(isHostile ? `let mut filter = ${type}::keyed(${size}, day, Timestamp::now(), SipKey::random())?;` : `let mut filter = ${type}::new(${size}, day, Timestamp::now())?;`);
      lines.push(kind === "window" ? 'filter.insert("alice", Timestamp::now());' : 'filter.try_insert("alice", Timestamp::now())?;');
      lines.push('assert!(filter.contains("alice", Timestamp::now()));');
    } else {
      if (isHostile) uses.push("SipKey");
      lines.push(isHostile ? `let mut filter = ${type}::keyed(${size}, SipKey::random())?;` : `let mut filter = ${type}::new(${size})?;`);
      lines.push(CAN_BE_FULL.includes(kind) ? 'filter.try_insert("alice")?;' : 'filter.insert("alice");');
    }
    if (exceptions) {
      uses.push("AnyFilter", "Excepting");
      if (!isStatic) lines.push('let keys = ["alice"];');
      lines.push('let filter = Excepting::build(AnyFilter::from(filter), keys, ["carol"])?;');
    }
    if (!isWindow) lines.push('assert!(filter.contains("alice"));');
    if (CAN_REMOVE.includes(kind)) lines.push('filter.remove("alice");');
    if (!isWindow) lines.push('mayhap::save("seen.mayhap", &filter)?;');
    return [`use mayhap::${uses.length === 1 ? uses[0] : `{${uses.sort().join(", ")}}`};`, "", ...lines].join("\n");
  }

  function python() {
    const type = RUST[kind];
    const lines = ["import mayhap", ""];
    const secret = isHostile ? ', key=b"16 secret bytes!"' : "";
    if (isStatic) lines.push(`f = mayhap.${type}.build(["alice", "bob"], ${rate}${secret})`);
    else lines.push(`f = mayhap.${type}(${grouped(keys)}, ${rate}${isWindow ? ", 86400" : ""}${secret})`, 'f.add("alice")');
    if (exceptions) lines.push(`f = mayhap.Excepting(f, ["alice"${isStatic ? ', "bob"' : ""}], ["carol"])`);
    lines.push('assert "alice" in f');
    if (CAN_REMOVE.includes(kind)) lines.push('f.remove("alice")');
    lines.push('f.save("seen.mayhap")');
    return lines.join("\n");
  }
}

export function planCode({ t }) {
  const blocks = element("div", { class: "code-blocks" });
  const node = element("section", { class: "card plan-code", hidden: true }, element("h2", {}, t("plan.code")), element("p", { class: "help" }, t("plan.codeHelp")), blocks);

  return {
    node,
    show(plan, isHostile) {
      node.hidden = false;
      const texts = codeFor({ kind: plan.kind, keys: plan.keys, rate: plan.false_positive_rate, isHostile, exceptions: "exceptions" in plan });
      replace(blocks, LANGUAGES.map((name) => {
        const copy = element("button", {
          type: "button", class: "quiet", "aria-label": `${t("shell.copy")}: ${t(`code.${name}`)}`,
          onclick: async () => {
            try {
              await navigator.clipboard.writeText(texts[name]);
              copy.textContent = t("shell.copied");
            } catch {
              // Without permission the text is selected, for the keyboard.
              getSelection().selectAllChildren(code);
            }
          },
        }, t("shell.copy"));
        const code = element("code", { "data-code": name }, texts[name]);
        return element("div", { class: "code-block" }, element("div", { class: "code-head" }, element("h3", {}, t(`code.${name}`)), copy), element("pre", { tabindex: 0 }, code));
      }));
    },
  };
}
