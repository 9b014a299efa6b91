import { useEffect, useState } from "react";

interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  /** The shown value belongs to the previous key. */
  readonly waits: boolean;
  setValue(value: T): void;
}

/** The result of `load`, loaded again when `key` changes. An answer that comes too late is dropped. */
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

/** The latest item of a stream, which is opened again when `key` changes. */
export function useStream<T>(
  open: () => AsyncGenerator<T>,
  key: string,
): Pick<Loaded<T>, "value" | "error"> {
  const [state, setState] = useState<{ key?: string; value?: T; error?: unknown }>({});
  useEffect(() => {
    const stream = open();
    const read = async () => {
      for await (const value of stream) setState({ key, value });
    };
    read().catch((error: unknown) => setState({ key, error }));
    return () => void stream.return(undefined);
  }, [key]);
  return state.key === key
    ? { value: state.value, error: state.error }
    : { value: undefined, error: undefined };
}
