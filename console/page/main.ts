// The console's page: opens a session with the link's token, or explains how to get a link.

import { addressOf } from "./base/address.ts";
import { callsView } from "./calls/calls-view.ts";
import { openProcedure } from "./calls/call-form.ts";
import { connect, signIn, signOut, takeToken } from "./base/connection.ts";
import { h, setText } from "./base/dom.ts";
import { figuresView } from "./figures-view.ts";
import { linkScreen } from "./link-screen.ts";
import { mapView } from "./map/map-view.ts";
import { membersView, openMember } from "./members-view.ts";
import { Model } from "./base/model.ts";
import { proceduresView } from "./procedures-view.ts";
import { themeButton } from "./base/theme.ts";

const model = new Model();
const theme = themeButton();
const linkTexts = {
  connecting: "connecting",
  live: "live",
  lost: "connection lost, trying again",
} as const;
let entered = false;
const events = connect(model, () => {
  events.close();
  showLink(
    entered
      ? "This session has ended: it expired, or the service was restarted. A new link opens the console again."
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
  events.open();
}

let made: HTMLElement[] | undefined;

/** Created once: after a new link the same views continue. */
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
          () => (events.close(), showLink("You have signed out. A new link opens the console.")),
        ),
    },
    "Sign out",
  );
  model.onChange((changes) => {
    if (changes.has("link")) {
      state.className = `connection ${model.link}`;
      setText(state, linkTexts[model.link]);
    }
    if (!changes.has("service")) return;
    const { mode, url, name } = model.service;
    setText(title, `${name ?? mode} · ${model.hostOf(url)}`);
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
        h("img", { class: "mark", src: addressOf("/icon.svg"), alt: "" }),
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
  return await fetch(addressOf("/state")).then(
    (answer) => answer.status === 200,
    () => false,
  );
}

// Opening a new link in a tab that shows this page only changes the hash: no page load.
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#token=")) void start();
});
await start();
