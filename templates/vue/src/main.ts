import { startClient } from "seamline/client";
import { createApp } from "vue";
import App from "./App.vue";

// This page is a node too: it runs what the segment `browser` names.
const client = await startClient("browser");
createApp(App, { client }).mount("#app");
