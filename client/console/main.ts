// The console's page: in with the link's token, or to the screen that says how to get one.

import { callsView } from "./calls-view.ts";
import { openProcedure } from "./call-form.ts";
import { connect, signIn, signOut, takeToken } from "./connection.ts";
import { h, setText } from "./dom.ts";
import { figuresView } from "./figures-view.ts";
import { hostOf } from "./format.ts";
import { linkScreen } from "./link-screen.ts";
import { mapView } from "./map-view.ts";
import { membersView, openMember } from "./members-view.ts";
import { Model } from "./model.ts";
import { proceduresView } from "./procedures-view.ts";
import { themeButton } from "./theme.ts";

const model = new Model();
const theme = themeButton();
let entered = false;
const connection = connect(model, () => {
  connection.close();
  showLink(
    entered
      ? "This session has ended: it ran out, or the service was started anew. A new link opens the console again."
      : "This page has no session yet.",
  );
});

function showLink(why: string): void {
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  document.body.replaceChildren(linkScreen(why, enter));
}

function enter(): void {
  entered = true;
  const parts = page();
  document.body.replaceChildren(...parts);
  connection.open();
}

let made: HTMLElement[] | undefined;

/** Made once: after a new link the same views go on. */
function page(): HTMLElement[] {
  if (made !== undefined) return made;
  const title = h("span", { class: "service" });
  const state = h("span", { class: "connection", role: "status" }, "connecting");
  const leave = h(
    "button",
    {
      type: "button",
      onclick: () =>
        void signOut().finally(
          () => (
            connection.close(),
            showLink("You have left. A new link opens the console again.")
          ),
        ),
    },
    "Leave",
  );
  model.onChange((changes) => {
    if (changes.has("connection")) {
      state.className = `connection ${model.connection}`;
      setText(
        state,
        model.connection === "live"
          ? "live"
          : model.connection === "lost"
            ? "connection lost, trying again"
            : "connecting",
      );
    }
    if (!changes.has("service")) return;
    const { mode, url, name } = model.service;
    setText(title, `${name ?? mode} · ${hostOf(url)}`);
    document.title = `${name ?? mode} · Seamline console`;
  });
  const links = [
    ["#map", "Map"],
    ["#procedures", "Procedures"],
    ["#calls", "Calls"],
    ["#health", "Health"],
  ] as const;
  made = [
    h("a", { class: "skip", href: "#main" }, "Skip to the figures"),
    h("a", { class: "skip", href: "#calls" }, "Skip to the last calls"),
    h(
      "header",
      {},
      h(
        "h1",
        {},
        h("span", { class: "mark", "aria-hidden": "true" }),
        "Seamline ",
        h("span", { class: "hidden-text" }, "console of "),
        title,
      ),
      state,
      h(
        "nav",
        { "aria-label": "Sections" },
        ...links.map(([href, text]) => h("a", { href }, text)),
      ),
      h("div", { class: "buttons" }, theme, leave),
    ),
    h(
      "main",
      { id: "main", tabindex: -1 },
      figuresView(model),
      mapView(
        model,
        (procedure) => openProcedure(procedure, model),
        (member) => openMember(member, model),
      ),
      proceduresView(model, (procedure) => openProcedure(procedure, model)),
      callsView(model),
      membersView(model),
    ),
  ];
  return made;
}

async function start(): Promise<void> {
  const token = takeToken();
  if (token !== undefined && !(await signIn(token).catch(() => false)) && !(await hasSession())) {
    showLink("This link was used already, or is older than ten minutes.");
    return;
  }
  if (token !== undefined || (await hasSession())) enter();
  else showLink("This page has no session yet.");
}

async function hasSession(): Promise<boolean> {
  return await fetch("/svc/console/state").then(
    (answer) => answer.status === 200,
    () => false,
  );
}

// A new link in a tab that shows this page already: browsers load nothing anew for it.
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#token=")) void start();
});
await start();
