// Buttons that copy: the path of a file, the id of a symbol, the permanent address of lines.

import { element } from "./page.js";
import { permanent } from "./lines.js";

export function copying(): void {
  if (!navigator.clipboard) return;
  for (const place of document.querySelectorAll<HTMLElement>("[data-copy]")) {
    place.append(" ", copier(place.dataset.label ?? "Copy", async () => place.dataset.copy!));
  }
  const link = document.querySelector("#permalink");
  link?.after(" ", copier("Copy permalink", async () => new URL((await permanent()) ?? location.href, location.href).href));
}

function copier(label: string, text: () => Promise<string>): HTMLElement {
  const button = element("button", "copy", label);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(await text());
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = label), 1200);
  });
  return button;
}
