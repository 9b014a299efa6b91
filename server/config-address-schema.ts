// Keys of a configuration that say where: addresses, origins, hosts, and who may be where.

import * as v from "valibot";
import {
  addressPattern,
  addressProblem,
  hostPattern,
  memberPattern,
  memberProblem,
} from "./config-address.ts";

/** An absolute address, kept without a slash at the end. */
export const address = (description: string): v.GenericSchema<string> =>
  v.pipe(
    v.string("expected an address such as http://127.0.0.1:3000"),
    v.metadata({
      description,
      pattern: addressPattern.source,
      examples: ["http://127.0.0.1:3000"],
    }),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const problem = addressProblem(dataset.value);
      if (problem === undefined) return new URL(dataset.value).origin;
      addIssue({ message: problem });
      return NEVER;
    }),
  );

/** Origins as browsers send them, in the form that was given: one, or a list. */
export const origins: v.GenericSchema<string | string[]> = v.pipe(
  v.union(
    [
      v.pipe(v.string(), v.metadata({ pattern: addressPattern.source })),
      v.pipe(
        v.array(v.pipe(v.string(), v.metadata({ pattern: addressPattern.source }))),
        v.minLength(1),
      ),
    ],
    "expected an origin such as https://shop.example, or a list of them",
  ),
  v.metadata({
    description:
      "Where browsers find the application, or a list of such places. Left out: wherever they ask this service.",
    examples: ["https://shop.example"],
  }),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const problem = [dataset.value]
      .flat()
      .map(addressProblem)
      .find((one) => one !== undefined);
    if (problem !== undefined) {
      addIssue({
        message: problem.replace(
          "expected an address such as http://127.0.0.1:3000",
          "expected an origin such as https://shop.example",
        ),
      });
      return NEVER;
    }
    return typeof dataset.value === "string"
      ? new URL(dataset.value).origin
      : dataset.value.map((one) => new URL(one).origin);
  }),
);

/** A host without scheme and port, as browsers write it in `Host`. */
export const hostName: v.GenericSchema<string> = v.pipe(
  v.string("expected a host name such as shop.example"),
  v.regex(hostPattern, "expected a host name such as shop.example, without scheme and port, or *"),
  v.transform((name) => (name === "*" ? name : new URL(`http://${name}`).hostname)),
);

export const members: v.GenericSchema<string[]> = v.pipe(
  v.array(
    v.pipe(
      v.string("expected a text"),
      v.metadata({ pattern: memberPattern.source }),
      v.rawCheck(({ dataset, addIssue }) => {
        const problem = dataset.typed ? memberProblem(dataset.value) : undefined;
        if (problem !== undefined) addIssue({ message: problem });
      }),
    ),
    "expected a list of texts",
  ),
  v.minLength(1, "expected at least one name or range: without any nobody could join"),
  v.description(
    "Host names, addresses and ranges (10.0.0.0/8) that members must be among. Left out: any but those that are always refused.",
  ),
);
