// Hovers: signature and documentation of a name below the pointer, or with the focus.

import { element, part } from "./page.js";

const WAIT = 250;
const NAMES = "pre.code a:not(.n, .by *), .symbols a.hit";
const card = element("div", "card");
let timer = 0;
let under: HTMLAnchorElement | null = null;

export function hover(): void {
  card.hidden = true;
  card.setAttribute("role", "tooltip");
  card.id = "card";
  (document.querySelector("main") ?? document.body).append(card);
  const enter = (event: Event) => {
    const name = (event.target as Element).closest<HTMLAnchorElement>(NAMES);
    if (name === under || card.contains(event.target as Node)) return;
    leave();
    under = name;
    if (name) timer = window.setTimeout(() => void show(name), WAIT);
  };
  document.addEventListener("mouseover", enter);
  document.addEventListener("focusin", enter);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") leave();
  });
  addEventListener("scroll", leave, { passive: true });
}

/** The name that keys act upon: the one with the focus, else the one below the pointer. */
export function current(): HTMLAnchorElement | null {
  const focused = document.activeElement?.closest<HTMLAnchorElement>(NAMES);
  return focused ?? under;
}

/** The address of what is known of a name. */
function about(name: HTMLAnchorElement): string | null {
  // A local name has no documentation, and no page.
  if (name.classList.contains("n-local")) return null;
  const target = new URL(name.href);
  const words = new URLSearchParams({ name: name.textContent ?? "" });
  const id = target.searchParams.get("panel") ?? target.searchParams.get("id");
  if (id && /^\/[rs]\//.test(target.pathname)) {
    words.set("id", id);
    return target.pathname.replace(/^\/[rs]\//, "/h/") + `?${words}`;
  }
  const line = /^#L(\d+)$/.exec(target.hash);
  if (!target.pathname.startsWith("/r/") || !line) return null;
  words.set("line", line[1]!);
  return target.pathname.replace("/r/", "/h/") + `?${words}`;
}

/** A link of what is known of a name. */
async function linked(name: HTMLAnchorElement, selector: string): Promise<HTMLAnchorElement | null> {
  const address = about(name);
  const made = address ? await part(address) : null;
  return made?.querySelector<HTMLAnchorElement>(selector) ?? null;
}

/** The address of the picture of a name: its calls, or the classes around it. */
export async function pictured(name: HTMLAnchorElement): Promise<string | null> {
  return (await linked(name, "a.picture-of"))?.href ?? null;
}

/** The address that shows the uses of a name: beside the text that is read, where one is. */
export async function uses(name: HTMLAnchorElement): Promise<string | null> {
  const link = await linked(name, "a.uses-of");
  const here = name.closest(".l")?.id;
  if (!link || !here) return link?.href ?? null;
  const target = new URL(location.href);
  target.searchParams.set("panel", link.dataset.id!);
  target.searchParams.delete("show");
  target.hash = here;
  return target.href;
}

function leave(): void {
  clearTimeout(timer);
  under?.removeAttribute("aria-describedby");
  under = null;
  card.hidden = true;
}

async function show(name: HTMLAnchorElement): Promise<void> {
  const address = about(name);
  const made = address ? await part(address) : null;
  if (!made || under !== name) return;
  card.replaceChildren(made);
  card.hidden = false;
  name.setAttribute("aria-describedby", card.id);
  const [at, size] = [name.getBoundingClientRect(), card.getBoundingClientRect()];
  const above = at.bottom + size.height + 8 > innerHeight && at.top > size.height;
  const top = above ? at.top - size.height - 4 : at.bottom + 4;
  const left = Math.max(8, Math.min(at.left, innerWidth - size.width - 8));
  // The policy forbids styles in markup, and allows those that code sets.
  card.style.top = `${top + scrollY}px`;
  card.style.left = `${left + scrollX}px`;
}
