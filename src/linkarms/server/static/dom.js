// Making elements. Text is only ever set as text: a name with HTML in it is shown, not run.

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function s(tag, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

export function field(label, input) {
  return h("label", {}, label, input);
}

const numbers = new Intl.NumberFormat("en", { maximumSignificantDigits: 5 });
const counts = new Intl.NumberFormat("en");

export const number = (x) => (x === null || x === undefined ? "–" : numbers.format(x));
export const count = (n) => counts.format(n);

export function clock(text) {
  const time = new Date(text), hour = time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return time.toDateString() === new Date().toDateString() ? hour : `${time.toLocaleDateString([], { day: "numeric", month: "short" })}, ${hour}`;
}

export function duration(seconds) {
  for (const [unit, size] of [["day", 86400], ["hour", 3600], ["minute", 60]]) {
    if (seconds >= 1.5 * size) {
      const n = Math.round(seconds / size);
      return `${count(n)} ${unit}${n === 1 ? "" : "s"}`;
    }
  }
  return "a minute";
}

export function key() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return "page-" + Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
