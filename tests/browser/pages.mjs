// The pages in a real browser: `node pages.mjs` with SITE (an address), SHOP, HOSTILE and KEPT (repositories), FOLDER (of KEPT, to edit),
// MODULES (where npm has installed), CHROMIUM, and SHOTS (a folder for pictures, if they are wanted). Fails at the first thing that is not so.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const { SITE, SHOP, HOSTILE, KEPT, FOLDER, MODULES, CHROMIUM, SHOTS, TEAM, TOKEN, OTHER } = process.env;
const require = createRequire(join(MODULES, "x.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const problems = [];

/** A browser's window, which notes everything that goes wrong in it. */
async function opened(options = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  page.on("dialog", (dialog) => problems.push(`a dialog: ${dialog.message()}`) && dialog.dismiss());
  page.on("pageerror", (error) => problems.push(`an error: ${error}`));
  page.on("console", (line) => line.type() === "error" && !line.text().includes("404") && problems.push(line.text()));
  page.on("request", (asked) => {
    if (![SITE, TEAM].includes(new URL(asked.url()).origin)) problems.push(`asked elsewhere: ${asked.url()}`);
  });
  return page;
}

async function step(name, run) {
  try {
    await run();
    assert.deepEqual(problems, []);
    console.log(`ok: ${name}`);
  } catch (error) {
    console.log(`failed: ${name}`);
    throw error;
  }
}

const root = `${SITE}/r/${SHOP}`;
const page = await opened();

await step("a search shows results as one types, and leads to a definition by keys alone", async () => {
  await page.goto(SITE);
  const asked = page.waitForResponse((response) => new URL(response.url()).searchParams.get("q") === "add");
  await page.keyboard.press("/");
  await page.keyboard.type("add", { delay: 10 });
  await asked;
  await page.waitForSelector("#found li");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(/numbers\.py#L1$/);
  assert.equal(await page.locator("#L1.in-range").count(), 1);
});

await step("results that come later leave the focus where it is", async () => {
  await page.goto(SITE);
  let late;
  await page.route(/[?&]q=Count&.*in=names/, async (route) => {
    await new Promise((go) => (late = go));
    await route.continue();
  });
  await page.keyboard.press("/");
  await page.keyboard.type("Coun");
  await page.waitForSelector("#found li > a[href*='numbers.py']");
  await page.keyboard.type("t");
  await page.keyboard.press("ArrowDown");
  const focused = () => page.evaluate(() => document.activeElement?.matches("#found li > a") && document.activeElement.href);
  const before = await focused();
  assert.match(before, /numbers\.py#L/);
  await page.evaluate(() => (document.activeElement.dataset.old = "1"));
  while (!late) await new Promise((go) => setTimeout(go, 10));
  late();
  await page.waitForFunction(() => !document.querySelector("#found [data-old]"));
  assert.equal(await focused(), before);
  await page.unroute(/[?&]q=Count&.*in=names/);
});

await step("Enter opens the first symbol", async () => {
  await page.goto(root);
  await page.keyboard.press("s");
  await page.keyboard.type("Counter");
  await page.waitForSelector("#found li");
  await page.keyboard.press("Enter");
  await page.waitForURL(/numbers\.py#L5$/);
});

await step("earlier searches come back", async () => {
  await page.goto(SITE);
  await page.keyboard.press("/");
  await page.waitForSelector("#found .history a");
  assert.deepEqual(await page.locator("#found .history a").allTextContents(), ["Counter", "add"]);
  await page.keyboard.press("Escape");
  await page.waitForSelector("#found", { state: "hidden" });
});

await step("a use leads to its definition, and back", async () => {
  await page.goto(`${root}/numbers.py#L7`);
  await page.locator("#L7 a", { hasText: "add" }).click();
  await page.waitForURL(/#L1$/);
  await page.goBack();
  await page.waitForURL(/#L7$/);
  await page.waitForSelector("#L7.in-range");
});

await step("a hover tells what a name is, and g r leads to its uses", async () => {
  await page.locator("#L7 a", { hasText: "add" }).hover();
  await page.waitForSelector("#card:not([hidden])");
  assert.match(await page.locator("#card").innerText(), /def add\(a, b\)/);
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page.waitForURL(/numbers\.py\?panel=numbers\.py%3A%3Aadd%23function#L7$/);
  assert.match(await page.locator(".panel #uses").innerText(), /return add\(1, 2\)/);
  await page.locator(".panel a", { hasText: "History" }).first().click();
  await page.waitForURL(/show=history.*#L7$/);
  await page.locator(".panel .close").click();
  await page.waitForURL(/numbers\.py#L7$/);
});

await step("keys move, select, explain", async () => {
  await page.goto(`${root}/numbers.py#L2`);
  await page.keyboard.press("j");
  await page.waitForURL(/#L3$/);
  await page.keyboard.press("k");
  await page.waitForURL(/#L2$/);
  await page.keyboard.press("]");
  await page.waitForURL(/#L5$/);
  await page.keyboard.press("]");
  await page.waitForURL(/#L6$/);
  await page.keyboard.press("[");
  await page.waitForURL(/#L5$/);
  await page.keyboard.press("J");
  await page.keyboard.press("J");
  await page.waitForURL(/#L5-L7$/);
  await page.keyboard.press("K");
  await page.waitForURL(/#L5-L6$/);
  await page.locator("#L7 .n").click({ modifiers: ["Shift"] });
  await page.waitForURL(/#L5-L7$/);
  assert.equal(await page.locator(".in-range").count(), 3);
  await page.locator("#L7 a", { hasText: "add" }).focus();
  await page.waitForSelector("#card:not([hidden])");
  await page.keyboard.press("g");
  await page.keyboard.press("d");
  await page.waitForURL(/#L1$/);
  await page.locator("#L1 a", { hasText: "add" }).focus();
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page.waitForURL(/panel=.*#L1$/);
  await page.keyboard.press("p");
  assert.equal(await page.evaluate(() => document.activeElement?.closest(".panel") !== null), true);
  await page.keyboard.press("p");
  assert.equal(await page.evaluate(() => document.activeElement?.matches("pre.code")), true);
  await page.keyboard.press("?");
  assert.match(await page.locator("dialog").innerText(), /permanent address/);
  await page.keyboard.press("Escape");
  // No program opens such an address here.
  await page.evaluate(() => document.querySelector("#edit").addEventListener("click", (event) => event.preventDefault()));
  await page.keyboard.press("e");
  assert.match(await page.locator("#edit").getAttribute("href"), /^x-test:\/\/open.*numbers\.py:1$/);
  await page.goto(`${SITE}/search?q=add&in=symbols`);
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(/numbers\.py#L1$/);
  await page.keyboard.press("t");
  await page.keyboard.type("numb");
  await page.waitForSelector("#found li > a[href*='numbers.py']");
  assert.match(await page.locator("#found").innerText(), /numbers\.py/);
  await page.keyboard.press("Escape");
});

await step("g c leads to a picture, c proposes versions, and slashes make a pattern", async () => {
  await page.goto(`${root}/numbers.py#L7`);
  await page.locator("#L7 a", { hasText: "add" }).focus();
  await page.keyboard.press("g");
  await page.keyboard.press("c");
  await page.waitForURL(/\/g\/.*of=calls/);
  await page.goto(`${SITE}/r/${KEPT}/a.py`);
  await page.keyboard.press("c");
  await page.waitForFunction(() => document.querySelector("#versions")?.childElementCount > 1);
  // A choice replaces the text as a whole.
  await page.evaluate(() => {
    const box = document.querySelector("input[name=since]");
    box.value = document.querySelector("#versions").lastElementChild.value;
    box.dispatchEvent(new Event("input"));
  });
  await page.waitForURL(/since=/);
  await page.goto(root);
  await page.keyboard.press("/");
  await page.keyboard.type("/ad.\\(1/");
  await page.waitForFunction(() => document.querySelector("#found mark")?.textContent === "add(1");
  await page.locator("button.help").click();
  assert.match(await page.locator("dialog").innerText(), /as a picture/);
  await page.keyboard.press("Escape");
});

await step("a click copies a path, a permanent address or an id", async () => {
  const view = await opened({ permissions: ["clipboard-read", "clipboard-write"] });
  await view.goto(`${root}/numbers.py?panel=${encodeURIComponent("numbers.py::add#function")}#L1`);
  const copied = async (label) => {
    const button = await view.locator("button", { hasText: label }).first().elementHandle();
    await button.click();
    await view.waitForFunction((clicked) => clicked.textContent === "Copied", button);
    return view.evaluate(() => navigator.clipboard.readText());
  };
  assert.equal(await copied("Copy path"), "numbers.py");
  assert.match(await copied("Copy permalink"), /^http:.*@[0-9a-f]{16}\/numbers\.py.*#L1$/);
  assert.equal(await copied("Copy id"), "numbers.py::add#function");
  await view.context().close();
});

await step("a picture tells possible calls from resolved ones", async () => {
  await page.goto(`${SITE}/g/${KEPT}/?of=calls&id=${encodeURIComponent("wide.py::Wide.alone#method")}`);
  assert.equal(await page.locator("svg .node").count(), 2);
  const line = page.locator("#figure .scrolls path.arc.maybe");
  assert.equal(await line.getAttribute("stroke-dasharray"), "1.5 4");
  assert.match(await page.locator(".legend").innerText(), /possible: only the name matches/);
  await page.emulateMedia({ media: "print" });
  assert.deepEqual([await page.locator("#figure .scrolls svg").isVisible(), await page.locator(".top").isVisible()], [true, false]);
  await page.emulateMedia({ media: "screen" });
});

await step("a permalink keeps its text after an edit", async () => {
  await page.goto(`${SITE}/r/${KEPT}/a.py#L1`);
  await page.keyboard.press("y");
  await page.waitForURL(/@[0-9a-f]{16}\/a\.py#L1$/);
  const kept = page.url();
  const file = join(FOLDER, "a.py");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace("def first(", "def second("));
  await page.goto(`${SITE}/r/${KEPT}/a.py?again`);
  assert.match(await page.locator("#L1").innerText(), /def second/);
  await page.goto(kept.replace("#L1", "?again"));
  assert.match(await page.locator("#L1").innerText(), /def first/);
  writeFileSync(file, text);
});

await step("blame, changes and the progress of runs are shown", async () => {
  await page.goto(`${SITE}/r/${KEPT}/a.py#L1`);
  await page.keyboard.press("b");
  await page.waitForURL(/blame=1#L1$/);
  assert.match(await page.locator("#L1 .by").innerText(), /^A /);
  await page.fill("input[name=since]", "HEAD");
  await page.keyboard.press("Enter");
  await page.waitForURL(/since=HEAD/);
  await page.goto(SITE);
  await page.waitForSelector("[data-part] p");
  const file = join(FOLDER, "a.py");
  writeFileSync(file, readFileSync(file, "utf8") + "\n\ndef later():\n    return 3\n");
  const other = await opened();
  await other.goto(`${SITE}/r/${KEPT}/a.py`);
  await other.context().close();
  await page.waitForFunction((repo) => document.querySelector("#runs")?.innerHTML.includes(repo), KEPT);
});

await step("a sentence is answered with code as one types, and switches limit lines", async () => {
  await page.goto(`${SITE}/r/${SHOP}/`);
  await page.keyboard.press("/");
  await page.keyboard.type("how does the counter count what it adds");
  await page.waitForSelector("#found .snippet");
  await page.fill("#q", "ad.\\(1");
  await page.locator("#found .switches input[name=regex]").check();
  await page.waitForFunction(() => document.querySelector("#found mark")?.textContent === "add(1");
  await page.keyboard.press("Escape");
});

await step("without JavaScript links, searches and windows work", async () => {
  const plain = await opened({ javaScriptEnabled: false });
  await plain.goto(SITE);
  await plain.fill("#q", "count");
  await plain.press("#q", "Enter");
  await plain.waitForURL(/\/search\?q=count/);
  await plain.locator("a.hit", { hasText: "count" }).first().click();
  await plain.waitForURL(/numbers\.py#L6$/);
  await plain.goto(`${SITE}/r/${HOSTILE}/many.py`);
  await plain.locator("a", { hasText: "Lines after" }).first().click();
  await plain.waitForSelector("#L1501");
  await plain.context().close();
});

await step("a line of a long file is shown wherever it is", async () => {
  await page.goto(`${SITE}/r/${HOSTILE}/many.py#L15000`);
  await page.waitForSelector("#L15000.in-range");
  await page.goto(`${SITE}/r/${HOSTILE}/deep.py#L1`);
  await page.evaluate(() => document.querySelector("#L60").scrollIntoView());
  await page.waitForFunction(() => document.querySelector(".scopes")?.textContent.includes("def method"));
});

await step("a picture leads from symbol to symbol", async () => {
  await page.goto(`${SITE}/s/${SHOP}?id=${encodeURIComponent("numbers.py::add#function")}`);
  await page.locator("a", { hasText: "Calls as a picture" }).click();
  await page.waitForSelector("svg.picture");
  assert.equal(await page.locator("svg .node").count(), 2);
  await page.locator("svg a", { hasText: "Counter.count" }).click();
  await page.waitForURL(/numbers\.py#L6$/);
  await page.goto(`${SITE}/g/${KEPT}/?of=calls&id=${encodeURIComponent("chain.py::one#function")}`);
  assert.equal(await page.locator("svg .node").count(), 2);
  const loads = [];
  page.on("request", (asked) => asked.isNavigationRequest() && loads.push(asked.url()));
  await page.locator("svg a.more").click();
  await page.waitForFunction(() => document.querySelectorAll("svg .node").length === 3);
  assert.match(page.url(), /open=chain\.py/);
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("class")), "more");
  await page.goBack();
  await page.waitForFunction(() => document.querySelectorAll("svg .node").length === 2);
  assert.deepEqual(loads, [], "it grows in place");
});

await step("a hostile repository runs nothing", async () => {
  await page.goto(`${SITE}/r/${HOSTILE}/`);
  const names = await page.locator("tbody th a").all();
  assert.match(await page.locator("tbody").innerText(), /long\.py/, "its line has a megabyte");
  for (const address of await Promise.all(names.map((name) => name.getAttribute("href")))) {
    await page.goto(SITE + address);
    await page.waitForSelector("pre.code");
    assert.equal(await page.locator("main script, main img").count(), 0);
  }
  await page.goto(`${SITE}/search?q=script`);
});

await step("visitors with different tokens see different repositories", async () => {
  const visitor = await opened();
  await visitor.goto(`${TEAM}/r/${SHOP}/`);
  await visitor.fill("#token", "guess");
  await visitor.keyboard.press("Enter");
  await visitor.waitForSelector("[role=alert]");
  problems.splice(0);
  await visitor.fill("#token", TOKEN);
  await visitor.keyboard.press("Enter");
  await visitor.waitForSelector("table.files");
  await visitor.goto(TEAM);
  assert.doesNotMatch(await visitor.locator("main").innerText(), /vault/);
  await visitor.goto(`${TEAM}/r/${KEPT}/a.py`);
  assert.match(await visitor.locator("main").innerText(), /no such repository/);
  await visitor.locator("button", { hasText: "Sign out" }).click();
  await visitor.waitForSelector("#token");
  problems.splice(0);
  await visitor.fill("#token", OTHER);
  await visitor.keyboard.press("Enter");
  await visitor.waitForSelector("tbody");
  assert.match(await visitor.locator("main").innerText(), /vault/);
  await visitor.context().close();
});

const pages = {
  start: "/",
  folder: `/r/${SHOP}/`,
  file: `/r/${SHOP}/numbers.py#L5-L7`,
  long: `/r/${HOSTILE}/deep.py`,
  symbol: `/s/${SHOP}?id=${encodeURIComponent("numbers.py::add#function")}`,
  search: "/search?q=add",
  picture: `/g/${SHOP}/?of=calls&id=${encodeURIComponent("numbers.py::add#function")}`,
  matrix: `/m/${SHOP}/`,
  panel: `/r/${SHOP}/numbers.py?panel=${encodeURIComponent("numbers.py::add#function")}#L1`,
  blame: `/r/${KEPT}/a.py?blame=1&since=HEAD`,
  change: `/change/${KEPT}?commit=HEAD`,
  sentence: `/search?q=how+does+the+counter+count&repo=${SHOP}`,
  history: `/r/${KEPT}/a.py?panel=${encodeURIComponent("a.py::first#function")}&show=history#L1`,
  older: `/r/${KEPT}@HEAD/a.py`,
  wide: `/s/${KEPT}?id=${encodeURIComponent("wide.py::wide#function")}`,
  possible: `/g/${KEPT}/?of=calls&id=${encodeURIComponent("wide.py::Wide.alone#method")}`,
  classes: `/g/${SHOP}/?of=classes&id=${encodeURIComponent("numbers.py::Counter#class")}`,
  blast: `/g/${SHOP}/?of=blast&id=${encodeURIComponent("numbers.py::add#function")}`,
  files: `/g/${SHOP}/numbers.py?of=files`,
  lines: `/search?q=add&in=text&repo=${SHOP}`,
  findings: "/doctor",
  impact: `/i/${SHOP}?id=${encodeURIComponent("numbers.py::add#function")}`,
  missing: "/nowhere",
};
for (const scheme of ["light", "dark"]) {
  for (const [size, viewport] of [["wide", { width: 1280, height: 800 }], ["phone", { width: 390, height: 800 }]]) {
    await step(`axe finds nothing: ${scheme}, ${size}`, async () => {
      // The policy of the pages keeps out the checker as well.
      const view = await opened({ colorScheme: scheme, viewport, bypassCSP: true });
      const checked = async (name) => {
        if (SHOTS) await view.screenshot({ path: join(SHOTS, `${name}-${scheme}-${size}.png`) });
        await view.evaluate(axe);
        const found = await view.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
        const told = found.violations.map((one) => `${name}: ${one.id}: ${one.nodes.map((node) => node.html + " " + node.failureSummary).slice(0, 3).join("\n")}`);
        assert.deepEqual(told, []);
        const wide = await view.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        assert.equal(wide, false, `${name} is wider than the window`);
      };
      for (const [name, address] of Object.entries(pages)) {
        await view.goto(SITE + address);
        await checked(name);
      }
      await view.goto(SITE + pages.file);
      await view.locator("#L7 a", { hasText: "add" }).focus();
      await view.waitForSelector("#card:not([hidden])");
      await checked("hover");
      await view.keyboard.press("/");
      await view.keyboard.type("add");
      await view.waitForSelector("#found li > a[href*='numbers.py']");
      await checked("found");
      await view.keyboard.press("Escape");
      await view.locator("pre.code").focus();
      await view.keyboard.press("?");
      await view.waitForSelector("dialog[open]");
      await checked("keys");
      await view.goto(TEAM);
      await view.waitForSelector("#token");
      problems.splice(0);
      await checked("sign-in");
      await view.context().close();
    });
  }
}

await browser.close();
