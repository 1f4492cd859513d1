// Parts of pages, fetched from the server, which has escaped every text.

const kept = new Map<string, DocumentFragment | null>();

/** A part of a page; null if it is not to be had. Parts are kept until the page is left. */
export async function part(address: string, signal?: AbortSignal): Promise<DocumentFragment | null> {
  if (!kept.has(address)) {
    const reply = await fetch(address, { signal, headers: { accept: "text/html" } });
    const made = reply.ok ? fragment(await reply.text()) : null;
    if (kept.size > 500) kept.clear();
    kept.set(address, made);
  }
  return (kept.get(address)?.cloneNode(true) as DocumentFragment) ?? null;
}

/** A text of the server as elements. */
export function fragment(html: string): DocumentFragment {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

/** An element with a class and children. */
export function element(tag: string, className: string, ...children: (Node | string)[]): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...children);
  return made;
}

/** Whether an element takes text. */
export function takesText(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");
}

export const repo = document.body.dataset.repo ?? "";
