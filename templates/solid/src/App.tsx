import type { Client, ObservedCall } from "seamline/client";
import { createSignal, For, type JSX, onCleanup, onMount, Show } from "solid-js";
import { type Calls, callsOf, costOf, nameOf, withCall } from "./calls.ts";
import { draw } from "./draw.ts";
import { describe } from "./tartan/describe.ts";
import { weave } from "./tartan/weave.ts";

export function App(props: { readonly client: Client }): JSX.Element {
  let canvas!: HTMLCanvasElement;
  const [name, setName] = createSignal("Ada");
  const [caption, setCaption] = createSignal("");
  const [problem, setProblem] = createSignal("");
  const [calls, setCalls] = createSignal<Calls>(new Map());

  async function show(): Promise<void> {
    try {
      // Two functions, imported and awaited. Where they run is in the segment files.
      const tartan = await weave(name());
      draw(canvas, tartan);
      setCaption(await describe(tartan));
      setProblem("");
    } catch (error) {
      setProblem((error as Error).message);
    }
  }

  onCleanup(props.client.observe((call) => setCalls((before) => withCall(before, call))));
  onMount(() => {
    draw(canvas);
    void show();
  });

  return (
    <main>
      <h1>Tartan</h1>
      <p class="quiet">Every name has a cloth of its own.</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void show();
        }}
      >
        <label>
          Name{" "}
          <input
            value={name()}
            onInput={(event) => setName(event.currentTarget.value)}
            autocomplete="off"
          />
        </label>
        <button>Weave</button>
      </form>
      <figure>
        <canvas
          ref={(element) => (canvas = element)}
          width="240"
          height="120"
          role="img"
          aria-label="The tartan of this name"
        />
        <figcaption aria-live="polite">
          <Show when={problem()} fallback={caption()}>
            <span class="bad">{problem()}</span>
          </Show>
        </figcaption>
      </figure>
      <h2>Where it ran</h2>
      <div class="places">
        <Place title="This page" calls={callsOf(calls(), "local")} />
        <Place title="Server" calls={callsOf(calls(), "remote")} />
      </div>
      <h2>Move it</h2>
      <p class="quiet">
        Cut the line of <code>./tartan/weave</code> in <code>segments/server.segment.json</code>,
        and paste it into <code>segments/browser.segment.json</code>.
      </p>
    </main>
  );
}

function Place(props: {
  readonly title: string;
  readonly calls: readonly ObservedCall[];
}): JSX.Element {
  return (
    <div>
      <h3>{props.title}</h3>
      <ul>
        <For each={props.calls}>
          {(call) => (
            <li>
              <code>{nameOf(call)}</code> <small>{costOf(call)}</small>
            </li>
          )}
        </For>
      </ul>
    </div>
  );
}
