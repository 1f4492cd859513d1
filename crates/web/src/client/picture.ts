// Pictures that grow in place: a mark beside a node shows what is around it.

import { part } from "./page.js";

export function picture(): void {
  const figure = document.querySelector<HTMLElement>("#figure");
  if (!figure) return;
  /** Brings the node that the picture is about into its middle. */
  const center = (): void => {
    const frame = figure.querySelector<HTMLElement>(".scrolls");
    const own = figure.querySelector(".own")?.getBoundingClientRect();
    if (!frame || !own) return;
    const seen = frame.getBoundingClientRect();
    frame.scrollLeft += own.left + own.width / 2 - seen.left - seen.width / 2;
    frame.scrollTop += own.top + own.height / 2 - seen.top - seen.height / 2;
  };
  center();
  const show = async (address: string): Promise<boolean> => {
    const made = await part(address + "&as=part");
    if (made) figure.replaceChildren(made);
    return made !== null;
  };
  figure.addEventListener("click", (event) => {
    const mark = (event.target as Element).closest<SVGAElement>("a.more");
    if (!mark || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const [address, label] = [mark.href.baseVal, mark.previousElementSibling?.getAttribute("href")];
    void show(address).then((isShown) => {
      if (!isShown) return location.assign(address);
      history.pushState(history.state, "", address);
      const same = [...figure.querySelectorAll<SVGAElement>("a.more")];
      same.find((other) => other.previousElementSibling?.getAttribute("href") === label)?.focus();
    });
  });
  addEventListener("popstate", () => void show(location.pathname + location.search));
}
