// Charts as SVG, drawn for the width they have. All numbers come from the service; here they only become places.
import { count, h, number, s } from "./dom.js";

const SHAPES = [
  (r) => s("circle", { r }),
  (r) => s("rect", { x: -r * 0.9, y: -r * 0.9, width: r * 1.8, height: r * 1.8 }),
  (r) => s("path", { d: `M0 ${-r * 1.15}L${r * 1.1} ${r * 0.8}H${-r * 1.1}Z` }),
  (r) => s("path", { d: `M0 ${-r * 1.25}L${r * 1.25} 0L0 ${r * 1.25}L${-r * 1.25} 0Z` }),
  (r) => s("path", { d: `M0 ${r * 1.15}L${r * 1.1} ${-r * 0.8}H${-r * 1.1}Z` }),
];

const hue = (label) => (label < 0 ? -1 : label % 8);

export function mark(label, x, y, r, title) {
  const shape = SHAPES[label < 0 ? 0 : label % SHAPES.length](r);
  shape.setAttribute("class", "f" + hue(label));
  shape.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
  if (title) shape.append(s("title", {}, title));
  return shape;
}

function ticks(low, high, most) {
  const rough = (high - low) / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high + 1e-9 * step; i++) found.push(i === 0 ? 0 : i * step);
  return found;
}

function scale(low, high, from, to) {
  const size = high > low ? high - low : 1;
  return (x) => from + ((x - low) / size) * (to - from);
}

function short(name, length) {
  return name.length <= length ? name : name.slice(0, Math.ceil(length / 2)) + "…" + name.slice(-(Math.floor(length / 2) - 1));
}

// An element that draws its data again whenever its width changes.
function chart(draw) {
  const element = h("div", { class: "chart" });
  let data = null, width = 0;
  const redraw = () => {
    if (data === null || !element.clientWidth) return;
    width = element.clientWidth;
    element.replaceChildren(draw(data, width));
  };
  new ResizeObserver(() => { if (Math.abs(element.clientWidth - width) > 1) redraw(); }).observe(element);
  return { element, show(next) { data = next; redraw(); } };
}

function picture(width, height, label, ...parts) {
  return s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, parts);
}

const nothing = (text) => h("p", { class: "quiet" }, text);

function bottomAxis(x, low, high, y, width, title, below = 33) {
  const parts = ticks(low, high, width / 90).map((t) => [
    s("line", { class: "axis", x1: x(t), x2: x(t), y1: y, y2: y + 4 }),
    s("text", { class: "mute", x: x(t), y: y + 17, "text-anchor": "middle" }, number(t)),
  ]);
  return [parts, title && s("text", { class: "mute", x: width - 4, y: y + below, "text-anchor": "end" }, title)];
}

function rows(n, most = 22) {
  const height = n <= 120 ? Math.min(most, Math.max(13, 900 / Math.max(n, 1))) : Math.max(3, 1200 / n);
  return { height, names: height >= 13 };
}

function widestName(names, width) {
  const longest = Math.max(0, ...names.map((name) => name.length));
  return Math.min(longest, Math.max(8, Math.floor(width / 24)));
}

function strip(data, width) {
  const order = data.points.map((_, i) => i).sort((i, j) => data.points[i][0] - data.points[j][0]);
  const row = rows(order.length);
  const letters = row.names ? widestName(data.names, width) : 0;
  const left = 12 + 7 * letters, right = width - 14;
  const known = data.points.map((p) => p[0]).sort((a, b) => a - b);
  const spread = Math.max(known[known.length - 1] - known[0], 1e-9);
  // a region that is far wider than all estimates together runs out of the picture
  const ends = data.regions.flatMap((r) => r || []);
  const low = Math.max(Math.min(...known, ...ends), known[0] - 1.5 * spread - 1e-9);
  const high = Math.min(Math.max(...known, ...ends), known[known.length - 1] + 1.5 * spread + 1e-9);
  const x = scale(low, high, left, right);
  const bottom = 8 + row.height * order.length;
  const inside = (v) => Math.min(Math.max(x(v), left), right);
  const body = order.map((i, r) => {
    const y = 6 + row.height * (r + 0.5);
    const [from, to] = data.regions[i] || [low, high];
    const text = `${data.names[i]}: ${number(data.points[i][0])}, between ${number(from)} and ${number(to)}`;
    return [
      row.names && s("text", { x: left - 8, y: y + 4, "text-anchor": "end" }, short(data.names[i], letters)),
      s("line", { class: "reach s" + hue(data.labels[i]), x1: inside(from), x2: inside(to), y1: y, y2: y, "stroke-linecap": "round" }),
      mark(data.labels[i], x(data.points[i][0]), y, Math.min(5, row.height / 2), text),
    ];
  });
  return picture(width, bottom + 38, `${order.length} arms by their estimates, with confidence intervals`, body, bottomAxis(x, low, high, bottom, width, "estimate"));
}

