// One campaign: what is known, what is uncertain, when it will be done; and the forms to feed it.
import { call, gathered, of, watch } from "./api.js";
import { armsChart, dendrogramChart, evidenceChart, pullsChart } from "./charts.js";
import { clock, count, duration, field, h, key, number } from "./dom.js";

function panel(title, about, ...children) {
  const id = "h-" + title.replace(/\W+/g, "-").toLowerCase();
  return h("section", { class: "card", "aria-labelledby": id }, h("h2", { id }, title), about && h("p", { class: "quiet small" }, about), children);
}

function table(label, heads, rows, empty) {
  if (!rows.length) return h("p", { class: "quiet" }, empty);
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
    h("table", {}, h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, rows)));
}

// A form that sends something once, says how it went, and keeps its idempotency key until it went well.
function sender(button, message, send) {
  let pending = key();
  return async (event) => {
    event?.preventDefault();
    button.disabled = true;
    try {
      message.textContent = await send(pending);
      message.className = "fine";
      pending = key();
    } catch (problem) {
      message.className = "error";
      message.textContent = problem.message;
      if (problem.status !== 0) pending = key();
    }
    button.disabled = false;
  };
}

function feedForm(name, refresh) {
  const worker = h("input", { name: "worker", maxlength: 200, autocomplete: "name", placeholder: "your name" });
  const what = h("select", { name: "what" });
  const value = h("input", { name: "value", required: true, autocomplete: "off", inputmode: "text", placeholder: "0.25" });
  const next = h("button", { type: "button" }, "What should I measure next?");
  const store = h("button", { class: "main" }, "Store the sample");
  const message = h("p", { role: "status" });
  const form = h("form", {}, field("Who measures", worker), h("div", { class: "buttons" }, next),
    field("Sample of", what), field("Value (several numbers with spaces between them)", value), message, h("div", { class: "buttons" }, store));
  next.addEventListener("click", sender(next, message, async (once) => {
    const { tickets } = await call("POST", of(name) + "/ask", { n: 1, worker: worker.value.trim() || null, key: once });
    if (!tickets.length) return "There is nothing more to measure.";
    await refresh();
    what.value = "t" + tickets[0].id;
    value.focus();
    return `Please measure ${tickets[0].arm}: ticket ${tickets[0].id} is yours until ${clock(tickets[0].expires_at)}.`;
  }));
  form.addEventListener("submit", sender(store, message, async (once) => {
    const words = value.value.trim().split(/[\s;]+/);
    const numbers = words.map(Number);
    if (!words[0] || !numbers.every(Number.isFinite)) throw new Error("This is no number. Write it like 0.25, with a point.");
    const sample = { value: numbers.length === 1 ? numbers[0] : numbers };
    const id = what.value.slice(1);
    const by = worker.value.trim() || null;
    const body = what.value.startsWith("t") ? { samples: [{ ticket: Number(id), ...sample }], key: once } : { samples: [{ arm: id, ...sample }], worker: by, key: once };
    const { receipts } = await call("POST", of(name) + (what.value.startsWith("t") ? "/tell" : "/add"), body);
    value.value = "";
    await refresh();
    return `Stored as sample ${receipts[0].number}, arm ${receipts[0].arm}.`;
  }));
  return {
    form,
    update(view) {
      const chosen = what.value;
      what.replaceChildren(
        view.tickets.length ? h("optgroup", { label: "open tickets" }, view.tickets.map((t) => h("option", { value: "t" + t.id }, `${t.arm} (ticket ${t.id}${t.worker ? ", " + t.worker : ""})`))) : "",
        h("optgroup", { label: "without a ticket" }, view.status.arms.map((arm) => h("option", { value: "a" + arm }, arm))));
      if ([...what.options].some((option) => option.value === chosen)) what.value = chosen;
      next.disabled = view.status.done;
    },
  };
}

