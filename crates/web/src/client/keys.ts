// Keys, and the list of them.

import { current, pictured, uses } from "./hover.js";
import { atReading, here, moveLine, permanent, range } from "./lines.js";
import { element, takesText } from "./page.js";
import { begin, close } from "./search.js";
import { propose } from "./versions.js";
import { step } from "./scopes.js";

const KEYS: [string, string][] = [
  ["/", "search"],
  ["s", "search symbols"],
  ["t", "search files"],
  ["g d", "definition of the name below the pointer, or with the focus"],
  ["g r", "its uses"],
  ["g c", "its calls, or classes, as a picture"],
  ["j k", "next line or result, the one before"],
  ["J K", "one line more in the range, one fewer"],
  ["[ ]", "definition before, next definition"],
  ["y", "permanent address of this text"],
  ["p", "into the panel beside the code, and back"],
  ["b", "who changed the lines last"],
  ["c", "what changed since a commit, a tag or a branch: choose, or type"],
  ["e", "open in the editor"],
  ["Esc", "close"],
  ["?", "these keys"],
];

let before = "";

export function keys(): void {
  const button = element("button", "help", "?");
  button.title = "Keys";
  button.setAttribute("aria-label", "Keys");
  button.addEventListener("click", help);
  document.querySelector(".top form.search")?.after(button);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || takesText(event.target)) return;
    const key = before === "g" ? `g${event.key}` : event.key;
    before = event.key === "g" ? "g" : "";
    if (press(key)) event.preventDefault();
  });
}

function press(key: string): boolean {
  switch (key) {
    case "/":
      begin("");
      return true;
    case "s":
      begin("symbols");
      return true;
    case "t":
      begin("files");
      return true;
    case "gd":
      current()?.click();
      return true;
    case "gr":
      void go(uses);
      return true;
    case "gc":
      void go(pictured);
      return true;
    case "j":
    case "k":
      move(key === "j" ? 1 : -1);
      return true;
    case "J":
    case "K":
      if (atReading()) resize(key === "J" ? 1 : -1);
      return true;
    case "p":
      panel();
      return true;
    case "[":
    case "]":
      if (atReading()) step(key === "]", here());
      return true;
    case "y":
      void permalink();
      return true;
    case "c":
      void propose();
      return true;
    case "b":
    case "e":
      document.querySelector<HTMLAnchorElement>(key === "b" ? ".keeps-line" : "#edit")?.click();
      return true;
    case "?":
      help();
      return true;
    case "Escape":
      close();
      return false;
    default:
      return false;
  }
}

function move(by: number): void {
  if (atReading()) return moveLine(here() + (range() ? by : 0), false);
  const links = [...document.querySelectorAll<HTMLAnchorElement>("main li > a:first-child, main tbody th > a")];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  links[Math.max(0, Math.min(at + by, links.length - 1))]?.focus();
}

/** Moves the last line of the range. */
function resize(by: number): void {
  const [first, last] = range() ?? [here(), here()];
  if (last + by >= first) moveLine(last + by, true);
}

/** Moves the focus to the panel, or from it to the code. */
function panel(): void {
  const inside = document.activeElement?.closest(".panel");
  document.querySelector<HTMLElement>(inside ? "pre.code" : ".panel a")?.focus();
}

/** Goes to an address that belongs to the name that keys act upon. */
async function go(to: (name: HTMLAnchorElement) => Promise<string | null>): Promise<void> {
  const name = current();
  const address = name && (await to(name));
  if (address) location.assign(address);
}

/** Puts the address of this very text into the address bar. */
async function permalink(): Promise<void> {
  const address = await permanent();
  if (address) history.replaceState(history.state, "", address);
}

function help(): void {
  const known = document.querySelector<HTMLDialogElement>("#keys");
  if (known) return known.showModal();
  const rows = KEYS.map(([key, does]) =>
    element("tr", "", element("th", "", element("kbd", "", key)), element("td", "", does)),
  );
  const title = element("h2", "", "Keys");
  title.id = "keys-title";
  const dialog = element("dialog", "keys", title, element("table", "", ...rows)) as HTMLDialogElement;
  dialog.id = "keys";
  dialog.setAttribute("aria-labelledby", title.id);
  dialog.addEventListener("click", () => dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}
