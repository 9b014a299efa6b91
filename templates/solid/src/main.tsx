import { startClient } from "seamline/client";
import { render } from "solid-js/web";
import { App } from "./App.tsx";

// This page is a node too: it runs what the segment `browser` names.
const client = await startClient("browser");
render(() => <App client={client} />, document.querySelector("#app")!);
