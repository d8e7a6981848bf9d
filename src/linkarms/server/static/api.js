// Requests to the service that the page came from, and live updates.

export class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

export async function call(method, path, body) {
  const options = { method, headers: {} };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
  let answer;
  try {
    answer = await fetch("/api/v1" + path, options);
  } catch {
    const then = method === "GET" ? "The page continues by itself when the service is back." : "What you entered is still here: try again in a moment.";
    throw new Problem(0, "The service cannot be reached. " + then);
  }
  if (answer.status === 204) return null;
  const content = await answer.json().catch(() => null);
  if (!answer.ok) throw new Problem(answer.status, content?.detail || `The service answered with status ${answer.status}.`);
  // the service says how old a state is while it computes a newer one
  if (answer.headers.has("Age")) content.age = Number(answer.headers.get("Age"));
  return content;
}

export const of = (name) => "/campaigns/" + encodeURIComponent(name);

// Calls `changed` at once and whenever the service says that something is new; `connected` with true or false.
export function watch(name, changed, connected) {
  let source, timer, closed = false;
  const open = () => {
    source = new EventSource("/api/v1/events" + (name === null ? "" : "?campaign=" + encodeURIComponent(name)));
    source.addEventListener("version", () => { connected(true); changed(); });
    source.onerror = () => {
      connected(false);
      // a browser goes on by itself after a lost connection, and not after an answer like 401 or 503
      if (source.readyState === EventSource.CLOSED && !closed) timer = setTimeout(open, 2000);
    };
  };
  open();
  return () => { closed = true; clearTimeout(timer); source.close(); };
}

// One request at a time, and one more if something happened meanwhile. Where `work` returns a number, it is done again after so many
// milliseconds, until `run.end` is called.
export function gathered(work) {
  let running = false, again = false, over = false, timer;
  async function run() {
    if (running) { again = true; return; }
    running = true;
    clearTimeout(timer);
    let later;
    do {
      again = false;
      later = await work();
    } while (again);
    running = false;
    if (later !== undefined && !over) timer = setTimeout(run, later);
  }
  run.end = () => { over = true; clearTimeout(timer); };
  return run;
}

// Milliseconds until the page asks again: for a state that is being computed, and for a service that is busy.
export const LATER = { reading: 200, computing: 1000, busy: 2000 };
