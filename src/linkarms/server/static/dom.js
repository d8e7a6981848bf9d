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

// New children in place of the old ones; the reader keeps the place in a list, and the button that was chosen by keyboard.
export function swap(place, ...children) {
  const box = place.querySelector(".scroll"), at = box && [box.scrollTop, box.scrollLeft];
  const sign = (part) => part.getAttribute("aria-label") || part.getAttribute("href");
  const held = place.contains(document.activeElement) ? sign(document.activeElement) : null;
  place.replaceChildren(...children);
  const next = place.querySelector(".scroll");
  if (next && at) [next.scrollTop, next.scrollLeft] = at;
  if (held !== null) [...place.querySelectorAll("[aria-label], a")].find((part) => sign(part) === held)?.focus({ preventScroll: true });
}

export function field(label, input) {
  return h("label", {}, label, input);
}

const numbers = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const counts = new Intl.NumberFormat("en");

export const number = (x) => (x === null || x === undefined ? "–" : numbers.format(x));
export const count = (n) => counts.format(n);

export function clock(text) {
  const time = new Date(text), hour = time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  return time.toDateString() === new Date().toDateString() ? hour : `${time.toLocaleDateString([], { day: "numeric", month: "short" })}, ${hour}`;
}

export function duration(seconds) {
  for (const [unit, size] of [["day", 86400], ["hour", 3600], ["minute", 60]]) {
    if (seconds >= 1.5 * size) {
      const n = Math.round(seconds / size);
      return `${count(n)} ${unit}${n === 1 ? "" : "s"}`;
    }
  }
  return "about a minute";
}

export function key() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return "page-" + Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// What a campaign asks for.
export function wanted(campaign) {
  let what = "the cut with the largest gap";
  if (campaign.n_clusters !== null) what = `${campaign.n_clusters} clusters`;
  else if (campaign.distance_threshold !== null) what = `clusters of arms closer than ${campaign.distance_threshold}`;
  return campaign.tolerance > 0 ? `${what} (tolerance ${campaign.tolerance})` : what;
}
