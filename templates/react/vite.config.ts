import react from "@vitejs/plugin-react";
import { seamline } from "seamline/vite";
import { defineConfig } from "vite";

export default defineConfig({ plugins: [react(), seamline()] });
