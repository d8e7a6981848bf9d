// Which page is shown, who is logged in, and whether the connection is live.
import { call } from "./api.js";
import { showCampaign } from "./campaign.js";
import { field, h } from "./dom.js";
import { showList } from "./list.js";

const main = document.getElementById("main");
const connection = document.getElementById("connection");
const logout = document.getElementById("logout");
let leave = () => {};

function connected(live) {
  connection.className = live ? "live" : "lost";
  connection.textContent = live ? "live" : "disconnected – trying again";
}

function showLogin(note) {
  const token = h("input", { type: "password", name: "token", required: true, autocomplete: "current-password" });
  const message = h("p", { class: note ? "error" : "", role: "alert" }, note || "");
  const form = h("form", { class: "card" }, h("h1", {}, "Log in"),
    h("p", { class: "quiet" }, "This service needs a token. Ask the person who runs it for one."),
    field("Token", token), message, h("div", { class: "buttons" }, h("button", { class: "main" }, "Log in")));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await call("POST", "/session", { token: token.value });
      start();
    } catch (problem) {
      message.className = "error";
      message.textContent = problem.message;
    }
  });
  main.replaceChildren(form);
  connection.textContent = connection.className = "";
  token.focus();
}

async function start() {
  leave();
  leave = () => {};
  let session;
  try {
    session = await call("GET", "/session");
  } catch (problem) {
    connected(false);
    main.replaceChildren(h("p", { class: "error", role: "alert" }, problem.message));
    setTimeout(start, 2000);
    return;
  }
  logout.hidden = !session.tokens || session.role === null;
  if (session.role === null) { showLogin(); return; }
  const match = /^#\/c\/([^/]+)$/.exec(location.hash);
  const page = { main, connected, writes: session.role === "write", loggedOut: () => showLogin("The session has ended.") };
  leave = match ? showCampaign(page, decodeURIComponent(match[1])) : showList(page);
}

logout.addEventListener("click", async () => {
  await call("DELETE", "/session").catch(() => null);
  start();
});
addEventListener("hashchange", () => {
  if (location.hash === "#main") return;
  start();
  main.focus();
});
start();
