// The keys of a configuration that hold addresses, origins and hosts.

import * as v from "valibot";
import { addressPattern, addressProblem, hostPattern } from "./config-address.ts";

const expectedAddress = "expected an address such as http://127.0.0.1:3000";
const expectedOrigin = "expected an origin such as https://shop.example";

/** An absolute address; a slash at its end is dropped. */
export const address: v.GenericSchema<string> = v.pipe(
  v.string(expectedAddress),
  v.metadata({ pattern: addressPattern.source, examples: ["http://127.0.0.1:3000"] }),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const problem = addressProblem(dataset.value);
    if (problem === undefined) return new URL(dataset.value).origin;
    addIssue({ message: problem });
    return NEVER;
  }),
);

/** One address, or a list of them, each once. */
export const addresses: v.GenericSchema<string | string[]> = v.pipe(
  v.union(
    [
      v.pipe(v.string(), v.metadata({ pattern: addressPattern.source })),
      v.pipe(
        v.array(v.pipe(v.string(), v.metadata({ pattern: addressPattern.source }))),
        v.minLength(1, `${expectedAddress}, or a list with at least one`),
        v.metadata({ uniqueItems: true }),
      ),
    ],
    `${expectedAddress}, or a list of them`,
  ),
  v.metadata({ examples: ["http://127.0.0.1:3000"] }),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const { value } = dataset;
    const found: string[] = [];
    for (const text of [value].flat()) {
      const problem = addressProblem(text);
      const { origin } = problem === undefined ? new URL(text) : { origin: "" };
      if (problem === undefined && !found.includes(origin)) found.push(origin);
      else {
        addIssue({ message: problem ?? `'${text}' is listed twice` });
        return NEVER;
      }
    }
    return typeof value === "string" ? found[0]! : found;
  }),
);

/** One origin, or a list of them, as browsers send them. */
export const origins: v.GenericSchema<string | string[]> = v.pipe(
  v.union(
    [
      v.pipe(v.string(), v.metadata({ pattern: addressPattern.source })),
      v.pipe(
        v.array(v.pipe(v.string(), v.metadata({ pattern: addressPattern.source }))),
        v.minLength(1, `${expectedOrigin}, or a list with at least one`),
      ),
    ],
    `${expectedOrigin}, or a list of them`,
  ),
  v.metadata({ examples: ["https://shop.example"] }),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const problem = [dataset.value]
      .flat()
      .map(addressProblem)
      .find((found) => found !== undefined);
    if (problem !== undefined) {
      addIssue({ message: problem.replace(expectedAddress, expectedOrigin) });
      return NEVER;
    }
    return typeof dataset.value === "string"
      ? new URL(dataset.value).origin
      : dataset.value.map((origin) => new URL(origin).origin);
  }),
);

/** A host without scheme and port, as browsers write it in `Host`. */
export const hostName: v.GenericSchema<string> = v.pipe(
  v.string("expected a host name such as shop.example"),
  v.regex(hostPattern, "expected a host name such as shop.example, without scheme and port, or *"),
  v.rawTransform(({ dataset: { value }, addIssue, NEVER }) => {
    if (value === "*") return value;
    if (URL.canParse(`http://${value}`)) return new URL(`http://${value}`).hostname;
    addIssue({ message: `expected a host name such as shop.example, found '${value}'` });
    return NEVER;
  }),
);

/** The form of a server's address, for the JSON Schema; only `URL` knows whether it is valid. */
const natsPattern =
  /^(?:nats|tls):\/\/(?:[^\s/?#@]+@)?(?:\[[\da-fA-F:.]+\]|[^\s/?#@:\\[\]]+)(?::\d{1,5})?\/?$/;

/** The address of a NATS server, maybe with a password. */
export const natsAddress: v.GenericSchema<string> = v.pipe(
  v.string("expected an address such as nats://127.0.0.1:4222"),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed || (natsPattern.test(dataset.value) && URL.canParse(dataset.value))) return;
    addIssue({
      message: "it isn't the address of a NATS server: give one such as nats://127.0.0.1:4222",
    });
  }),
  v.metadata({ pattern: natsPattern.source }),
);
