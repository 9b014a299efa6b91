// The keys of a configuration that hold addresses, origins and hosts.

import * as v from "valibot";
import { addressPattern, addressProblem, expectedAddress, hostPattern } from "./config-address.ts";
import { parsedUrl } from "../../src/base/url.ts";

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

interface ListedAddresses {
  readonly expected: string;
  readonly example: string;
  readonly isUnique: boolean;
}

/** One address, or a list of them; slashes at the end are dropped. */
function oneOrList({
  expected,
  example,
  isUnique,
}: ListedAddresses): v.GenericSchema<string | string[]> {
  const text = v.pipe(v.string(), v.metadata({ pattern: addressPattern.source }));
  const list = v.pipe(
    v.array(text),
    v.minLength(1, `${expected}, or a list with at least one`),
    v.metadata({ uniqueItems: isUnique }),
  );
  return v.pipe(
    v.union([text, list], `${expected}, or a list of them`),
    v.metadata({ examples: [example] }),
    v.rawTransform(({ dataset: { value }, addIssue, NEVER }) => {
      const found: string[] = [];
      for (const written of [value].flat()) {
        const problem = addressProblem(written, expected);
        const origin = problem === undefined ? new URL(written).origin : "";
        const isRepeated = isUnique && found.includes(origin);
        if (problem !== undefined || isRepeated) {
          addIssue({ message: problem ?? `'${written}' is listed twice` });
          return NEVER;
        }
        found.push(origin);
      }
      return typeof value === "string" ? found[0]! : found;
    }),
  );
}

export const addresses: v.GenericSchema<string | string[]> = oneOrList({
  expected: expectedAddress,
  example: "http://127.0.0.1:3000",
  isUnique: true,
});

/** Origins as browsers send them. */
export const origins: v.GenericSchema<string | string[]> = oneOrList({
  expected: "expected an origin such as https://shop.example",
  example: "https://shop.example",
  isUnique: false,
});

/** A host without scheme and port, as browsers write it in `Host`. */
export const hostName: v.GenericSchema<string> = v.pipe(
  v.string("expected a host name such as shop.example"),
  v.regex(hostPattern, "expected a host name such as shop.example, without scheme and port, or *"),
  v.rawTransform(({ dataset: { value }, addIssue, NEVER }) => {
    if (value === "*") return value;
    const url = parsedUrl(`http://${value}`);
    if (url !== undefined) return url.hostname;
    addIssue({ message: `expected a host name such as shop.example, found '${value}'` });
    return NEVER;
  }),
);
