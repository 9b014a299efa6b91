import { type ComponentProps, type FormEvent, type ReactNode, useState } from "react";
import { Invalid, NotSignedIn, Taken } from "../errors.ts";
import { navigate } from "./router.tsx";

/** Runs something that may fail, one at a time. What it throws can be shown. */
export function useAction(): {
  error: unknown;
  waits: boolean;
  run(act: () => Promise<void>): Promise<void>;
} {
  const [error, setError] = useState<unknown>();
  const [waits, setWaits] = useState(false);
  async function run(act: () => Promise<void>) {
    setWaits(true);
    setError(undefined);
    try {
      await act();
    } catch (thrown) {
      if (thrown instanceof NotSignedIn) navigate("/login");
      else setError(thrown);
    } finally {
      setWaits(false);
    }
  }
  return { error, waits, run };
}

interface FormProps {
  readonly children: ReactNode;
  readonly button: string;
  submit(values: FormData, form: HTMLFormElement): Promise<void>;
}

export function Form({ children, button, submit }: FormProps) {
  const { error, waits, run } = useAction();
  function send(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    void run(() => submit(new FormData(form), form));
  }
  return (
    <form onSubmit={send} noValidate>
      <Problem error={error} />
      {children}
      <button className="main" disabled={waits}>
        {button}
      </button>
    </form>
  );
}

type FieldProps = { label: string } & ComponentProps<"input">;

export function Field({ label, ...rest }: FieldProps) {
  return (
    <label>
      <span>{label}</span>
      <input {...rest} />
    </label>
  );
}

/** The server's errors arrive as what was thrown there. */
export function Problem({ error }: { error: unknown }) {
  if (error === undefined) return null;
  const lines =
    error instanceof Invalid || error instanceof Taken
      ? Object.entries(error.errors).flatMap(([field, texts]) =>
          texts.map((text) => `${field} ${text}`),
        )
      : [error instanceof Error ? error.message : "Something went wrong"];
  return (
    <ul className="problem" role="alert">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

/** The text of a field. */
export function textOf(values: FormData, name: string): string {
  const value = values.get(name);
  return typeof value === "string" ? value : "";
}
