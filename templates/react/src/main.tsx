import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { startClient } from "seamline/client";
import { App } from "./App.tsx";

// This page is a node too: it runs what the segment `browser` names.
const client = await startClient("browser");
createRoot(document.querySelector("#app")!).render(
  <StrictMode>
    <App client={client} />
  </StrictMode>,
);
