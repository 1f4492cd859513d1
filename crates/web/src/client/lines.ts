// Lines of a file: the current one, and ranges in addresses such as #L10-L20.

/** Whether the page shows a file. */
export function atReading(): boolean {
  return document.querySelector("pre.code") !== null;
}

export function line(number: number): HTMLElement | null {
  return document.getElementById(`L${number}`);
}

/** First and last line of the address; none for an address without. */
export function range(): [number, number] | null {
  const found = /^#L(\d+)(?:-L?(\d+))?$/.exec(location.hash);
  if (!found) return null;
  const [first, last] = [Number(found[1]), Number(found[2] ?? found[1])];
  return first <= last ? [first, last] : [last, first];
}

/** Marks the lines of the address. Lines of another window are on another page. */
export function showRange(): void {
  document.querySelectorAll(".in-range").forEach((marked) => marked.classList.remove("in-range"));
  const lines = range();
  if (!lines) return;
  const first = line(lines[0]);
  if (!first) {
    const asked = new URLSearchParams(location.search);
    if (asked.get("at") === String(lines[0])) return;
    asked.set("at", String(lines[0]));
    return location.replace(`?${asked}${location.hash}`);
  }
  for (let number = lines[0]; number <= lines[1]; number++) line(number)?.classList.add("in-range");
  if (lines[1] > lines[0]) first.scrollIntoView({ block: "center" });
}

/** The line at the top of the window. */
export function topLine(below: number): number {
  const lines = document.querySelectorAll<HTMLElement>("pre.code .l");
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lines[middle]!.getBoundingClientRect().bottom > below) high = middle;
    else low = middle + 1;
  }
  return Number(lines[Math.min(low, lines.length - 1)]?.id.slice(1) ?? 1);
}

/** The current line: the first of the address, else the one at the top. */
export function here(): number {
  return range()?.[0] ?? topLine(document.querySelector(".top")!.getBoundingClientRect().bottom);
}

/** The permanent address of this very text; null if there is none. */
export async function permanent(): Promise<string | null> {
  const link = document.querySelector<HTMLAnchorElement>("#permalink");
  if (!link) return null;
  const reply = await fetch(link.href + location.search);
  return reply.ok ? new URL(reply.url).pathname + location.search + location.hash : null;
}

/** Links that change what stands beside the lines lead to the line that one reads; the editor opens at it. */
export function keepLine(): void {
  document.addEventListener("click", (event) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>(".keeps-line, .panel .facets a, .panel .close, #edit");
    if (!link) return;
    if (link.dataset.link) link.href = link.dataset.link.replace("{line}", String(here()));
    else if (range() && !link.hash) link.hash = location.hash;
  });
}

/** Makes a line the current one, or the end of a range from it. */
export function moveLine(number: number, extends_: boolean): void {
  const target = line(number);
  if (!target) return;
  const from = extends_ ? (range()?.[0] ?? number) : number;
  const hash = from === number ? `#L${number}` : `#L${Math.min(from, number)}-L${Math.max(from, number)}`;
  history.replaceState(history.state, "", hash);
  showRange();
  target.scrollIntoView({ block: "nearest" });
}
