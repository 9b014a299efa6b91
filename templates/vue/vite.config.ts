import vue from "@vitejs/plugin-vue";
import { seamline } from "seamline/vite";
import { defineConfig } from "vite";

export default defineConfig({ plugins: [vue(), seamline()] });
