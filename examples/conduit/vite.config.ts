import react from "@vitejs/plugin-react";
import { seamline } from "seamline/vite";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react(), seamline()],
  // The database's files, which change with each call that writes.
  server: { watch: { ignored: ["**/data/**"] } },
});
