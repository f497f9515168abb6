"use strict";
// Asks for the state of all runs every two seconds while the page is visible. A card has at most one picture under way.
const cards = [];

function text(card, name, value) {
  const part = card.root.querySelector(name);
  if (part.textContent !== value) part.textContent = value;
}

function duration(s) {
  const pad = (n) => String(Math.floor(n)).padStart(2, "0");
  return s < 60 ? `${Math.round(s)} s` : s < 3600 ? `${Math.floor(s / 60)}:${pad(s % 60)} min`
    : `${Math.floor(s / 3600)}:${pad((s % 3600) / 60)} h`;
}

// Shows what is wrong: of the run itself, else of its picture or panels; nothing once both are right again.
function fault(card, of, message) {
  card.faults[of] = message;
  const part = card.root.querySelector(".fault");
  part.textContent = card.faults.run || card.faults.picture || card.faults.panels || "";
  part.hidden = !part.textContent;
}

// Whether no answer came at all, as where a tunnel is down: the next look asks again.
const unanswered = (error) => error instanceof TypeError;

// A browser opens six connections to one host. At most four wait for pictures, so that state and log come meanwhile.
const waiting = [];
let free = 4;

async function draw(card, image, address) {
  if (free > 0) free -= 1;
  else await new Promise((go) => { waiting.push(go); });
  try {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(await answer.text());
    const old = image.src;
    image.src = URL.createObjectURL(await answer.blob());
    if (old.startsWith("blob:")) URL.revokeObjectURL(old);
  } finally {
    if (waiting.length) waiting.shift()();
    else free += 1;
  }
}

// Draws what the controls ask for, one picture at a time. The server may take a while: the page says so after half a second.
async function show(card) {
  const cuts = Boolean(card.axes[card.axis.value]);
  const plane = cuts ? `&axis=${card.axis.value}&share=${card.share.value}` : card.axis.value ? `&axis=${card.axis.value}` : "";
  const eye = card.turned && !cuts ? `&eye=${card.azimuth.value},${card.elevation.value},${Number(card.near.checked)}` : "";
  const wanted = `${card.steps[card.slider.value]}&of=${card.of}${plane}${eye}${card.sharp ? "&sharp=1" : ""}`;
  if (card.busy || wanted === card.shown || !card.steps.length) return;
  card.busy = true;
  const drawing = card.root.querySelector(".drawing");
  const late = setTimeout(() => { drawing.hidden = false; }, 500);
  try {
    await draw(card, card.image, `picture?run=${card.index}&step=${wanted}`);
    fault(card, "picture", "");
  } catch (error) {
    if (unanswered(error)) return;
    fault(card, "picture", error.message);
  } finally {
    clearTimeout(late);
    drawing.hidden = true;
    card.busy = false;
  }
  card.shown = wanted;
  show(card); // the slider may have moved on
}

function move(card) {
  const at = card.times[card.slider.value];
  text(card, ".time", at === null ? "" : `t = ${Number(at.toPrecision(6))}${card.unit}`);
  show(card);
}

function cut(card) {
  const ends = card.axes[card.axis.value];
  card.share.hidden = !ends;
  card.root.querySelector(".eyes").hidden = Boolean(ends);
  const at = ends ? ends[0] + card.share.value / 1000 * (ends[1] - ends[0]) : 0;
  text(card, ".place", ends ? `${card.axis.value} = ${Number(at.toPrecision(4))}` : "");
  show(card);
}

function make(index) {
  const root = document.getElementById("run").content.cloneNode(true).firstElementChild;
  document.getElementById("runs").append(root);
  const find = (name) => root.querySelector(name);
  const card = { root, index, steps: [], times: [], shown: "", busy: false, faults: {}, panels: new Map(),
                 slider: find(".slider"), image: find(".picture"), newest: find(".newest"), axis: find(".axis"), share: find(".share"), axes: {},
                 azimuth: find(".azimuth"), elevation: find(".elevation"), near: find(".near"), turned: false, sharp: false };
  card.slider.addEventListener("input", () => { card.newest.checked = false; move(card); });
  card.newest.addEventListener("change", () => { if (card.newest.checked) { card.slider.value = card.slider.max; move(card); } });
  card.axis.addEventListener("change", () => cut(card));
  card.share.addEventListener("input", () => cut(card));
  for (const part of [card.azimuth, card.elevation, card.near]) {
    part.addEventListener("input", () => { card.turned = true; show(card); });
  }
  zooming(card, find(".frame"));
  find("details").addEventListener("toggle", () => log(card));
  return card;
}

