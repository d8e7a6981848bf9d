// The list of campaigns, and the form to start one.
import { call, gathered, watch } from "./api.js";
import { count, field, h } from "./dom.js";

function item(campaign) {
  const percent = Math.floor(100 * campaign.progress);
  const state = campaign.stopped ? "done" : campaign.done ? "ended without a promise" : campaign.samples ? `${percent} % of the evidence` : "no samples yet";
  return h("li", { class: "card" },
    h("div", { class: "row" }, h("a", { href: "#/c/" + encodeURIComponent(campaign.name) }, campaign.name), h("span", {}, state)),
    h("progress", { max: 1, value: campaign.progress, "aria-label": `${campaign.name}: ${percent} percent` }),
    h("div", { class: "row quiet small" },
      h("span", {}, `${campaign.arms.length} arms, ${campaign.n_clusters} clusters, error at most ${campaign.delta}`),
      h("span", {}, `${count(campaign.samples)} samples, ${count(campaign.tickets.open)} open tickets`)));
}

function numberInput(name, value, extra) {
  return h("input", { name, type: "number", step: "any", value, ...extra });
}

function newForm(created) {
  const family = h("select", { name: "family" },
    h("option", { value: "gaussian" }, "numbers with noise of known variance"),
    h("option", { value: "bounded" }, "numbers between bounds"),
    h("option", { value: "exponential" }, "waiting times"),
    h("option", { value: "bernoulli" }, "yes or no (1 or 0)"),
    h("option", { value: "poisson" }, "counts"));
  const variance = field("Variance of the noise", numberInput("variance", "1", { min: "0" }));
  const low = field("Least possible sample", numberInput("low", "0"));
  const high = field("Largest possible sample", numberInput("high", "1"));
  const message = h("p", { role: "alert" });
  const button = h("button", { class: "main" }, "Start the campaign");
  const form = h("form", {},
    h("div", { class: "fields" },
      field("Name (letters, digits, . - _)", h("input", { name: "name", required: true, maxlength: 100, autocomplete: "off" })),
      field("Number of clusters", numberInput("k", "2", { min: "1", step: "1", required: true })),
      field("Numbers in one sample", numberInput("d", "1", { min: "1", step: "1", required: true })),
      field("Error probability", numberInput("delta", "0.05", { min: "0", max: "1", required: true }))),
    field("Arms: what is to be grouped, one name a line", h("textarea", { name: "arms", required: true })),
    h("div", { class: "fields" }, field("A sample is", family), variance, low, high,
      field("All parameters lie above", numberInput("from", "")), field("… and below", numberInput("to", ""))),
    message, h("div", { class: "buttons" }, button));
  const arrange = () => {
    variance.hidden = family.value !== "gaussian";
    low.hidden = high.hidden = family.value !== "bounded";
  };
  family.addEventListener("change", arrange);
  arrange();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const data = new FormData(form);
    const value = (name) => Number(data.get(name));
    const families = { gaussian: { name: "gaussian", covariance: value("variance") }, bounded: { name: "bounded", low: value("low"), high: value("high") } };
    const body = {
      name: data.get("name").trim(),
      arms: data.get("arms").split("\n").map((line) => line.trim()).filter(Boolean),
      n_clusters: value("k"), n_features: value("d"), delta: value("delta"),
      family: families[family.value] || family.value,
    };
    if (data.get("from") !== "" && data.get("to") !== "") body.stopping = { name: "paper", theta: [value("from"), value("to")] };
    button.disabled = true;
    message.className = "quiet";
    message.textContent = "Starting… The very first campaign on a machine takes a minute: formulas are compiled.";
    try {
      await call("POST", "/campaigns", body);
      created(body.name);
    } catch (problem) {
      message.className = "error";
      message.textContent = problem.message;
    }
    button.disabled = false;
  });
  return form;
}

export function showList({ main, connected, writes, loggedOut }) {
  document.title = "linkarms";
  const items = h("ul", { class: "list" });
  const note = h("p", { class: "quiet", role: "status" }, "Loading…");
  const start = writes && h("section", { class: "card", "aria-labelledby": "start" }, h("h2", { id: "start" }, "Start a campaign"),
    newForm((name) => { location.hash = "#/c/" + encodeURIComponent(name); }));
  main.replaceChildren(h("h1", {}, "Campaigns"), note, items, h("div", { class: "grid" }, start || ""));
  const refresh = gathered(async () => {
    try {
      const { campaigns } = await call("GET", "/campaigns");
      items.replaceChildren(...campaigns.map(item));
      note.className = "quiet";
      note.textContent = campaigns.length ? "" : "There is no campaign yet." + (writes ? " Start one below." : "");
    } catch (problem) {
      if (problem.status === 401) { loggedOut(); return; }
      note.className = "error";
      note.textContent = problem.message;
    }
  });
  return watch(null, refresh, connected);
}
