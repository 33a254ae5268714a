// Names of filters, which may be anything: markup, control characters, ten thousand letters.

// Characters that are invisible or change the direction of the text around them. The server escapes control characters.
const INVISIBLE = /[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

/** The name in one line in which every character can be seen. */
export function shownName(filter) {
  const text = filter.name_shown ?? filter.key;
  const visible = text.replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0).toString(16)}}`);
  return visible === "" ? "\"\"" : visible;
}
