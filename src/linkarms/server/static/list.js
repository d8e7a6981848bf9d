// The list of campaigns, and the form to start one.
import { call, gathered, LATER, watch } from "./api.js";
import { count, h, swap, wanted } from "./dom.js";
import { startForm } from "./start.js";

function item(campaign) {
  const percent = Math.floor(100 * campaign.progress);
  const state = campaign.stopped ? "done" : campaign.done ? "ended without a promise" : campaign.samples ? `${percent} % of the evidence` : "no samples yet";
  return h("li", { class: "card" },
    h("div", { class: "row" }, h("a", { href: "#/c/" + encodeURIComponent(campaign.name) }, campaign.name), h("span", {}, state)),
    h("progress", { max: 1, value: campaign.progress, "aria-label": `${campaign.name}: ${percent} percent` }),
    h("div", { class: "row quiet small" },
      h("span", {}, `${campaign.arms.length} arms, ${wanted(campaign)}, error at most ${campaign.delta}`),
      h("span", {}, `${count(campaign.samples)} samples, ${count(campaign.tickets.open)} open tickets`)));
}

export function showList({ main, connected, writes, loggedOut }) {
  document.title = "linkarms";
  const items = h("ul", { class: "list" });
  const note = h("p", { class: "quiet", role: "status" }, "Loading…");
  const place = h("div");
  const start = writes && h("section", { class: "card", "aria-labelledby": "start" }, h("h2", { id: "start" }, "Start a campaign"), place);
  main.replaceChildren(h("h1", {}, "Campaigns"), note, items, h("div", { class: "grid" }, start || ""));
  const offer = async () => {
    if (!writes || place.hasChildNodes()) return;
    const choices = await call("GET", "/choices");
    place.replaceChildren(startForm(choices, (name) => { location.hash = "#/c/" + encodeURIComponent(name); }));
  };
  const refresh = gathered(async () => {
    try {
      const { campaigns, age } = await call("GET", "/campaigns");
      swap(items, ...campaigns.map(item));
      note.className = "quiet";
      note.textContent = campaigns.length ? "" : "There is no campaign yet." + (writes ? " Start one below." : "");
      await offer();
      if (age !== undefined) return LATER.computing;
    } catch (problem) {
      if (problem.status === 401) { loggedOut(); return undefined; }
      note.className = "error";
      note.textContent = problem.message;
      if (problem.status === 503) return LATER.busy;
    }
    return undefined;
  });
  const unwatch = watch(null, refresh, connected);
  return () => { refresh.end(); unwatch(); };
}
