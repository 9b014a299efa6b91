import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Client } from "seamline/client";
import { type Calls, callsOf, costOf, nameOf, withCall } from "./calls.ts";
import { draw } from "./draw.ts";
import { describe } from "./tartan/describe.ts";
import { weave } from "./tartan/weave.ts";

export function App({ client }: { readonly client: Client }): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [name, setName] = useState("Ada");
  const [caption, setCaption] = useState("");
  const [problem, setProblem] = useState("");
  const [calls, setCalls] = useState<Calls>(new Map());

  async function show(): Promise<void> {
    try {
      // Two functions, imported and awaited. Where they run is in the segment files.
      const tartan = await weave(name);
      draw(canvas.current!, tartan);
      setCaption(await describe(tartan));
      setProblem("");
    } catch (error) {
      setProblem((error as Error).message);
    }
  }

  useEffect(() => client.observe((call) => setCalls((before) => withCall(before, call))), [client]);
  useEffect(() => {
    draw(canvas.current!);
    void show();
  }, []);

  return (
    <main>
      <h1>Tartan</h1>
      <p className="quiet">Every name has a cloth of its own.</p>
      <form action={show}>
        <label>
          Name{" "}
          <input
            value={name}
            onChange={(event) => setName(event.target.value)}
            autoComplete="off"
          />
        </label>
        <button>Weave</button>
      </form>
      <figure>
        <canvas
          ref={canvas}
          width="240"
          height="120"
          role="img"
          aria-label="The tartan of this name"
        />
        <figcaption aria-live="polite">
          {problem === "" ? caption : <span className="bad">{problem}</span>}
        </figcaption>
      </figure>
      <h2>Where it ran</h2>
      <div className="places">
        <Place title="This page" calls={callsOf(calls, "local")} />
        <Place title="Server" calls={callsOf(calls, "remote")} />
      </div>
      <h2>Move it</h2>
      <p className="quiet">
        Cut the line of <code>./tartan/weave</code> in <code>segments/server.segment.json</code>,
        and paste it into <code>segments/browser.segment.json</code>.
      </p>
    </main>
  );
}

function Place({
  title,
  calls,
}: {
  readonly title: string;
  readonly calls: ReturnType<typeof callsOf>;
}): ReactNode {
  return (
    <div>
      <h3>{title}</h3>
      <ul>
        {calls.map((call) => (
          <li key={call.fqn}>
            <code>{nameOf(call)}</code> <small>{costOf(call)}</small>
          </li>
        ))}
      </ul>
    </div>
  );
}