function retractDialog(name, refresh) {
  const reason = h("input", { required: true, maxlength: 1000 });
  const message = h("p", { role: "alert" });
  const button = h("button", { class: "main" }, "Take it out");
  const title = h("h2", { id: "retract-title" });
  let ticket = null;
  const dialog = h("dialog", { "aria-labelledby": "retract-title" }, h("form", {
    onsubmit: async (event) => {
      event.preventDefault();
      try {
        await call("POST", of(name) + "/retract", { ticket, reason: reason.value });
        dialog.close();
        await refresh();
      } catch (problem) {
        message.className = "error";
        message.textContent = problem.message;
      }
    },
  }, title, h("p", { class: "quiet small" }, "Everything else is counted anew. The promise then holds only if the sample is not taken out because of its value."),
    field("Why", reason), message, h("div", { class: "buttons" }, button, h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"))));
  return { dialog, open(sample) { ticket = sample.ticket; title.textContent = `Take out sample ${sample.number} of ${sample.arm}`; message.textContent = reason.value = ""; dialog.showModal(); } };
}

function armsTable(view) {
  const at = new Map(view.arms.names.map((arm, i) => [arm, i]));
  const rows = view.status.arms.map((arm) => {
    const i = at.get(arm);
    const region = i === undefined ? null : view.arms.regions[i];
    return h("tr", {}, h("td", {}, arm), h("td", { class: "n" }, i === undefined || view.arms.labels[i] < 0 ? "–" : view.arms.labels[i]),
      h("td", { class: "n" }, count(view.status.pulls[arm])), h("td", { class: "n" }, i === undefined ? "–" : view.arms.points[i].map(number).join(", ")),
      view.arms.axes.length === 1 && h("td", { class: "n" }, region ? region.map(number).join(" to ") : "–"));
  });
  return table("Arms", ["arm", "cluster", "samples", "estimate", ...(view.arms.axes.length === 1 ? ["between"] : [])], rows, "");
}

function when(view) {
  const seconds = view.evidence.forecast?.seconds;
  return view.words.when + (seconds ? ` At the pace of late that takes ${duration(seconds)}.` : "");
}

export function showCampaign({ main, connected, writes, loggedOut }, name) {
  document.title = name + " – linkarms";
  const note = h("p", { class: "quiet", role: "status" }, "Loading…");
  const place = { known: h("dd"), doubt: h("dd"), when: h("dd"), facts: h("p", { class: "quiet small" }), promise: h("p", { class: "small" }), table: h("div"), recent: h("div"), tickets: h("div"), replay: h("p", { class: "quiet small" }) };
  const bar = h("progress", { max: 1, value: 0, "aria-label": "evidence over threshold" });
  const charts = { arms: armsChart(), tree: dendrogramChart(), evidence: evidenceChart(), pulls: pullsChart() };
  const refresh = gathered(load);
  const feed = writes && feedForm(name, () => load());
  const retract = retractDialog(name, () => load());
  const link = (format) => h("a", { href: `/api/v1${of(name)}/export?format=${format}`, download: `${name}.${format}` }, format.toUpperCase());
  const body = h("div", { hidden: true },
    h("section", { class: "card", "aria-label": "How it stands" }, bar, place.facts,
      h("dl", { class: "words" }, h("div", {}, h("dt", {}, "What is known"), place.known), h("div", {}, h("dt", {}, "What is least certain"), place.doubt), h("div", {}, h("dt", {}, "When it will be done"), place.when)),
      place.promise),
    h("div", { class: "grid" },
      panel("Arms and clusters", "Each mark is an estimate, coloured by cluster. The shade is where the true value lies: all of them together, at all times, with the promised probability.", charts.arms.element, h("details", {}, h("summary", {}, "As a table"), place.table)),
      panel("Evidence", "The run stops when the evidence reaches the threshold. Dots are the forecast.", charts.evidence.element, place.replay),
      panel("How the arms join", "Single linkage: arms that join left of the cut are one cluster.", charts.tree.element),
      panel("Samples of each arm", "Arms in doubt get more. Pale: asked for, not told yet.", charts.pulls.element),
      feed && panel("Enter a sample", null, feed.form),
      panel("Recent samples", null, place.recent),
      panel("Who holds which ticket", null, place.tickets),
      panel("Export", "All tickets and samples as a table.", h("p", { class: "buttons" }, link("csv"), link("json"), link("parquet")))),
    retract.dialog);
  main.replaceChildren(h("p", { class: "small" }, h("a", { href: "#/" }, "← all campaigns")), h("h1", {}, name), note, body);

  async function give(ticket) {
    try {
      await call("POST", of(name) + "/release", { ticket });
      await load();
    } catch (problem) {
      note.className = "error";
      note.textContent = problem.message;
    }
  }

  function show(view) {
    const { status, words } = view;
    bar.value = view.progress;
    place.facts.textContent = `${count(status.samples)} samples of ${status.arms.length} arms; ${status.n_clusters} clusters wanted; error probability at most ${status.delta}; evidence ${number(status.evidence)} of ${number(status.threshold)}; ${status.sampling}, stopping rule ${status.stopping}.`;
    place.known.textContent = words.known + (view.evidence.changed && !status.stopped ? ` They have been the same since sample ${count(view.evidence.changed)}.` : "");
    place.doubt.textContent = words.doubt || (status.stopped ? "Nothing that matters: the evidence is enough." : "Not known yet.");
    place.when.textContent = when(view);
    place.promise.textContent = status.conditional ? words.promise : "";
    place.replay.textContent = view.evidence.replayed < 1 ? `The history is being read: ${Math.floor(100 * view.evidence.replayed)} %.` : "";
    place.table.replaceChildren(armsTable(view));
    charts.arms.show(view.arms);
    charts.tree.show(view.dendrogram);
    charts.evidence.show(view.evidence);
    charts.pulls.show({ status, labels: new Map(view.arms.names.map((arm, i) => [arm, view.arms.labels[i]])) });
    feed && feed.update(view);
    place.recent.replaceChildren(table("Recent samples", ["no.", "arm", "value", "by", "when", ...(writes ? [""] : [])], view.recent.map((sample) =>
      h("tr", { class: sample.state === "retracted" && "gone" }, h("td", { class: "n" }, sample.number), h("td", {}, sample.arm), h("td", { class: "n" }, sample.value.map(number).join(", ")), h("td", {}, sample.worker || "–"), h("td", {}, clock(sample.told_at)),
        writes && h("td", {}, sample.state === "told" && h("button", { type: "button", class: "tiny", "aria-label": `Take out sample ${sample.number}`, onclick: () => retract.open(sample) }, "take out")))), "No samples yet."));
    const many = status.tickets.open - view.tickets.length;
    place.tickets.replaceChildren(table("Open tickets", ["ticket", "arm", "who", "until", ...(writes ? [""] : [])], view.tickets.map((ticket) =>
      h("tr", {}, h("td", { class: "n" }, ticket.id), h("td", {}, ticket.arm), h("td", {}, ticket.worker || "–"), h("td", {}, clock(ticket.expires_at)),
        writes && h("td", {}, h("button", { type: "button", class: "tiny", "aria-label": `Give ticket ${ticket.id} back`, onclick: () => give(ticket.id) }, "give back")))), many > 0 ? "" : "Nobody holds a ticket."),
      many > 0 ? h("p", { class: "quiet small" }, `… and ${count(many)} more.`) : "");
  }

  async function load() {
    try {
      const view = await call("GET", of(name) + "/view");
      body.hidden = false;
      note.textContent = "";
      note.className = "quiet";
      show(view);
      if (view.evidence.replayed < 1) setTimeout(refresh, 200);
    } catch (problem) {
      if (problem.status === 401) { loggedOut(); return; }
      note.className = "error";
      note.textContent = problem.message;
      if (problem.status === 404) stop();
    }
  }

  const stop = watch(name, refresh, connected);
  refresh();
  return stop;
}
