import { seamline } from "seamline/vite";
import { defineConfig } from "vite";

export default defineConfig({ plugins: [seamline()] });
