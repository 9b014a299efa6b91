import { startClient } from "seamline/client";
import { mount } from "svelte";
import App from "./App.svelte";

// This page is a node too: it runs what the segment `browser` names.
const client = await startClient("browser");
mount(App, { target: document.querySelector("#app")!, props: { client } });