function scatter(data, width) {
  const height = Math.min(width, 460), pad = 34;
  const xs = data.points.map((p) => p[0]), ys = data.points.map((p) => p[1]);
  const box = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const spread = Math.max(box[1] - box[0], box[3] - box[2], 1e-9);
  const corners = data.regions.flatMap((r) => r || []).filter((p) => p[0] > box[0] - spread && p[0] < box[1] + spread && p[1] > box[2] - spread && p[1] < box[3] + spread);
  for (const [cx, cy] of corners) { box[0] = Math.min(box[0], cx); box[1] = Math.max(box[1], cx); box[2] = Math.min(box[2], cy); box[3] = Math.max(box[3], cy); }
  // clusters are made by distance: the same unit on both axes
  const unit = Math.max((box[1] - box[0]) / (width - 2 * pad), (box[3] - box[2]) / (height - 2 * pad), 1e-12);
  const middle = [(box[0] + box[1]) / 2, (box[2] + box[3]) / 2];
  const x = (v) => width / 2 + (v - middle[0]) / unit, y = (v) => height / 2 - (v - middle[1]) / unit;
  const low = middle[0] - (unit * (width - pad)) / 2, high = middle[0] + (unit * (width - pad)) / 2;
  const bottom = middle[1] - (unit * (height - pad)) / 2, top = middle[1] + (unit * (height - pad)) / 2;
  const net = [
    ticks(low, high, width / 90).map((t) => [s("line", { class: "grid-line", x1: x(t), x2: x(t), y1: 4, y2: height }), s("text", { class: "mute", x: x(t), y: height + 15, "text-anchor": "middle" }, number(t))]),
    ticks(bottom, top, height / 70).map((t) => [s("line", { class: "grid-line", x1: 0, x2: width, y1: y(t), y2: y(t) }), s("text", { class: "mute", x: 2, y: y(t) - 3 }, number(t))]),
  ];
  const regions = data.regions.map((region, i) => region && s("polygon", { class: `region ${data.names.length > 30 ? "many" : ""} f${hue(data.labels[i])} s${hue(data.labels[i])}`, points: region.map((p) => `${x(p[0]).toFixed(1)},${y(p[1]).toFixed(1)}`).join(" ") }));
  const links = data.links.map(([i, j]) => s("line", { class: "link s" + hue(data.labels[i]), x1: x(xs[i]), y1: y(ys[i]), x2: x(xs[j]), y2: y(ys[j]) }));
  const marks = data.points.map((p, i) => mark(data.labels[i], x(p[0]), y(p[1]), 6, `${data.names[i]}: ${p.map(number).join(", ")}`));
  const taken = data.points.map((p) => [x(p[0]) - 7, y(p[1]) - 7, x(p[0]) + 7, y(p[1]) + 7]);
  const names = data.names.length > 60 ? [] : data.names.map((name, i) => {
    const text = short(name, 18), w = 7 * text.length, cx = x(xs[i]), cy = y(ys[i]);
    for (const [ax, ay] of [[10, 4], [-10 - w, 4], [-w / 2, -12], [-w / 2, 20]]) {
      const area = [cx + ax, cy + ay - 11, cx + ax + w, cy + ay + 2];
      if (area[0] < 0 || area[2] > width || area[1] < 0 || area[3] > height) continue;
      if (taken.some((t) => area[0] < t[2] && area[2] > t[0] && area[1] < t[3] && area[3] > t[1])) continue;
      taken.push(area);
      return s("text", { x: area[0], y: area[1] + 11 }, text);
    }
    return null;
  });
  return picture(width, height + 36, `${data.names.length} arms in two dimensions, with confidence regions`, net, regions, links, marks, names,
    s("text", { class: "mute", x: width - 4, y: height + 32, "text-anchor": "end" }, `→ ${short(data.axes[0], Math.floor(width / 14))}`),
    s("text", { class: "mute", x: 2, y: height + 32 }, `↑ ${short(data.axes[1], Math.floor(width / 16))}`));
}

