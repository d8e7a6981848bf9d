// One campaign: what is known, what is uncertain, when it will be done; and the forms to feed it.
import { call, gathered, LATER, of, watch } from "./api.js";
import { armsChart, dendrogramChart, evidenceChart, mark, pullsChart } from "./charts.js";
import { clock, count, duration, h, number, s, swap, wanted } from "./dom.js";
import { feedForm, retractDialog } from "./forms.js";

//: Names that are written out for one cluster.
const NAMED = 12;

function panel(title, about, ...children) {
  const id = "h-" + title.replace(/\W+/g, "-").toLowerCase();
  return h("section", { class: "card", "aria-labelledby": id }, h("h2", { id }, title), about && h("p", { class: "quiet small" }, about), children);
}

function table(label, heads, rows, empty) {
  if (!rows.length) return h("p", { class: "quiet" }, empty);
  const head = heads.map(([name, kind]) => h("th", { scope: "col", class: kind }, name));
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
    h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows)));
}

const cell = (content, kind) => h("td", { class: kind }, content);
const numeric = (content) => h("td", { class: "n" }, content);
const tiny = (text, label, act) => h("td", { class: "act" }, h("button", { type: "button", class: "tiny", "aria-label": label, title: label, onclick: act }, h("span", { class: "wide" }, text), h("span", { class: "narrow" }, "×")));

function armsTable({ status, arms }) {
  const at = new Map(arms.names.map((arm, i) => [arm, i]));
  const flat = arms.axes.length === 1;
  const rows = status.arms.map((arm) => {
    const i = at.get(arm);
    if (i === undefined) return h("tr", {}, cell(arm), numeric("–"), numeric("0"), numeric("–"), flat && numeric("–"));
    return h("tr", {}, cell(arm), numeric(arms.labels[i] < 0 ? "–" : arms.labels[i]), numeric(count(status.pulls[arm])),
      numeric(arms.points[i].map(number).join(", ")), flat && numeric(arms.regions[i] ? arms.regions[i].map(number).join(" to ") : "–"));
  });
  return table("Arms", [["arm"], ["cluster", "n"], ["samples", "n"], ["estimate", "n"], ...(flat ? [["between", "n"]] : [])], rows, "");
}

// Which arms are in which cluster, in words: the answer that the campaign is for.
function clusterList({ status, arms }) {
  const label = new Map(arms.names.map((arm, i) => [arm, arms.labels[i]]));
  return status.clusters.map((members) => h("li", {}, s("svg", { viewBox: "-8 -8 16 16", "aria-hidden": "true" }, mark(label.get(members[0]) ?? -1, 0, 0, 6, "")),
    h("span", {}, members.slice(0, NAMED).join(", ") + (members.length > NAMED ? ` and ${members.length - NAMED} more` : ""))));
}

function when({ words, evidence }) {
  const seconds = evidence.forecast?.seconds;
  return words.when + (seconds ? ` At the recent pace that takes ${duration(seconds)}.` : "");
}

function facts({ status, words }) {
  const evidence = words.bound ? `${words.bound}; ` : "";
  const order = status.in_order ? "samples count in the order of asking; " : "";
  const clipped = status.clip ? `samples clipped to ${status.clip[0]} to ${status.clip[1]}; ` : "";
  return `${count(status.samples)} samples of ${status.arms.length} arms; ${wanted(status)} wanted; error probability at most ${status.delta}; ${clipped}${order}${evidence}sampling ${status.sampling}, stopping rule ${status.stopping}.`;
}

// How many samples wait for an earlier ticket, and for which one.
function held({ status }) {
  const arms = Object.entries(status.held).map(([arm, n]) => `${arm} ${count(n)}`).join(", ");
  const n = Object.values(status.held).reduce((a, b) => a + b, 0);
  return status.awaited === null ? "" : `${count(n)} ${n === 1 ? "sample waits" : "samples wait"} until ticket ${status.awaited} is told or given back: ${arms}. `;
}

