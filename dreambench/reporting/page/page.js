"use strict";
// The page's behaviour. All text of reports, pages and judges reaches the document through textContent: none of it is ever HTML.
const $ = (id) => document.getElementById(id);
const make = (tag, className, text) => {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
};
const STEP = 50;
const chunks = [...document.querySelectorAll("script.chunk")];
const opened = new Map();
let index, shown = [], listed = 0, current = null, active = null;

async function unpack(node) {
  const bytes = Uint8Array.from(atob(node.textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

async function open(number) {
  if (!opened.has(number)) {
    const chunk = await unpack(chunks[number]);
    // Offsets count characters as Python does; only texts beyond the basic plane need an array to count alike.
    chunk.chars = /[\ud800-\udfff]/.test(chunk.text) ? Array.from(chunk.text) : chunk.text;
    opened.set(number, chunk);
  }
  return opened.get(number);
}
const cut = (chars, start, end) => (typeof chars === "string" ? chars.slice(start, end) : chars.slice(start, end).join(""));

function fill(select, values, all, names = (v) => v) {
  const kept = select.value;
  select.replaceChildren();
  if (all !== undefined) select.append(new Option(all, ""));
  for (const value of values) select.append(new Option(names(value), value));
  if ([...select.options].some((option) => option.value === kept)) select.value = kept;
}
const unique = (values) => [...new Set(values)];

// What a label counts, in words, where the word alone does not say it.
const meaning = (label) => (index.meanings[label] ? ` (${index.meanings[label]})` : "");

// ---- findings
const [TEXT, METRIC, JUDGE, LABEL, SEVERITY, REASON, WORDS, ADDRESS, ITEM] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
const [TASK, AGENT, ARM] = [0, 1, 2];

function filterFindings() {
  const form = new FormData($("filters"));
  const want = Object.fromEntries(form);
  const search = want.search.toLowerCase();
  shown = index.findings.filter((row) => {
    const text = index.texts[row[TEXT]];
    return (!want.agent || text[AGENT] === want.agent) && (!want.metric || row[METRIC] === want.metric) &&
      (!want.label || row[LABEL] === want.label) && (!want.judge || row[JUDGE] === want.judge) &&
      (!want.task || text[TASK] === want.task) && (want.arm === "any" || text[ARM] === want.arm) &&
      (!search || (row[WORDS] + " " + row[ADDRESS] + " " + row[REASON]).toLowerCase().includes(search));
  });
  $("found").textContent = `${shown.length.toLocaleString("en")} of ${index.findings.length.toLocaleString("en")}`;
  $("list").replaceChildren();
  listed = 0;
  listMore(12);
}

function listMore(count) {
  const items = shown.slice(listed, listed + count).map((row) => {
    const text = index.texts[row[TEXT]];
    const button = make("button");
    button.type = "button";
    button.append(make("span", `tag w${row[SEVERITY]}`, row[LABEL].replaceAll("_", " ")), make("span", "", row[WORDS]),
      make("div", "where", [text[AGENT], text[TASK], text[ARM], `${row[METRIC]} by ${row[JUDGE]}`, row[REASON], row[ADDRESS]].filter(Boolean).join(" · ")));
    button.addEventListener("click", () => go(row[TEXT], row[ITEM], row[METRIC], row[JUDGE]));
    const item = make("li");
    item.append(button);
    return item;
  });
  $("list").append(...items);
  listed += items.length;
  $("more").hidden = listed >= shown.length;
  $("rest").textContent = listed < shown.length ? `and ${(shown.length - listed).toLocaleString("en")} more, in the file` : "";
}

// ---- reports
function selected() {
  const form = Object.fromEntries(new FormData($("choose")));
  return index.texts.findIndex((text) => text[TASK] === form.task && text[AGENT] === form.agent && text[ARM] === form.arm);
}

function offer() {
  const form = $("choose"), tasks = form.elements.task, agents = form.elements.agent, arms = form.elements.arm;
  const ofTask = index.texts.filter((text) => text[TASK] === tasks.value);
  fill(agents, unique(ofTask.map((text) => text[AGENT])));
  fill(arms, unique(ofTask.filter((text) => text[AGENT] === agents.value).map((text) => text[ARM])), undefined, (v) => v || "as it is");
}

async function show(number) {
  const chunk = await open(number);
  if (current === null || current.number !== number) {
    current = { number, chunk };
    const form = $("choose"), text = index.texts[number];
    form.elements.task.value = text[TASK];
    offer();
    form.elements.agent.value = text[AGENT];
    offer();
    form.elements.arm.value = text[ARM];
    fill(form.elements.judge, unique(chunk.judgments.map((j) => j.judge)), "all");
    const metrics = unique(chunk.judgments.filter((j) => j.report_start !== null).map((j) => j.metric));
    const judged = metrics.filter((metric) => chunk.judgments.some((j) => j.metric === metric && j.judge !== "code"));
    const before = new Map([...$("metrics").querySelectorAll("input")].map((box) => [box.value, box.checked]));
    $("metrics").replaceChildren($("metrics").firstElementChild, ...metrics.map((metric) => {
      const label = make("label"), box = make("input");
      box.type = "checkbox";
      box.value = metric;
      box.checked = before.has(metric) ? before.get(metric) : judged.includes(metric) || judged.length === 0;
      label.append(box, metric);
      return label;
    }));
    $("which").textContent = `The report of ${text[AGENT]} to ${text[TASK]}${text[ARM] && `, ${text[ARM]}`}`;
    $("query").textContent = chunk.query + (chunk.as_of ? ` (as of ${chunk.as_of})` : "");
  }
  draw();
}

function wanted() {
  const judge = $("choose").elements.judge.value;
  const metrics = new Set([...$("metrics").querySelectorAll("input:checked")].map((box) => box.value));
  return current.chunk.judgments.filter((j) => metrics.has(j.metric) && (!judge || j.judge === judge));
}

const weight = (j) => (j.status !== "scored" || j.value === null ? "n" : j.severity);
const order = (w) => (w === "n" ? 0.5 : w);

function draw() {
  const { chunk } = current, judgments = wanted().filter((j) => j.report_start !== null && j.report_end > j.report_start);
  const ends = new Set([0, chunk.chars.length]);
  for (const j of judgments) ends.add(j.report_start).add(j.report_end);
  for (const edit of chunk.edits) ends.add(edit.start).add(edit.end);
  const bounds = [...ends].sort((a, b) => a - b), starts = [...judgments].sort((a, b) => a.report_start - b.report_start);
  const article = $("text"), fragment = document.createDocumentFragment();
  let next = 0, over = [];
  for (let i = 0; i + 1 < bounds.length; i++) {
    const [from, to] = [bounds[i], bounds[i + 1]];
    while (next < starts.length && starts[next].report_start <= from) over.push(starts[next++]);
    over = over.filter((j) => j.report_end > from);
    const words = cut(chunk.chars, from, to), planted = chunk.edits.some((edit) => edit.start <= from && to <= edit.end);
    if (over.length === 0) {
      fragment.append(planted ? make("span", "planted", words) : document.createTextNode(words));
      continue;
    }
    const here = [...over].sort((a, b) => order(weight(b)) - order(weight(a)));
    const node = make("mark", `w${weight(here[0])}${planted ? " planted" : ""}`, words);
    node.tabIndex = 0;
    node.setAttribute("role", "button");
    node.title = here.map((j) => `${j.metric}: ${(j.label || j.status).replaceAll("_", " ")}`).join("\n");
    node.judgments = here;
    node.dataset.start = from;
    fragment.append(node);
  }
  article.replaceChildren(fragment);
  article.scrollTop = 0;
  active = null;
  const counts = new Map();
  for (const j of judgments) {
    const key = `${j.metric}: ${(j.label || j.status).replaceAll("_", " ")}`;
    counts.set(key, { count: (counts.get(key)?.count ?? 0) + 1, weight: weight(j), label: j.label });
  }
  $("legend").replaceChildren(...[...counts].sort((a, b) => order(b[1].weight) - order(a[1].weight)).slice(0, 24).map(([key, entry]) => {
    const item = make("li");
    item.append(make("span", `tag w${entry.weight}`, String(entry.count)), key + meaning(entry.label));
    return item;
  }), ...(chunk.edits.length ? [make("li", "planted", `${chunk.edits.length} planted edits`)] : []));
  const whole = wanted().filter((j) => j.report_start === null).concat(chunk.judgments.filter((j) => j.report_start === null && !wanted().includes(j)));
  $("whole-list").replaceChildren(...whole.map(describe));
  $("whole").hidden = whole.length === 0;
}

function describe(j) {
  const node = make("div", "judgment");
  const first = make("p");
  const verdict = j.report_start !== null || (j.evidence || []).length > 0;  // marks for style, and counts, are none
  first.append(make("span", `tag w${verdict ? weight(j) : "n"}`, (j.label || j.status).replaceAll("_", " ")), `${j.metric} · ${j.family} · by ${j.judge}` +
    (j.value === null ? "" : ` · value ${j.value >= 0 && j.value <= 1 ? (100 * j.value).toFixed(0) : j.value.toLocaleString("en")}`) + (j.repeat ? ` · repeat ${j.repeat + 1}` : "") + (j.status === "scored" ? "" : ` · ${j.status}`));
  node.append(first);
  if (j.reason_code) node.append(make("p", "dim", `reason: ${j.reason_code}`));
  if (j.rationale) node.append(make("p", "", j.rationale));
  for (const e of j.evidence || []) {
    const trajectory = current.chunk.trajectories[e.url];
    if (trajectory) {
      const details = make("details");
      details.append(make("summary", "", `What the agent did (${trajectory.steps?.length ?? 0} steps)`), make("pre", "", JSON.stringify(trajectory, null, 1)));
      node.append(details);
      continue;
    }
    if (e.quote) node.append(make("blockquote", "", e.quote));
    const where = make("p", "where");
    if (/^https?:\/\//.test(e.url)) {
      const link = make("a", "", e.url);
      link.href = e.url;
      link.rel = "noreferrer noopener";
      link.target = "_blank";
      where.append(link);
    } else where.append(e.url);
    where.append(e.published ? ` · dated ${e.published}` : " · undated", e.snapshot ? ` · read as ${e.snapshot.slice(0, 12)}` : "");
    node.append(where);
  }
  const votes = current.chunk.judgments.filter((o) => o.item === j.item && o.metric === j.metric && o.family === j.family && o !== j);
  if (votes.length) node.append(make("p", "dim", "other votes: " + votes.map((o) => `${o.judge}${o.rubric && o.rubric !== "default" ? `[${o.rubric}]` : ""}${o.repeat ? ` #${o.repeat + 1}` : ""}: ${o.label || o.status}`).join(", ")));
  return node;
}

// A claim and its only citation are two items with one verdict and one reason: told once.
const told = (judgments) => judgments.filter((j, at) =>
  judgments.findIndex((o) => o.metric === j.metric && o.judge === j.judge && o.repeat === j.repeat && o.label === j.label && o.rationale === j.rationale) === at);

function choose(node, focusPanel) {
  active?.classList.remove("on");
  active = node;
  node.classList.add("on");
  node.scrollIntoView({ block: "nearest" });
  const edits = current.chunk.edits.filter((edit) => edit.start <= Number(node.dataset.start) && Number(node.dataset.start) < edit.end);
  $("panel").replaceChildren(...edits.map((edit) => {
    const planted = make("div", "judgment");
    planted.append(make("p", "", `planted here: ${edit.kind}`), make("blockquote", "", `${edit.before || "(nothing)"} → ${edit.after || "(nothing)"}`));
    return planted;
  }), ...told(node.judgments).map(describe));
  $("panel").scrollTop = 0;
  const j = node.judgments[0];
  history.replaceState(null, "", `#text=${current.number}&item=${j.item}&metric=${j.metric}&judge=${encodeURIComponent(j.judge)}`);
  if (focusPanel) $("panel").focus({ preventScroll: true });
}

async function go(number, item, metric, judge) {
  current = current?.number === number ? current : null;
  await show(number);
  const box = [...$("metrics").querySelectorAll("input")].find((input) => input.value === metric);
  if (box && !box.checked) {
    box.checked = true;
    draw();
  }
  const same = (j) => j.item === item && (!metric || j.metric === metric) && (!judge || j.judge === judge);
  const node = [...$("text").querySelectorAll("mark")].find((mark) => mark.judgments.some(same));
  $("reader").scrollIntoView();
  if (node) {
    node.judgments.sort((a, b) => same(b) - same(a));
    choose(node, true);
  } else {
    const whole = current.chunk.judgments.filter(same);
    $("panel").replaceChildren(...whole.map(describe));
    history.replaceState(null, "", `#text=${number}&item=${item}&metric=${metric}&judge=${encodeURIComponent(judge)}`);
    $("panel").focus({ preventScroll: true });
  }
}

function step(by) {
  const marks = [...$("text").querySelectorAll("mark")];
  if (marks.length === 0) return;
  const at = marks.indexOf(active);
  const node = marks[(at + by + marks.length) % marks.length] ?? marks[0];
  choose(node, false);
  node.focus({ preventScroll: true });
}

// ---- copy as CSV
const csvCell = (value) => {
  const text = String(value ?? "");
  const safe = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
async function copy(rows, button) {
  const text = rows.map((row) => row.map(csvCell).join(",")).join("\n") + "\n";
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    const area = make("textarea", "", text);
    document.body.append(area);
    area.select();
    button.textContent = document.execCommand("copy") ? "Copied" : "Could not copy";
    area.remove();
  }
  setTimeout(() => (button.textContent = before), 1500);
}

async function start() {
  index = await unpack($("index"));
  const filters = $("filters").elements, textOf = (row) => index.texts[row[TEXT]];
  fill(filters.agent, unique(index.texts.map((t) => t[AGENT])), "all");
  fill(filters.task, unique(index.texts.map((t) => t[TASK])), "all");
  fill(filters.metric, unique(index.findings.map((r) => r[METRIC])).sort(), "all");
  fill(filters.label, unique(index.findings.map((r) => r[LABEL])).sort(), "all");
  fill(filters.judge, unique(index.findings.map((r) => r[JUDGE])).sort(), "all");
  fill(filters.arm, unique(index.texts.map((t) => t[ARM])), undefined, (v) => v || "as it is");
  filters.arm.append(new Option("any", "any"));
  $("filters").addEventListener("input", filterFindings);
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("choose").addEventListener("submit", (event) => event.preventDefault());
  $("more").addEventListener("click", () => listMore(STEP));
  $("copy-findings").addEventListener("click", (event) => copy([["agent", "task", "text", "metric", "judge", "label", "reason", "words", "evidence"],
    ...shown.map((row) => [textOf(row)[AGENT], textOf(row)[TASK], textOf(row)[ARM], row[METRIC], row[JUDGE], row[LABEL], row[REASON], row[WORDS], row[ADDRESS]])], event.target));
  for (const button of document.querySelectorAll("button.copy")) {
    const rows = () => [...button.closest("table").rows].map((row) => [...row.cells].map((cell) => cell.textContent));
    button.addEventListener("click", () => copy(rows(), button));
  }
  const form = $("choose");
  fill(form.elements.task, unique(index.texts.map((t) => t[TASK])));
  offer();
  form.addEventListener("change", (event) => {
    if (["task", "agent", "arm"].includes(event.target.name)) {
      offer();
      show(selected());
    } else draw();
  });
  $("text").addEventListener("click", (event) => {
    const node = event.target.closest("mark");
    if (node) choose(node, false);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
    else if (event.key === "Enter" && event.target.tagName === "MARK") choose(event.target, true);
  });
  $("theme").addEventListener("click", () => {
    const dark = document.documentElement.classList.contains("dark") ||
      (!document.documentElement.classList.contains("light") && matchMedia("(prefers-color-scheme: dark)").matches);
    document.documentElement.className = dark ? "light" : "dark";
  });
  filterFindings();
  const link = new URLSearchParams(location.hash.slice(1));
  const number = Number(link.get("text"));
  if (link.has("item") && index.texts[number]) await go(number, link.get("item"), link.get("metric"), link.get("judge"));
  else if (index.texts.length) await show(0);
  document.documentElement.dataset.ready = "yes";
}
start();