export function armsChart() {
  return chart((data, width) => {
    const missing = data.missing.length ? h("p", { class: "quiet small" }, `Without a sample: ${data.missing.slice(0, 8).join(", ")}${data.missing.length > 8 ? ` and ${data.missing.length - 8} more` : ""}.`) : "";
    if (!data.names.length) return h("div", {}, nothing("No samples yet."), missing);
    return h("div", {}, (data.axes.length === 1 ? strip : scatter)(data, width), missing);
  });
}

export function dendrogramChart() {
  return chart((data, width) => {
    if (data.arms.length < 2) return nothing("Shown once two arms have samples.");
    const row = rows(data.arms.length);
    const letters = row.names ? widestName(data.arms, width) : 0;
    const left = 18 + 7 * letters, right = width - 14, bottom = 8 + row.height * data.arms.length;
    const top = Math.max(data.cut || 0, ...data.merges.map((m) => m[4])) * 1.05 || 1;
    const x = scale(0, top, left, right);
    const y = (r) => 6 + row.height * (r + 0.5);
    const tree = data.merges.map(([a, b, fromA, fromB, height, label]) =>
      s("path", { class: "tree " + (label < 0 ? "far" : "s" + hue(label)), d: `M${x(fromA)} ${y(a)}H${x(height)}V${y(b)}H${x(fromB)}` }));
    const leaves = data.arms.map((name, r) => [
      row.names && s("text", { x: left - 12, y: y(r) + 4, "text-anchor": "end" }, short(name, letters)),
      mark(data.labels[r], left, y(r), Math.min(5, row.height / 2), name),
    ]);
    const cut = data.cut === null ? "" : [s("line", { class: "cut", x1: x(data.cut), x2: x(data.cut), y1: 0, y2: bottom + 22 }), s("text", { x: x(data.cut), y: bottom + 34, "text-anchor": "middle" }, "cut")];
    const certain = (data.certified || []).map(([k, low, high]) => [
      s("rect", { class: "span", x: x(low), y: 0, width: Math.max(x(high) - x(low), 1), height: bottom }),
      s("text", { class: "mute", x: x(low) + 4, y: bottom - 4 }, `K = ${k} certified`)]);
    return picture(width, bottom + 52, `Dendrogram of ${data.arms.length} arms, cut at distance ${number(data.cut)}`, certain, tree, leaves, cut, bottomAxis(x, 0, top, bottom, width, "distance at which they join", 48));
  });
}

const line = (xs, ys, x, y) => xs.map((v, i) => (ys[i] === null ? null : `${x(v).toFixed(1)},${y(ys[i]).toFixed(1)}`)).filter(Boolean).join(" ");

