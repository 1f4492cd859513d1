// Scopes that stay in sight: the first lines of the definitions around the top of the window; and a filter of the outline.

import { element } from "./page.js";
import { line, moveLine, topLine } from "./lines.js";

const MOST = 4;
const bar = element("div", "scopes");

interface Scope {
  first: number;
  last: number;
  name: HTMLAnchorElement;
}

function all(): Scope[] {
  return [...document.querySelectorAll<HTMLAnchorElement>(".outline a[data-l]")].map((name) => {
    const [first, last] = name.dataset.l!.split("-").map(Number);
    return { first: first!, last: last!, name };
  });
}

export function scopes(): void {
  const known = all();
  bar.setAttribute("aria-hidden", "true");
  document.querySelector("pre.code")!.before(bar);
  let due = false;
  const update = () => {
    due = false;
    const top = document.querySelector(".top")!.getBoundingClientRect().bottom;
    const at = topLine(top + bar.getBoundingClientRect().height + 1);
    const around = known.filter((scope) => scope.first < at && at <= scope.last).slice(-MOST);
    bar.replaceChildren(
      ...around.map((scope) => {
        const copy = line(scope.first)?.cloneNode(true) as HTMLElement | undefined;
        if (!copy) return "";
        copy.removeAttribute("id");
        copy.classList.remove("in-range");
        copy.querySelectorAll("a").forEach((link) => (link.tabIndex = -1));
        return copy;
      }),
    );
    known.forEach((scope) => scope.name.parentElement!.classList.toggle("here", scope === around[around.length - 1]));
  };
  addEventListener(
    "scroll",
    () => {
      if (!due) requestAnimationFrame(update);
      due = true;
    },
    { passive: true },
  );
  update();
}

/** Goes to the next definition, or the one before. */
export function step(forward: boolean, from: number): void {
  const firsts = all().map((scope) => scope.first);
  const next = forward ? firsts.find((first) => first > from) : firsts.filter((first) => first < from).pop();
  if (next !== undefined) {
    moveLine(next, false);
    line(next)?.scrollIntoView({ block: "center" });
  }
}

/** Adds a filter to the outline. */
export function outline(): void {
  const list = document.querySelector(".outline ul");
  if (!list || list.children.length < 12) return;
  const filter = element("input", "filter") as HTMLInputElement;
  filter.placeholder = "Filter";
  filter.setAttribute("aria-label", "Filter the outline");
  filter.addEventListener("input", () => {
    const wanted = filter.value.toLowerCase();
    for (const item of list.children) {
      (item as HTMLElement).hidden = !(item.firstElementChild?.textContent ?? "").toLowerCase().includes(wanted);
    }
  });
  list.before(filter);
}
