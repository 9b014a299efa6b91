// What somebody sees who has no session: how to get one.

import { signIn, tokenIn } from "./connection.ts";
import { h, setText } from "./dom.ts";

/** `why` is said first. Calls `entered` when a link was good. */
export function linkScreen(why: string, entered: () => void): HTMLElement {
  const said = h("p", { class: "said", role: "alert" });
  const input = h("input", {
    id: "link",
    name: "link",
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "http://…/svc/console#token=…",
  });
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const token = tokenIn(input.value);
    if (token === undefined)
      return setText(said, "That is no link to a console: it ends with #token= and 64 characters.");
    input.value = "";
    const good = await signIn(token).catch(() => undefined);
    if (good === true) entered();
    else
      setText(
        said,
        good === false
          ? "This link was used already, or is older than ten minutes."
          : "The service can't be reached.",
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
      "It opens with a link for one person, good once and for ten minutes. The service prints one when it starts; who holds the trust key gets more:",
    ),
    h(
      "pre",
      { tabindex: 0 },
      `curl -X POST -H "x-svc-trust-key: $KEY" ${location.origin}/svc/console/token`,
    ),
    h(
      "form",
      { onsubmit: (event: SubmitEvent) => void submit(event) },
      h("label", { for: "link" }, "Link"),
      h("div", { class: "line" }, input, h("button", { type: "submit", class: "primary" }, "Open")),
    ),
    said,
  );
}
