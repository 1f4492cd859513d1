// Times the first results after a key, in Chromium: from the key's event until the frame that shows them. server.py runs it with SITE,
// PAGE (where one types), NAMES (typed one after the other), MODULES (where npm has installed) and CHROMIUM.

import { createRequire } from "node:module";
import { join } from "node:path";

const { SITE, PAGE, NAMES, MODULES, CHROMIUM } = process.env;
const { chromium } = createRequire(join(MODULES, "x.js"))("playwright-core");
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const page = await browser.newPage();
await page.goto(SITE + PAGE);
await page.keyboard.press("/");
await page.evaluate(() => {
  window.took = [];
  let since = 0;
  document.addEventListener("keydown", (event) => (since = event.timeStamp), true);
  const shown = () => {
    const key = since;
    // A task after the frame's callbacks runs when the frame is on its way to the screen.
    requestAnimationFrame(() => setTimeout(() => key && window.took.push(performance.now() - key)));
    since = 0;
  };
  new MutationObserver(() => since && document.querySelector("#found section") && shown()).observe(document.querySelector("#found"), { childList: true, subtree: true });
});
for (const name of NAMES.split(" ")) {
  await page.fill("#q", "");
  for (const [at, letter] of [...name].entries()) {
    await page.keyboard.press(letter);
    // People type at most so fast; the first letter alone is no search that anybody waits for.
    await page.waitForTimeout(at ? 130 : 250);
  }
}
const took = (await page.evaluate(() => window.took)).sort((a, b) => a - b);
const at = (part) => took[Math.min(took.length - 1, Math.floor(took.length * part))].toFixed(1);
console.log(`first results after a key, in Chromium       n=${took.length} ms ${at(0.5)} ${at(0.99)} ${at(1)}`);
await browser.close();
