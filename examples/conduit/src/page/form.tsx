import { type ComponentProps, type FormEvent, type ReactNode, useState } from "react";
import { InvalidParameterValue } from "seamline";
import { type FieldErrors, Invalid, NotSignedIn, refused, Taken } from "../errors.ts";
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
  const fields = fieldsOf(error);
  const lines =
    fields === undefined
      ? [error instanceof Error ? error.message : "Something went wrong"]
      : Object.entries(fields).flatMap(([field, texts]) => texts.map((text) => `${field} ${text}`));
  return (
    <ul className="problem" role="alert">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

function fieldsOf(error: unknown): FieldErrors | undefined {
  if (error instanceof InvalidParameterValue) return refused(error);
  return error instanceof Invalid || error instanceof Taken ? error.errors : undefined;
}

/** The text of a field. */
export function textOf(values: FormData, name: string): string {
  const value = values.get(name);
  return typeof value === "string" ? value : "";
}
