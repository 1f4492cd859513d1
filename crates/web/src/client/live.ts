// Parts of a page that come later, or change while one looks: findings, and the progress of index runs.

import { fragment, part } from "./page.js";

export function live(): void {
  for (const place of document.querySelectorAll<HTMLElement>("[data-part]")) {
    void part(place.dataset.part!).then((made) => made && place.replaceChildren(made));
  }
  const list = document.querySelector<HTMLElement>("[data-events]");
  if (!list) return;
  const source = new EventSource(list.dataset.events!);
  source.addEventListener("runs", (event: MessageEvent<string>) => list.replaceChildren(fragment(event.data)));
  addEventListener("pagehide", () => source.close());
}
