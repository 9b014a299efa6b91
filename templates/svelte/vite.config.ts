import { svelte } from "@sveltejs/vite-plugin-svelte";
import { seamline } from "seamline/vite";
import { defineConfig } from "vite";

export default defineConfig({ plugins: [svelte(), seamline()] });
