// Search as one types: results below the search box, walked with the arrow keys.

import { element, part, repo } from "./page.js";

const box = document.querySelector<HTMLInputElement>("#q");
const panel = element("div", "found");
/** Says to those who do not see it that there are results. */
const told = element("span", "out-of-sight");
/** Searches that the browser keeps. */
const KEPT = 10;
const results = element("div", "");
/** Limits of a search, by their names in an address. */
const SWITCHES: [string, string, string][] = [
  ["regex", ".*", "Regular expression, for text"],
  ["case", "Aa", "Case matters, for text"],
  ["word", "[w]", "Whole words, for text"],
];
/** Sort of results that a key has asked for: none for all. */
let sort = "";
let asked: AbortController | undefined;
/** What the results on the page were asked with; nothing for earlier searches. */
let shown = "";
/** Whether Enter was pressed before the results came. */
let hurried = false;

export function search(): void {
  if (!box) return;
  panel.id = "found";
  panel.hidden = true;
  panel.setAttribute("role", "region");
  panel.setAttribute("aria-label", "Results");
  told.setAttribute("role", "status");
  panel.append(switches(), results);
  box.closest("form")!.append(panel, told);
  box.setAttribute("aria-controls", panel.id);
  box.addEventListener("input", () => {
    hurried = false;
    void show();
  });
  box.addEventListener("focus", () => void show());
  const remember = () => note(box.value.trim());
  box.closest("form")!.addEventListener("submit", remember);
  panel.addEventListener("click", remember);
  box.addEventListener("keydown", walk);
  panel.addEventListener("keydown", walk);
  document.addEventListener("click", (event) => {
    if (!(event.target as Element).closest("form.search")) close();
  });
  addEventListener("pageshow", close);
}

/** Begins a search for a sort of results. */
export function begin(wanted: string): void {
  if (!box) return;
  sort = wanted;
  box.focus();
  box.select();
  if (wanted) box.placeholder = `Search ${wanted}`;
}

export function close(): void {
  asked?.abort();
  panel.hidden = true;
  told.textContent = "";
}

async function show(): Promise<void> {
  const query = box!.value.trim();
  asked?.abort();
  if (!query) return before();
  const own = (asked = new AbortController());
  const address = (wanted: string) => "/find?" + new URLSearchParams({ q: query, in: wanted, few: "1", ...limits() }).toString();
  try {
    const names = await part(address(sort || "names"), own.signal);
    if (own.signal.aborted || !names) return;
    replace(names);
    panel.hidden = false;
    shown = wish();
    if (hurried) return open();
    told.textContent = `${panel.querySelectorAll("li").length} results`;
    if (sort) return;
    const rest = await part(address("rest"), own.signal);
    if (rest && !own.signal.aborted) results.append(rest);
  } catch (error) {
    if (!own.signal.aborted) throw error;
  }
}

/** Puts results in place of others. A result that had the focus passes it on, to the same one or else to the first. */
function replace(names: DocumentFragment): void {
  const before = document.activeElement;
  const focused = results.contains(before);
  results.replaceChildren(names);
  if (!focused) return;
  const links = [...results.querySelectorAll<HTMLAnchorElement>("li > a:first-child")];
  const same = links.find((link) => link.href === (before as HTMLAnchorElement).href);
  (same ?? links[0] ?? box!).focus();
}

/** What is asked for now. */
function wish(): string {
  return `${sort} ${box!.value.trim()}`;
}

/** Goes to the first result, or to the page of a search that has none here. */
function open(): void {
  hurried = false;
  const first = panel.querySelector<HTMLAnchorElement>("li > a:first-child");
  if (first) first.click();
  else box!.form!.requestSubmit();
}

/** Switches that belong to the form, with those of the address set. */
function switches(): HTMLElement {
  const asked = new URLSearchParams(location.search);
  const made = SWITCHES.map(([name, sign, title]) => {
    const input = element("input", "") as HTMLInputElement;
    [input.type, input.name, input.value, input.checked] = ["checkbox", name, "1", here() && asked.has(name)];
    input.addEventListener("change", () => void show());
    const label = element("label", "", input, " ", sign);
    label.title = title;
    return label;
  });
  const kept = ["language", "file"].filter((name) => here() && asked.get(name));
  const fields = kept.map((name) => {
    const input = element("input", "") as HTMLInputElement;
    [input.name, input.value] = [name, asked.get(name)!];
    input.setAttribute("aria-label", name);
    input.addEventListener("input", () => void show());
    return input;
  });
  return element("div", "switches", ...made, ...fields);
}

/** Whether the page is that of a search. */
function here(): boolean {
  return location.pathname === "/search";
}

/** The limits that are set. */
function limits(): Record<string, string> {
  const data = new FormData(box!.closest("form")!);
  data.delete("q");
  return Object.fromEntries([...data].filter(([, value]) => value !== "")) as Record<string, string>;
}

/** Shows earlier searches. */
function before(): void {
  const all = noted();
  if (!all.length) return close();
  const links = all.map((query) => {
    const link = element("a", "", query) as HTMLAnchorElement;
    link.href = "/search?" + new URLSearchParams({ q: query, repo }).toString();
    return element("li", "", link);
  });
  shown = "";
  results.replaceChildren(element("h2", "", "Earlier searches"), element("ul", "history", ...links));
  panel.hidden = false;
}

function noted(): string[] {
  try {
    const all: unknown = JSON.parse(localStorage.getItem("searches") ?? "[]");
    return Array.isArray(all) ? all.filter((query): query is string => typeof query === "string") : [];
  } catch {
    return [];
  }
}

function note(query: string): void {
  if (!query) return;
  const all = [query, ...noted().filter((other) => other !== query)].slice(0, KEPT);
  try {
    localStorage.setItem("searches", JSON.stringify(all));
  } catch {
    // A browser may keep nothing.
  }
}

function walk(event: KeyboardEvent): void {
  const links = [...panel.querySelectorAll<HTMLAnchorElement>("li > a:first-child")];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  if (event.key === "Escape") {
    // Getting the focus begins a search.
    box!.focus();
    close();
  } else if (event.key === "Enter" && sort && box!.value.trim() && event.target === box) {
    // One thing was asked for, and the first is the best, once there are results of this very text.
    if (shown === wish()) open();
    else hurried = true;
  } else if (event.key === "ArrowDown" && links.length) {
    links[Math.min(at + 1, links.length - 1)]!.focus();
  } else if (event.key === "ArrowUp" && at >= 0) {
    (links[at - 1] ?? box!).focus();
  } else {
    return;
  }
  event.preventDefault();
}
