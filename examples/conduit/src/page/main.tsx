import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { startClient } from "seamline/client";
import { App } from "./app.tsx";
import { SessionProvider } from "./session.tsx";

await startClient("page");

createRoot(document.querySelector("#app")!).render(
  <StrictMode>
    <SessionProvider>
      <App />
    </SessionProvider>
  </StrictMode>,
);
