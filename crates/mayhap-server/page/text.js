// The texts of the shell and of all tabs, in English and Chinese, and how numbers are written.
import { texts as inspect } from "./inspect_text.js";
import { texts as plan } from "./plan_text.js";
import { texts as server } from "./server_text.js";

const shell = {
  en: {
    "tab.plan": "Plan",
    "tab.inspect": "Inspect",
    "tab.server": "Server",
    "shell.title": "Bloom filters: plan, inspect, watch – mayhap",
    "shell.skip": "Skip to the content",
    "shell.tabs": "Sections",
    "shell.language": "中文",
    "shell.languageHelp": "切换到中文",
    "shell.dark": "Dark",
    "shell.darkHelp": "Dark colours",
    "shell.copy": "Copy",
    "shell.copied": "Copied",
    "shell.exact": "exactly {value}",
    "noServer.title": "Watch a server",
    "noServer.text":
      "This file has no server behind it. Start one with HTTP, and open its page: it shows live figures, every filter with its fill and its rate, and lets you add and query keys.",
    "noServer.open": "Then open",
  },
  zh: {
    "tab.plan": "规划",
    "tab.inspect": "查看文件",
    "tab.server": "服务器",
    "shell.title": "布隆过滤器：规划、查看、观察 – mayhap",
    "shell.skip": "跳到正文",
    "shell.tabs": "栏目",
    "shell.language": "English",
    "shell.languageHelp": "Switch to English",
    "shell.dark": "深色",
    "shell.darkHelp": "深色配色",
    "shell.copy": "复制",
    "shell.copied": "已复制",
    "shell.exact": "精确值 {value}",
    "noServer.title": "观察服务器",
    "noServer.text":
      "这个文件背后没有服务器。启动一个带 HTTP 的服务器并打开它的页面，就能看到实时数据、每个过滤器的填充率和误判率，还可以添加和查询键。",
    "noServer.open": "然后打开",
  },
};

export const texts = {
  en: { ...shell.en, ...plan.en, ...inspect.en, ...server.en },
  zh: { ...shell.zh, ...plan.zh, ...inspect.zh, ...server.zh },
};

let language = "en";

export function currentLanguage() {
  return language;
}

export function setLanguage(name) {
  language = name === "zh" ? "zh" : "en";
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
}

/** The text of a key in the current language, with {name} replaced by values.name. A missing text shows its key. */
export function t(key, values = {}) {
  const text = texts[language][key] ?? texts.en[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}