// Zoom and drag of a picture: by buttons, keys, Ctrl and the wheel (a pinch on a touch pad is the same), and the pointer. The
// next picture keeps them. `zoom` is a factor, `left` and `top` are where the picture's corner lies, in pixels of the page.
function zooming(card, frame) {
  const image = card.image;
  let zoom = 1, left = 0, top = 0, held = null;
  const place = () => {
    const inside = (at, side) => Math.min(0, Math.max(at, side * (1 - zoom))); // no rim comes into the frame
    left = inside(left, frame.clientWidth);
    top = inside(top, frame.clientHeight);
    image.style.transform = zoom === 1 ? "" : `translate(${left}px, ${top}px) scale(${zoom})`;
    image.style.cursor = zoom === 1 ? "" : "grab";
    frame.style.touchAction = zoom === 1 ? "" : "none";
  };
  const scale = (factor, x = frame.clientWidth / 2, y = frame.clientHeight / 2) => { // the point x, y of the frame stays
    const next = Math.min(16, Math.max(1, zoom * factor));
    left = x - (x - left) * next / zoom;
    top = y - (y - top) * next / zoom;
    zoom = next;
    place();
    card.sharp = zoom > 1.2;
    show(card);
  };
  const move = (x, y) => { left += x; top += y; place(); };
  const keys = { "+": () => scale(1.5), "=": () => scale(1.5), "-": () => scale(1 / 1.5), 0: () => scale(0),
                 ArrowLeft: () => move(40, 0), ArrowRight: () => move(-40, 0), ArrowUp: () => move(0, 40), ArrowDown: () => move(0, -40) };
  frame.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || (zoom === 1 && event.key.startsWith("Arrow"))) return;
    event.preventDefault();
    keys[event.key]();
  });
  frame.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return; // the page scrolls
    event.preventDefault();
    const box = frame.getBoundingClientRect();
    scale(Math.exp(-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  image.addEventListener("pointerdown", (event) => {
    held = [event.clientX, event.clientY];
    image.setPointerCapture(event.pointerId);
  });
  image.addEventListener("pointermove", (event) => {
    if (!held) return;
    move(event.clientX - held[0], event.clientY - held[1]);
    held = [event.clientX, event.clientY];
  });
  for (const end of ["pointerup", "pointercancel"]) image.addEventListener(end, () => { held = null; });
  frame.querySelectorAll("button").forEach((button, i) => button.addEventListener("click", () => scale(i ? 1 / 1.5 : 1.5)));
}

async function log(card) {
  if (!card.root.querySelector("details").open) return;
  try {
    const answer = await fetch(`log?run=${card.index}`);
    text(card, ".log", await answer.text());
  } catch { /* no answer: the page says so at the next look */ }
}

async function panels(card, run) {
  for (const [name, panel] of card.panels) { // another run in the folder may have other tables
    if (run.fault || run.panels.includes(name)) continue;
    panel.image.remove();
    card.panels.delete(name);
  }
  for (const name of run.panels) {
    if (!card.panels.has(name)) {
      const image = document.createElement("img");
      image.alt = name;
      card.root.querySelector(".panels").append(image);
      card.panels.set(name, { image, of: "" });
    }
    const panel = card.panels.get(name);
    if (panel.of === run.tables) continue;
    panel.of = run.tables;
    try {
      await draw(card, panel.image, `panel?run=${card.index}&name=${encodeURIComponent(name)}&of=${run.tables}`);
      fault(card, "panels", "");
    } catch (error) {
      if (unanswered(error)) panel.of = "";
      else fault(card, "panels", error.message);
    }
  }
}

function update(card, run) {
  text(card, ".title", run.title);
  const state = card.root.querySelector(".state");
  state.className = `state ${run.state}`;
  text(card, ".state", run.state);
  card.root.querySelector("progress").value = run.fraction;
  text(card, ".about", run.about + (run.eta ? `, ${duration(run.eta)} left` : ""));
  fault(card, "run", run.fault);
  const step = card.steps[card.slider.value];
  card.steps = run.steps; card.times = run.times; card.unit = run.unit; card.of = run.of;
  card.axes = run.axes;
  card.axis.options[0].text = run.space ? "surface or lines, and plane" : "plane"; // of few cells there is no surface
  card.axis.options[1].hidden = !run.space;
  card.root.querySelector(".planes").hidden = !Object.keys(run.axes).length;
  card.root.querySelector(".eyes").hidden = !run.space || Boolean(card.axes[card.axis.value]);
  card.root.querySelector(".snapshots").hidden = !run.steps.length;
  card.slider.max = Math.max(run.steps.length - 1, 0);
  const kept = run.steps.indexOf(step);
  card.slider.value = card.newest.checked || kept < 0 ? card.slider.max : kept;
  if (run.steps.length) move(card);
  panels(card, run);
  log(card);
}

async function look() {
  const lost = document.getElementById("lost");
  if (!document.hidden) {
    try {
      const answer = await fetch("runs");
      if (!answer.ok) throw new Error();
      const runs = await answer.json();
      runs.forEach((run, i) => { cards[i] ??= make(i); update(cards[i], run); });
      lost.hidden = true;
    } catch { lost.hidden = false; }
  }
  setTimeout(look, 2000);
}
look();
