// The forms of a campaign: ask for something to measure, enter a sample, take one out.
import { call, of } from "./api.js";
import { clock, field, h, key } from "./dom.js";

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

export function feedForm(name, refresh) {
  const worker = h("input", { name: "worker", maxlength: 200, autocomplete: "name", placeholder: "your name" });
  const what = h("select", { name: "what", required: true });
  let offered = "";
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
    if (!words[0] || !numbers.every(Number.isFinite)) throw new Error("This is not a number. Write it like 0.25, with a point.");
    const sample = { value: numbers.length === 1 ? numbers[0] : numbers };
    const id = what.value.slice(1);
    const by = worker.value.trim() || null;
    const body = what.value.startsWith("t") ? { samples: [{ ticket: Number(id), ...sample }], key: once } : { samples: [{ arm: id, ...sample }], worker: by, key: once };
    const { receipts } = await call("POST", of(name) + (what.value.startsWith("t") ? "/tell" : "/add"), body);
    value.value = what.value = "";
    await refresh();
    return `Stored as sample ${receipts[0].number}, arm ${receipts[0].arm}.`;
  }));
  return {
    form,
    update(view) {
      next.disabled = view.status.done;
      const open = view.tickets.map((t) => [t.id, `${t.arm} (ticket ${t.id}${t.worker ? ", " + t.worker : ""})`]);
      const { awaited, in_order: inOrder } = view.status; // an expired ticket that later samples wait for
      if (awaited !== null && !view.tickets.some((t) => t.id === awaited)) open.unshift([awaited, `ticket ${awaited}, which others wait for`]);
      if (JSON.stringify(open) === offered) return; // a list that somebody has open is left alone
      offered = JSON.stringify(open);
      const chosen = what.value, words = what.selectedOptions[0]?.textContent;
      const gone = chosen.startsWith("t") && !open.some(([id]) => "t" + id === chosen);
      // a ticket that is gone stays chosen: another arm must not slip into its place while somebody types
      what.replaceChildren(h("option", { value: "" }, "choose, or ask what to measure"),
        gone ? h("option", { value: chosen }, words.replace(/( – no longer open)?$/, " – no longer open")) : "",
        open.length ? h("optgroup", { label: "open tickets" }, open.map(([id, text]) => h("option", { value: "t" + id }, text))) : "",
        inOrder ? "" : h("optgroup", { label: "without a ticket" }, view.status.arms.map((arm) => h("option", { value: "a" + arm }, arm))));
      what.value = chosen;
    },
  };
}

export function retractDialog(name, refresh) {
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
  }, title, h("p", { class: "quiet small" }, "All other samples are counted again. The promise then holds only if the sample is not taken out because of its value."),
    field("Why", reason), message, h("div", { class: "buttons" }, button, h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"))));
  return { dialog, open(sample) { ticket = sample.ticket; title.textContent = `Take out sample ${sample.number} of ${sample.arm}`; message.textContent = reason.value = ""; dialog.showModal(); } };
}