export function evidenceChart() {
  return chart((data, width) => {
    const n = data.samples.length;
    if (n === 0) return nothing("Shown once every arm has a sample.");
    const height = Math.round(Math.min(Math.max(0.7 * width, 240), 420)), left = 44, right = width - 12, now = data.samples[n - 1];
    const forecast = data.forecast && data.forecast.middle < 20 * now ? data.forecast : null;
    const end = Math.max(forecast ? Math.min(forecast.high, forecast.middle * 1.5) : now, data.samples[0] + 1) * 1.02;
    // the threshold may begin far above its later values: the picture has room for most of the run
    const late = data.threshold.slice(Math.floor(n / 5)).filter((v) => v !== null);
    const high = Math.max(...late, ...data.evidence.filter((v) => v !== null), 1) * 1.1;
    // on a phone the words about delta have a line of their own, below the legend
    const narrow = data.bound && width < 460, top = narrow ? 42 : 26;
    const x = scale(0, end, left, right), y = scale(0, high, height, top);
    const inside = (v) => Math.max(Math.min(v, high), 0);
    const net = ticks(0, high, 5).map((t) => [s("line", { class: "grid-line", x1: left, x2: right, y1: y(t), y2: y(t) }), s("text", { class: "mute", x: left - 6, y: y(t) + 4, "text-anchor": "end" }, number(t))]);
    const parts = [];
    const last = data.evidence[n - 1], level = data.threshold[n - 1];
    if (forecast) {
      parts.push(s("rect", { class: "span", x: x(Math.max(forecast.low, now)), y: top, width: Math.max(x(Math.min(forecast.high, end)) - x(Math.max(forecast.low, now)), 2), height: height - top }));
      parts.push(s("polyline", { class: "guess", points: `${x(now)},${y(inside(last))} ${x(forecast.middle)},${y(inside(level))}` }));
      parts.push(s("text", { class: "mute", x: Math.min(x(forecast.middle), right), y: height - 8, "text-anchor": "end" }, `stop at about ${count(forecast.middle)}`));
    }
    if (data.bound) parts.push(s("text", { class: "mute", x: right, y: narrow ? 32 : 14, "text-anchor": "end" }, data.bound));
    return picture(width, height + 38, `Evidence ${number(last)} of ${number(level)} after ${count(now)} samples`, net, parts,
      s("polyline", { class: "threshold", points: line(data.samples, data.threshold.map((v) => v === null ? null : inside(v)), x, y) }),
      n === 1 ? s("circle", { class: "f0", cx: x(now), cy: y(inside(last)), r: 4 }) : s("polyline", { class: "evidence", points: line(data.samples, data.evidence.map((v) => v === null ? null : inside(v)), x, y) }),
      s("line", { class: "evidence", x1: left, x2: left + 22, y1: 10, y2: 10 }), s("text", { x: left + 28, y: 14 }, "evidence"),
      s("line", { class: "threshold", x1: left + 100, x2: left + 122, y1: 10, y2: 10 }), s("text", { x: left + 128, y: 14 }, "threshold"),
      bottomAxis(x, 0, end, height, width, "samples"));
  });
}

export function pullsChart() {
  return chart(({ status, labels }, width) => {
    const arms = status.arms, row = rows(arms.length);
    const letters = row.names ? widestName(arms, width) : 0;
    const left = 12 + 7 * letters, right = width - 50;
    const waiting = (arm) => (status.pending[arm] || 0) + (status.held[arm] || 0);
    const most = Math.max(1, ...arms.map((arm) => status.pulls[arm] + waiting(arm)));
    const x = scale(0, most, left, right), size = Math.max(row.height - 5, row.height * 0.7);
    const bars = arms.map((arm, r) => {
      const y = 4 + row.height * r, n = status.pulls[arm], wait = waiting(arm), tone = "f" + hue(labels.get(arm) ?? -1);
      return [
        row.names && s("text", { x: left - 8, y: y + row.height / 2 + 3, "text-anchor": "end" }, short(arm, letters)),
        s("rect", { class: tone, x: left, y, width: x(n) - left, height: size }, s("title", {}, `${arm}: ${n} samples, ${wait} asked for`)),
        wait > 0 && s("rect", { class: tone + " pending", x: x(n), y, width: x(n + wait) - x(n), height: size }),
        row.names && s("text", { class: "mute", x: x(n + wait) + 5, y: y + row.height / 2 + 3 }, count(n)),
      ];
    });
    const bottom = 6 + row.height * arms.length;
    return picture(width, bottom + (row.names ? 2 : 38), `Samples of each of ${arms.length} arms; at most ${most}`, bars,
      row.names ? "" : bottomAxis(x, 0, most, bottom, width, "samples"));
  });
}
