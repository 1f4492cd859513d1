// Branches and tags that a file can be compared with: proposed when they are asked for, and taken by a click.

import { part } from "./page.js";

const box = document.querySelector<HTMLInputElement>("input[name=since]");
const list = document.querySelector<HTMLElement>("[data-versions]");

export function versions(): void {
  if (!box || !list) return;
  box.addEventListener("focus", () => void fill(), { once: true });
  box.addEventListener("input", (event) => {
    // One that is chosen is replaced as a whole; letters that are typed come one by one.
    const typed = event instanceof InputEvent && event.inputType !== "insertReplacementText";
    if (!typed && [...list.children].some((known) => (known as HTMLOptionElement).value === box.value)) box.form!.requestSubmit();
  });
}

/** Opens the list of versions to compare with. */
export async function propose(): Promise<void> {
  if (!box) return;
  box.focus();
  box.select();
  await fill();
  try {
    box.showPicker();
  } catch {
    // A browser may want the list opened by hand.
  }
}

async function fill(): Promise<void> {
  const made = list && !list.children.length ? await part(list.dataset.versions!) : null;
  if (made) list!.replaceChildren(made);
}
