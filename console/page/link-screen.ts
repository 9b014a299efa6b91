// Shown without a session: explains how to get a link.

import { addressOf } from "./base/address.ts";
import { consolePath } from "../../src/base/protocol.ts";
import { signIn, tokenIn } from "./base/connection.ts";
import { h, setText } from "./base/dom.ts";

/** Shows `why` first. Calls `entered` once a link has opened a session. */
export function linkScreen(why: string, entered: () => void): HTMLElement {
  const status = h("p", { class: "status", role: "alert" });
  const input = h("input", {
    id: "link",
    name: "link",
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: `http://…${consolePath}#token=…`,
  });
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const token = tokenIn(input.value);
    if (token === undefined)
      return setText(
        status,
        "This isn't a console link: those end with #token= and 64 characters.",
      );
    input.value = "";
    const good = await signIn(token).catch(() => undefined);
    if (good === true) entered();
    else
      setText(
        status,
        good === false
          ? "This link was used already, or is older than ten minutes."
          : "Can't reach the service.",
      );
  };
  return h(
    "main",
    { class: "link-screen" },
    h("h1", {}, "Seamline console"),
    h("p", { role: "status" }, why),
    h(
      "p",
      {},
      "A link opens the console once, within ten minutes. The service prints a link when it starts; with the trust key you can get more:",
    ),
    h(
      "pre",
      { tabindex: 0 },
      `curl -X POST -H "x-svc-trust-key: $KEY" ${location.origin}${addressOf("/token")}`,
    ),
    h(
      "form",
      { onsubmit: (event: SubmitEvent) => void submit(event) },
      h("label", { for: "link" }, "Link"),
      h("div", { class: "line" }, input, h("button", { type: "submit", class: "primary" }, "Open")),
    ),
    status,
  );
}
