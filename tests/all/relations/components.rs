//! Scripts of components, of Vue, Svelte and Astro: names are bound as in TypeScript, between pages and scripts.

use super::{check, check_imports};

const PROJECT: &str = "--- src/Counter.vue
<template><List :rows=\"rows\" @click=\"total([])\" /></template>
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
<button on:click={more}>{START}</button>
--- src/pages/index.astro
---
import List, { more⟦more⟧ } from '../List.svelte';
import { total⟦total⟧ } from '../cart';
const shown = more⟦more⟧();
---
<p>{total([shown])}</p>
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
