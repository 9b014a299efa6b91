import { useEffect, useState } from "react";

interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  /** What is shown belongs to the key before. */
  readonly waits: boolean;
  setValue(value: T): void;
}

/** What `load` gives, asked for again when `key` changes. An answer that comes too late is dropped. */
export function useLoaded<T>(load: () => Promise<T>, key: string): Loaded<T> {
  const [state, setState] = useState<{ key?: string; value?: T; error?: unknown }>({});
  useEffect(() => {
    let current = true;
    load().then(
      (value) => current && setState({ key, value }),
      (error: unknown) => current && setState({ key, error }),
    );
    return () => {
      current = false;
    };
  }, [key]);
  return {
    value: state.value,
    error: state.error,
    waits: state.key !== key,
    setValue: (value) => setState({ key, value }),
  };
}