export function showCampaign({ main, connected, writes, loggedOut }, name) {
  document.title = name + " – linkarms";
  const note = h("p", { class: "quiet", role: "status" }, "Loading…");
  const place = { known: h("dd"), doubt: h("dd"), when: h("dd"), clusters: h("ul", { class: "clusters" }) };
  for (const part of ["facts", "held", "promise", "replay"]) place[part] = h("p", { class: "quiet small" });
  for (const part of ["table", "recent", "tickets"]) place[part] = h("div");
  const bar = h("progress", { max: 1, value: 0, "aria-label": "evidence over threshold" });
  const charts = { arms: armsChart(), tree: dendrogramChart(), evidence: evidenceChart(), pulls: pullsChart() };
  const refresh = gathered(load);
  const feed = writes && feedForm(name, () => load());
  const retract = retractDialog(name, () => load());
  const link = (format) => h("a", { href: `/api/v1${of(name)}/export?format=${format}`, download: `${name}.${format}` }, format.toUpperCase());
  const word = (title, text) => h("div", {}, h("dt", {}, title), text);
  const body = h("div", { hidden: true },
    h("section", { class: "card", "aria-label": "State of the campaign" }, bar,
      h("dl", { class: "words" }, word("What is known", place.known), word("What is least certain", place.doubt), word("When it will be done", place.when)),
      place.clusters, place.facts, place.held, place.promise),
    h("div", { class: "grid" },
      panel("Arms and clusters", "Each mark is an estimate, coloured by cluster. The shaded region contains the true value: for all arms together, at all times, with the promised probability.", charts.arms.element, h("details", {}, h("summary", {}, "As a table"), place.table)),
      panel("Evidence", "The run stops when the evidence reaches the threshold. Dots are the forecast.", charts.evidence.element, place.replay),
      panel("How the arms join", "Single linkage: arms that join left of the cut are one cluster.", charts.tree.element),
      panel("Samples of each arm", "Arms in doubt get more. Pale: asked for, not counted yet.", charts.pulls.element),
      h("div", { class: "stack" }, feed && panel("Enter a sample", null, feed.form), panel("Who holds which ticket", null, place.tickets)),
      panel("Recent samples", null, place.recent)),
    retract.dialog);
  main.replaceChildren(h("p", { class: "small" }, h("a", { href: "#/" }, "← all campaigns")),
    h("div", { class: "row" }, h("h1", {}, name), h("p", { class: "small", role: "group", "aria-label": "Export" }, "Export: ", ["csv", "json", "parquet"].map((format) => [link(format), " "]))), note, body);

  async function give(ticket) {
    try {
      await call("POST", of(name) + "/release", { ticket });
      await load();
    } catch (problem) {
      note.className = "error";
      note.textContent = problem.message;
    }
  }

  function sampleRow(sample) {
    return h("tr", { class: sample.state === "retracted" && "gone" }, numeric(sample.number), cell(sample.arm), numeric(sample.value.map(number).join(", ")), cell(sample.worker || "–", "wide"), cell(clock(sample.told_at)),
      writes && (sample.state === "told" ? tiny("take out", `Take out sample ${sample.number}`, () => retract.open(sample)) : cell("")));
  }

  function ticketRow(ticket) {
    return h("tr", {}, numeric(ticket.id), cell(ticket.arm), cell(ticket.worker || "–"), cell(clock(ticket.expires_at)),
      writes && tiny("give back", `Give ticket ${ticket.id} back`, () => give(ticket.id)));
  }

  function show(view) {
    const { status, words } = view;
    bar.value = view.progress;
    place.facts.textContent = facts(view);
    // an expired ticket is not in the table of open ones
    const gone = writes && status.awaited !== null && !view.tickets.some((ticket) => ticket.id === status.awaited);
    place.held.replaceChildren(held(view), gone ? h("button", { type: "button", class: "tiny", onclick: () => give(status.awaited) }, `Give ticket ${status.awaited} back`) : "");
    place.known.textContent = words.known + (view.evidence.changed && !status.done ? ` They have been the same since sample ${count(view.evidence.changed)}.` : "");
    place.doubt.textContent = words.doubt || (status.stopped ? "Nothing: the evidence is enough." : "Not known yet.");
    place.when.textContent = when(view);
    place.promise.textContent = [words.remark, words.condition, ...words.warnings].filter(Boolean).map((text) => text[0].toUpperCase() + text.slice(1) + ".").join(" ");
    place.replay.textContent = view.evidence.replayed < 1 ? `The history is being read: ${Math.floor(100 * view.evidence.replayed)} %.` : "";
    place.clusters.replaceChildren(...clusterList(view));
    swap(place.table, armsTable(view));
    charts.arms.show(view.arms);
    charts.tree.show(view.dendrogram);
    charts.evidence.show({ ...view.evidence, bound: view.words.bound });
    charts.pulls.show({ status, labels: new Map(view.arms.names.map((arm, i) => [arm, view.arms.labels[i]])) });
    feed && feed.update(view);
    const act = writes ? [[""]] : [];
    swap(place.recent, table("Recent samples", [["no.", "n"], ["arm"], ["value", "n"], ["by", "wide"], ["when"], ...act], view.recent.map(sampleRow), "No samples yet."));
    const many = status.tickets.open - view.tickets.length;
    swap(place.tickets, table("Open tickets", [["ticket", "n"], ["arm"], ["who"], ["until"], ...act], view.tickets.map(ticketRow), many > 0 ? "" : "Nobody holds a ticket."),
      many > 0 ? h("p", { class: "quiet small" }, `… and ${count(many)} more.`) : "");
  }

  async function load() {
    try {
      const view = await call("GET", of(name) + "/view");
      body.hidden = false;
      note.textContent = view.age === undefined ? "" : `A newer state is being computed. This one is ${count(view.age)} s old.`;
      note.className = "quiet";
      show(view);
      if (view.age !== undefined) return LATER.computing;
      if (view.evidence.replayed < 1) return LATER.reading;
    } catch (problem) {
      if (problem.status === 401) { loggedOut(); return undefined; }
      note.className = "error";
      note.textContent = problem.message;
      if (problem.status === 404) stop();
      if (problem.status === 503) return LATER.busy;
    }
    return undefined;
  }

  const unwatch = watch(name, refresh, connected);
  const stop = () => { refresh.end(); unwatch(); };
  refresh();
  return stop;
}
