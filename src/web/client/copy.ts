// Buttons that copy: the path of a file, the id of a symbol, the permanent address of lines.

import { element } from "./page.js";

export function copying(): void {
  if (!navigator.clipboard) return;
  for (const place of document.querySelectorAll<HTMLElement>("[data-copy]")) {
    const button = element("button", "copy", place.dataset.label ?? "Copy");
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(place.dataset.copy!);
      const said = button.textContent;
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = said), 1200);
    });
    place.append(" ", button);
  }
}
