// The form that starts a campaign. The rules come from the service: what the library learns appears here.
import { call } from "./api.js";
import { field, h } from "./dom.js";

const FAMILIES = [
  ["gaussian-unknown", "numbers with noise of unknown variance"],
  ["gaussian", "numbers with noise of known variance"],
  ["bounded", "numbers between bounds"],
  ["exponential", "waiting times"],
  ["bernoulli", "yes or no (1 or 0)"],
  ["poisson", "counts"],
];
const RULES = { anytime: "when the evidence is enough (anytime); needs no settings", paper: "by the paper's rule; needs a range that contains all parameters" };
//: What the form can ask for.
const ASKED = ["theta", "epsilon"];

function numberInput(name, value, extra) {
  return h("input", { name, type: "number", step: "any", value, ...extra });
}

function choice(name, options, chosen) {
  return h("select", { name }, options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
}

// A field that is only there, and only required, while it is needed.
function needed(part, wanted) {
  part.hidden = !wanted;
  part.querySelector("input").required = wanted;
}

export function startForm({ stopping, defaults }, created) {
  const rules = stopping.filter((rule) => rule.required.every((name) => ASKED.includes(name)));
  const family = choice("family", FAMILIES, "gaussian-unknown");
  const rule = choice("stopping", rules.map(({ name }) => [name, RULES[name] || name]), defaults.stopping);
  const variance = field("Variance of the noise", numberInput("variance", "1", { min: "0" }));
  const low = field("Smallest possible sample", numberInput("low", "0"));
  const high = field("Largest possible sample", numberInput("high", "1"));
  const outside = field("A sample outside", choice("outside", [["refuse", "is refused"], ["clip", "counts as the nearer end"]], "refuse"));
  const order = choice("order", [["told", "when they are told"], ["asked", "in the order of asking"]], "told");
  const from = field("All parameters lie above", numberInput("from", ""));
  const to = field("… and below", numberInput("to", ""));
  const epsilon = field("Epsilon (smaller for harder problems)", numberInput("epsilon", "0.01", { min: "0" }));
  const message = h("p", { role: "alert" });
  const button = h("button", { class: "main" }, "Start the campaign");
  const form = h("form", {},
    h("div", { class: "fields" },
      field("Name (letters, digits, . - _)", h("input", { name: "name", required: true, maxlength: 100, autocomplete: "off" })),
      field("Number of clusters (empty: where the gap is largest)", numberInput("k", "2", { min: "1", step: "1" })),
      field("Numbers in one sample", numberInput("d", "1", { min: "1", step: "1", required: true })),
      field("Error probability", numberInput("delta", "0.05", { min: "0", max: "1", required: true }))),
    field("Arms: what is to be grouped, one name per line", h("textarea", { name: "arms", required: true })),
    h("div", { class: "fields" }, field("A sample is", family), variance, low, high, outside, field("Samples count", order)),
    h("div", { class: "fields" }, field("It stops", rule), from, to, epsilon),
    message, h("div", { class: "buttons" }, button));
  const asks = (name) => rules.find((found) => found.name === rule.value)?.parameters.includes(name) || false;
  const arrange = () => {
    needed(variance, family.value === "gaussian");
    for (const part of [low, high]) needed(part, family.value === "bounded");
    outside.hidden = family.value !== "bounded";
    for (const part of [from, to]) needed(part, asks("theta"));
    needed(epsilon, asks("epsilon"));
  };
  form.addEventListener("change", arrange);
  arrange();

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const data = new FormData(form);
    const value = (name) => Number(data.get(name));
    const families = { gaussian: `gaussian:${value("variance")}`, bounded: `bounded:${value("low")}:${value("high")}` };
    const body = {
      name: data.get("name").trim(),
      arms: data.get("arms").split("\n").map((line) => line.trim()).filter(Boolean),
      n_clusters: data.get("k") === "" ? null : value("k"), n_features: value("d"), delta: value("delta"),
      family: families[family.value] || family.value,
      ...(family.value === "bounded" && data.get("outside") === "clip" && { clip: [value("low"), value("high")] }),
      ...(order.value === "asked" && { in_order: true }),
      stopping: { name: rule.value, ...(asks("theta") && { theta: [value("from"), value("to")] }), ...(asks("epsilon") && { epsilon: value("epsilon") }) },
    };
    button.disabled = true;
    message.className = "quiet";
    message.textContent = "Starting…";
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
