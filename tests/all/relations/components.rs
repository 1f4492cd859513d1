//! Scripts of components, of Vue, Svelte and Astro: names are bound as in TypeScript, between pages and scripts.

use super::{check, check_imports};

const PROJECT: &str = "--- src/Counter.vue
<template><List :rows=\"rows⟦rows⟧\" @click=\"total⟦total⟧([])\" /></template>
<script>
export const START⟦=START⟧ = 0;
</script>
<script setup lang=\"ts\">
import { total⟦total⟧ } from './cart';
import List from './List.svelte';
const rows⟦=rows⟧: number[] = [START⟦START⟧];
total⟦total⟧(rows⟦rows⟧);
</script>
--- src/List.svelte
<script>
import { START⟦START⟧ } from './Counter.vue';
export function more⟦=more⟧() { return START⟦START⟧ + total; }
</script>
<button on:click={more⟦more⟧}>{START⟦START⟧}</button>
--- src/pages/index.astro
---
import List, { more⟦more⟧ } from '../List.svelte';
import { total⟦total⟧ } from '../cart';
const shown = more⟦more⟧();
---
<p>{total⟦total⟧([shown])}</p>
<script>import { total⟦total⟧ } from '../cart'; total⟦total⟧([]);</script>
--- src/cart.ts
import { START⟦START⟧ } from './Counter.vue';
export function total⟦=total⟧(rows: number[]) { return rows.length + START⟦START⟧; }
";

#[test]
fn components_and_scripts_use_each_other() {
    check(PROJECT);
}

#[test]
fn components_import_components() {
    let expected = [
        "src/Counter.vue -> src/List.svelte",
        "src/Counter.vue -> src/cart.ts",
        "src/List.svelte -> src/Counter.vue",
        "src/cart.ts -> src/Counter.vue",
        "src/pages/index.astro -> src/List.svelte",
        "src/pages/index.astro -> src/cart.ts",
    ];
    check_imports(PROJECT, &expected);
}

#[test]
fn markup_uses_the_names_of_its_scripts() {
    check(
        "--- stores.ts
export const count⟦=count⟧ = { set(n: number) {} };
export const lang⟦=lang⟧ = (text: string) => text;
export function tip⟦=tip⟧(node: Node) {}
--- Main.svelte
<script lang=\"ts\">
import { count⟦count⟧, lang⟦lang⟧, tip⟦tip⟧ } from './stores';
export let items⟦=items⟧: string[] = [];
let item⟦=item⟧ = 1;
$: double = $count⟦count⟧ * item⟦item⟧;
function more⟦=more⟧() { $count⟦count⟧ += 1; }
</script>
{#snippet line(text)}{$lang⟦lang⟧(text)}{/snippet}
{#each items⟦items⟧ as item (item)}
  <p use:tip⟦tip⟧ on:click={more⟦more⟧} title=\"a {$count⟦count⟧}\">{item}</p>
{:else}{lang⟦lang⟧('none')}{/each}
--- List.vue
<script setup lang=\"ts\">
import { lang⟦lang⟧ } from './stores';
const rows⟦=rows⟧ = [{ name: 'a' }];
const wide⟦=wide⟧ = true;
function pick⟦=pick⟧(name: string) {}
function row⟦=row⟧() {}
</script>
<template>
  <ul :class=\"{ wide: wide⟦wide⟧ }\">
    <li v-for=\"row in rows⟦rows⟧\" :key=\"row.name\" @click=\"pick⟦pick⟧(row.name)\">{{ lang⟦lang⟧(row.name) }}</li>
  </ul>
</template>
--- index.astro
---
import { lang⟦lang⟧ } from './stores';
const posts⟦=posts⟧ = ['a'];
function link⟦=link⟧(post: string) { return post; }
---
<main class={lang⟦lang⟧('a')}>
  {posts⟦posts⟧.map((post) => <a href={link⟦link⟧(post)}>it's {lang⟦lang⟧(post)}</a>)}
</main>
",
    );
}
