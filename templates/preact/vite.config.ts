import { preact } from "@preact/preset-vite";
import { seamline } from "seamline/vite";
import { defineConfig } from "vite";

export default defineConfig({ plugins: [preact(), seamline()] });
