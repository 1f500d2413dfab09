
"use strict";
// Every text from the data goes into the page by textContent; nothing is ever parsed as HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const store = "labels-" + data.units.map((unit) => unit.id).join("").slice(0, 64);
let given = {};
let place = 0;
let saved = true;

try { given = JSON.parse(localStorage.getItem(store) || "{}"); } catch (error) { given = {}; }
const answered = () => data.units.filter((unit) => given[unit.id] && given[unit.id].label).length;
const entry = (unit) => (given[unit.id] = given[unit.id] || { label: "", note: "" });

function keep() {
  saved = false;
  try { localStorage.setItem(store, JSON.stringify(given)); } catch (error) { /* a page without storage still saves its CSV */ }
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function show() {
  const unit = data.units[place];
  const mine = entry(unit);
  at("progress").textContent = `${place + 1} of ${data.units.length}, ${answered()} answered`;
  at("query").textContent = unit.query;
  at("item").textContent = unit.text;
  at("shown").textContent = Object.entries(unit.shown || {}).map(([name, value]) => `${name}: ${value}`).join(" · ");
  at("evidence").replaceChildren(...unit.evidence.map(evidence));
  at("note").value = mine.note;
  showAnswers(unit, mine);
  showReport(unit);
}

function evidence(one) {
  const line = document.createElement("li");
  if (/^https?:\/\//i.test(one.url)) {
    const link = element("a", one.url);
    link.href = one.url;
    link.target = "_blank";
    link.rel = "noopener noreferrer";
    line.append(link);
  } else {
    line.append(one.url);
  }
  if (one.quote) line.append(" “" + one.quote + "”");
  return line;
}

function showAnswers(unit, mine) {
  const box = at("answers");
  box.replaceChildren();
  if (unit.score) {
    const input = document.createElement("input");
    input.type = "number";
    input.min = 0;
    input.max = 100;
    input.id = "score";
    input.value = mine.label === data.cannotTell ? "" : mine.label;
    input.addEventListener("change", () => answer(input.validity.valid ? input.value : ""));
    const label = element("label", "Score 0 to 100 ");
    label.append(input);
    box.append(label);
  }
  const choices = unit.score ? [] : unit.answers;
  choices.forEach((choice, index) => box.append(button(`${index + 1}  ${choice}`, choice, mine)));
  box.append(button("0  cannot tell", data.cannotTell, mine));
}

function button(text, choice, mine) {
  const made = element("button", text);
  made.type = "button";
  made.setAttribute("aria-pressed", String(mine.label === choice));
  made.addEventListener("click", () => { answer(choice); move(1); });
  return made;
}

function showReport(unit) {
  const text = data.reports[unit.report];
  const box = at("report");
  if (!unit.span) {
    box.textContent = text;
    box.scrollTop = 0;
    return;
  }
  const [start, end] = unit.span;
  const mark = element("mark", text.slice(start, end));
  box.replaceChildren(text.slice(0, start), mark, text.slice(end));
  mark.scrollIntoView({ block: "center" });
}

function answer(label) {
  entry(data.units[place]).label = label;
  keep();
}

function move(step) {
  place = Math.min(data.units.length - 1, Math.max(0, place + step));
  show();
}

function nextOpen() {
  const order = [...data.units.keys()].map((index) => (place + 1 + index) % data.units.length);
  const open = order.find((index) => !entry(data.units[index]).label);
  if (open !== undefined) { place = open; show(); }
}

function cell(text) {
  const plain = /^[=+\-@\t\r]/.test(text) ? "'" + text : text;
  return '"' + plain.replaceAll('"', '""') + '"';
}

function save() {
  const rater = at("rater").value.trim();
  if (!rater) { at("rater").focus(); at("progress").textContent = "your name first, it goes into the file"; return; }
  const rows = data.units.filter((unit) => entry(unit).label || entry(unit).note);
  const lines = rows.map((unit) => [unit.id, rater, given[unit.id].label, given[unit.id].note].map(cell).join(","));
  const file = new Blob(["id,rater,label,note\n" + lines.join("\n") + "\n"], { type: "text/csv" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = "labels_" + rater.replace(/[^\p{L}\p{N}_-]+/gu, "_") + ".csv";
  link.click();
  URL.revokeObjectURL(link.href);
  saved = true;
}

at("back").addEventListener("click", () => move(-1));
at("next").addEventListener("click", () => move(1));
at("save").addEventListener("click", save);
at("note").addEventListener("change", () => { entry(data.units[place]).note = at("note").value; keep(); });
window.addEventListener("beforeunload", (event) => { if (!saved) event.preventDefault(); });
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.tagName === "INPUT") {
    if (event.key === "Enter" || event.key === "Escape") event.target.blur();
    return;
  }
  const unit = data.units[place];
  const choices = unit.score ? [] : unit.answers;
  const number = Number.parseInt(event.key, 10);
  if (event.key === "ArrowRight" || event.key === "j") move(1);
  else if (event.key === "ArrowLeft" || event.key === "k") move(-1);
  else if (event.key === "u") nextOpen();
  else if (event.key === "s") save();
  else if (event.key === "n") at("note").focus();
  else if (unit.score && number >= 1) at("score").focus();
  else if (event.key === "0") { answer(data.cannotTell); move(1); }
  else if (number >= 1 && number <= choices.length) { answer(choices[number - 1]); move(1); }
  else return;
  event.preventDefault();
});
show();
