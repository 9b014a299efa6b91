// Writes the code that passes valid arguments. Texts of the application get into it through JSON.stringify
// only.

import type { Member, ParameterType, Signature, Type, TypeModel } from "./model.ts";
import { triesOf } from "./union.ts";
import { type ObjectType, partsOf, testedTypes } from "./values.ts";

/**
 * The source of a function that takes the helpers of checks, and returns the tests of each function's
 * signatures and of each type of {@link testedTypes}.
 */
export function generateChecks(model: TypeModel): string {
  const { definitions } = model;
  const testNames = new Map<Type, string>();
  const lines: string[] = [];
  const names = new Map<string, string>();
  const constants = new Map<string, string>();
  /** Test → the name of the function that makes it. */
  const writtenTests = new Map<string, string>();
  const flattened = new Map<readonly Type[], readonly Type[]>();

  for (const name of Object.keys(definitions)) names.set(name, `d${names.size}`);
  for (const [name, type] of Object.entries(definitions)) {
    const test = expression(type, "v");
    lines.push(`function ${names.get(name)}(v, c) { return ${test}; }`);
  }
  const functions = Object.entries(model.functions).map(
    ([id, signatures]) =>
      `[${JSON.stringify(id)}, [${signatures.map((signature) => testOf(signature)).join(", ")}]]`,
  );
  const typeTests = testedTypes(model).map(testName);
  return [
    "($) => {",
    ...[...constants].map(([value, name]) => `const ${name} = ${value};`),
    ...lines,
    `return { functions: new Map([${functions.join(",\n")}]), types: [${typeTests.join(", ")}] };`,
    "}",
  ].join("\n");

  /** The function that tests a type with parts, which is written once. */
  function testName(type: Type): string {
    const name = testNames.get(type) ?? partsTest(type as PartsType);
    testNames.set(type, name);
    return name;
  }

  function testOf({ parameters }: Signature): string {
    const tests = parameters.map((parameter, index) => parameterTest(parameter, index));
    return `(a, c) => ${tests.length === 0 ? "true" : tests.join(" && ")}`;
  }

  function parameterTest(parameter: ParameterType, index: number): string {
    const value = `a[${index}]`;
    switch (parameter.kind) {
      case "plain":
        return `(${withAbsence(parameter, value)})`;
      case "rest":
        return `(${expression(parameter.type, `a.slice(${index})`)})`;
      case "object":
      case "array": {
        const tests = parameter.names.flatMap((name, at) => {
          if (name === null) return [];
          const member = parameter.kind === "array" ? `v[${at}]` : memberOf("v", name.name);
          return [`(${bound(member, (item) => withAbsence(name, item))})`];
        });
        const test = hoisted(`return ${tests.length === 0 ? "true" : tests.join(" && ")};`);
        return `(${parameter.optional ? `${value} === undefined || ` : ""}${test}(${value}, c))`;
      }
    }
  }

  function withAbsence({ type, optional }: Member, value: string): string {
    const test = expression(type, value);
    return optional ? `${value} === undefined || ${test}` : test;
  }

  /** A test of a member, which is read once if reading it takes a call. */
  function bound(item: string, test: (item: string) => string): string {
    return item.startsWith("(") ? `((x) => ${test("x")})(${item})` : test(item);
  }

  function hoisted(body: string): string {
    return named((name) => `function ${name}(v, c) { ${body} }`);
  }

  /** Equal types share a test: a database client's types are the same for thousands of fields. */
  function named(write: (name: string) => string): string {
    const text = write("");
    const known = writtenTests.get(text);
    if (known !== undefined) return known;
    const name = `f${writtenTests.size}`;
    writtenTests.set(text, name);
    lines.push(write(name));
    return name;
  }

  /** A test of a value with parts: in messages that share them, each part is tested once. */
  function remembered(body: string): string {
    return named(
      (name) =>
        `function ${name}(v, c, m) { if (m !== 1 && c.memory !== undefined) return $.testOnce(v, ${name}, c); ${body} }`,
    );
  }

  function constant(value: string): string {
    const name = constants.get(value) ?? `k${constants.size}`;
    constants.set(value, name);
    return name;
  }

  /** `value` is an expression without effects: a name, a member, an item. */
  function expression(type: Type, value: string): string {
    switch (type.kind) {
      case "unknown":
        return "true";
      case "never":
        return "false";
      case "defined":
        return `(${value} !== undefined && ${value} !== null)`;
      case "nonprimitive":
        return `(typeof ${value} === "object" && ${value} !== null)`;
      case "null":
        return `${value} === null`;
      case "undefined":
      case "boolean":
      case "bigint":
        return `typeof ${value} === "${type.kind}"`;
      case "number": {
        const { min, max, int } = type;
        const bounds = [
          ...(int
            ? [`Number.isSafeInteger(${value})`]
            : min !== undefined || max !== undefined
              ? [`Number.isFinite(${value})`]
              : []),
          ...(min === undefined ? [] : [`${value} >= ${numeral(min)}`]),
          ...(max === undefined ? [] : [`${value} <= ${numeral(max)}`]),
        ];
        return [`typeof ${value} === "number"`, ...bounds].join(" && ");
      }
      case "string": {
        const { kind: _, ...rules } = type;
        const isText = `typeof ${value} === "string"`;
        if (Object.keys(rules).length === 0) return isText;
        return `${isText} && $.brokenRule(${constant(JSON.stringify(rules))}, ${value}) === undefined`;
      }
      case "template": {
        const whole = constant(JSON.stringify(type));
        return `typeof ${value} === "string" && $.fitsTemplate(${whole}.parts, ${value}) && $.brokenRule(${whole}, ${value}) === undefined`;
      }
      case "literals": {
        const values = type.values.map((literal) =>
          typeof literal === "object"
            ? `BigInt(${JSON.stringify(literal.bigint)})`
            : typeof literal === "number"
              ? numeral(literal)
              : JSON.stringify(literal),
        );
        // A set is as fast for a thousand literals as for ten.
        return values.length <= 4 && !values.some((text) => text.startsWith("BigInt"))
          ? `(${values.map((text) => `${value} === ${text}`).join(" || ")})`
          : `${constant(`new Set([${values.join(", ")}])`)}.has(${value})`;
      }
      case "date":
      case "url":
      case "regexp":
      case "file":
      case "blob":
      case "form":
        return `$.isLeaf("${type.kind}", ${value})`;
      case "binary":
        return `$.isBinary("${type.type}", ${value})`;
      case "instance":
        return `(typeof ${value} === "object" && ${value} !== null && c.isInstance(${JSON.stringify(type.key)}, ${value}))`;
      case "ref":
        return `${names.get(type.to) ?? "$.missing"}(${value}, c)`;
      default:
        return `${testName(type)}(${value}, c)`;
    }
  }

  function partsTest(type: PartsType): string {
    switch (type.kind) {
      case "array": {
        const { items, minLength, maxLength } = type;
        const length = [
          ...(minLength === undefined ? [] : [`v.length < ${minLength}`]),
          ...(maxLength === undefined ? [] : [`v.length > ${maxLength}`]),
        ];
        return remembered(
          `if (${["!Array.isArray(v)", ...length].join(" || ")}) return false; ${loop("0", "v.length", items)} return true;`,
        );
      }
      case "tuple": {
        const { first, rest, last = [] } = type;
        const counted = constant(JSON.stringify(type));
        const tests = first.map((item, index) => `(${withAbsence(item, `v[${index}]`)})`);
        const ends = last.map(
          (item, index) => `(${expression(item, `v[v.length - ${last.length - index}]`)})`,
        );
        return remembered(
          [
            `if (!Array.isArray(v) || $.brokenCount(${counted}, v.length) !== undefined) return false;`,
            ...(rest === undefined
              ? []
              : [loop(String(first.length), `v.length - ${last.length}`, rest)]),
            `return ${[...tests, ...ends].join(" && ") || "true"};`,
          ].join(" "),
        );
      }
      case "map":
        return remembered(
          `if (!(v instanceof Map)) return false; for (const [k, x] of v) if (!(${expression(type.keys, "k")}) || !(${expression(type.values, "x")})) return false; return true;`,
        );
      case "set":
        return remembered(
          `if (!(v instanceof Set)) return false; for (const x of v) if (!(${expression(type.items, "x")})) return false; return true;`,
        );
      case "object":
        return remembered(objectBody(type));
      case "union":
        return unionTest(type.arms);
    }
  }

  function loop(from: string, to: string, items: Type): string {
    return `for (let i = ${from}; i < ${to}; i++) { const x = v[i]; if (!(${expression(items, "x")})) return false; }`;
  }

  function objectBody(type: ObjectType): string {
    const members = Object.entries(type.members);
    // Inline, as engines don't inline a function for it. Reading the prototype would take as long as all the
    // rest; no message has a key `constructor`.
    const body = [
      'if (typeof v !== "object" || v === null || (v.constructor !== Object && !$.isDataObject(v))) return false;',
    ];
    members.forEach(([name, member], index) => {
      const item = `m${index}`;
      body.push(`const ${item} = ${memberOf("v", name)};`);
      body.push(`if (!(${withAbsence(member, item)})) return false;`);
    });
    if (type.index === undefined) {
      // Counted, as a look-up of each key would take longer than all the rest.
      const isFirm = ([, member]: [string, Member]): boolean =>
        !member.optional && neverAbsent.has(member.type.kind);
      const present = members.flatMap((member, index) =>
        isFirm(member) ? [] : [` + (m${index} === undefined ? 0 : 1)`],
      );
      body.push(`let n = ${members.filter(isFirm).length}${present.join("")};`);
      body.push("for (const _ in v) n--; if (n !== 0) c.extra = true; return true;");
      return body.join(" ");
    }
    const known = constant(`new Set(${JSON.stringify(members.map(([name]) => name))})`);
    body.push(`for (const k of Object.keys(v)) { if (${known}.has(k)) continue;`);
    body.push("const x = v[k]; let taken = false;");
    for (const { keys, values } of type.index) {
      const takes =
        keys.kind === "string" && Object.keys(keys).length === 1
          ? "true"
          : `$.takesKey(${constant(JSON.stringify(keys))}, k)`;
      body.push(`if (${takes}) { if (!(${expression(values, "x")})) return false; taken = true; }`);
    }
    body.push("if (!taken) c.extra = true; } return true;");
    return body.join(" ");
  }

  /** The arms of a union, without the unions among them. */
  function flat(arms: readonly Type[], seen?: ReadonlySet<string>): readonly Type[] {
    const known = seen === undefined ? flattened.get(arms) : undefined;
    if (known !== undefined) return known;
    const all = arms.flatMap((arm): readonly Type[] => {
      if (arm.kind === "union") return flat(arm.arms, seen);
      if (arm.kind !== "ref") return [arm];
      if (seen?.has(arm.to)) return [];
      const definition = definitions[arm.to];
      return definition?.kind === "union"
        ? flat(definition.arms, new Set([...(seen ?? []), arm.to]))
        : [arm];
    });
    if (seen === undefined) flattened.set(arms, all);
    return all;
  }

  function target(arm: Type): Type {
    let current = arm;
    while (current.kind === "ref") current = definitions[current.to] ?? { kind: "never" };
    return current;
  }

  function unionTest(all: readonly Type[]): string {
    const arms = flat(all);
    const simple = arms.filter((arm) => !isStructured(target(arm)));
    const structured = arms.filter((arm) => isStructured(target(arm)));
    const tests = structured.map((arm) => {
      const guards = guardsOf(target(arm));
      return [...guards, expression(arm, "v")].join(" && ");
    });
    const primitives = simple.map((arm) => `(${expression(arm, "v")})`).join(" || ") || "false";
    if (structured.length === 0) return hoisted(`return ${primitives};`);
    const isAmbiguous = hasAmbiguity(structured);
    const rest = `return ${tests.map((test) => `(${test})`).join(" || ")};`;
    const body = `if (${primitives}) return true; if (typeof v !== "object" || v === null) return false; ${rest}`;
    if (!isAmbiguous || !structured.some((arm) => reachesAmbiguous(arm))) return remembered(body);
    // Arms that test the same parts would take exponential time if those have such arms again.
    return named(
      (name) =>
        `function ${name}(v, c, m) { if (m !== 1) return $.testArms(v, ${name}, c); ${body} }`,
    );
  }

  function hasAmbiguity(arms: readonly Type[]): boolean {
    return triesOf(arms.map(target)) > 1;
  }

  /** Whether a union with ambiguous arms is somewhere inside a type. */
  function reachesAmbiguous(type: Type, seen: Set<string> = new Set()): boolean {
    if (type.kind === "ref") {
      if (seen.has(type.to)) return false;
      seen.add(type.to);
    }
    const whole = target(type);
    if (whole.kind === "union") {
      const arms = flat(whole.arms).filter((arm) => isStructured(target(arm)));
      return hasAmbiguity(arms) || arms.some((arm) => reachesAmbiguous(arm, seen));
    }
    return partsOf(whole).some((part) => reachesAmbiguous(part, seen));
  }

  function guardsOf(type: Type): string[] {
    if (type.kind === "array" || type.kind === "tuple") return ["Array.isArray(v)"];
    if (type.kind !== "object") return [];
    return Object.entries(type.members).flatMap(([name, member]) =>
      member.type.kind === "literals"
        ? [`(${bound(memberOf("v", name), (item) => withAbsence(member, item))})`]
        : [],
    );
  }
}

/** Kinds of types that `undefined` never has, so a member that fits is there. */
const neverAbsent: ReadonlySet<Type["kind"]> = new Set([
  "array",
  "bigint",
  "boolean",
  "literals",
  "map",
  "number",
  "object",
  "set",
  "string",
  "tuple",
]);

type PartsType = Extract<
  Type,
  { readonly kind: "array" | "tuple" | "object" | "map" | "set" | "union" }
>;

function isStructured({ kind }: Type): boolean {
  return /^(?:array|tuple|object|map|set)$/.test(kind);
}

function memberOf(object: string, name: string): string {
  const key = JSON.stringify(name);
  return name in Object.prototype
    ? `(Object.hasOwn(${object}, ${key}) ? ${object}[${key}] : undefined)`
    : `${object}[${key}]`;
}

/** JSON has neither `-0` nor infinities. */
function numeral(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}
