// The client of the pages: search as one types, keys, hovers, ranges of lines, scopes that stay in sight, copying, pictures that
// grow. Every page works without it.

import { copying } from "./copy.js";
import { atReading, keepLine, moveLine, showRange } from "./lines.js";
import { hover } from "./hover.js";
import { keys } from "./keys.js";
import { live } from "./live.js";
import { picture } from "./picture.js";
import { search } from "./search.js";
import { outline, scopes } from "./scopes.js";
import { versions } from "./versions.js";

search();
hover();
keys();
outline();
copying();
keepLine();
picture();
live();
versions();
if (atReading()) {
  scopes();
  showRange();
  addEventListener("hashchange", showRange);
  document.addEventListener("click", (event) => {
    const number = (event.target as Element).closest<HTMLAnchorElement>("a.n");
    if (number && event.shiftKey) {
      event.preventDefault();
      moveLine(Number(number.textContent), true);
    }
  });
}
