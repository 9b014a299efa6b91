// The changes from one build to a later one that callers of the earlier build notice: a pure function of the
// two contracts.

import type { ExtraMembers } from "../../src/base/manifest.ts";
import type { ContractSignature, Member, NamedType, ParameterType, Type } from "../types/model.ts";
import { byVersion, defaultVersion } from "../../src/base/version.ts";
import { callerNames } from "../types/call-types.ts";
import { reaches } from "../types/values.ts";
import { compareRoutes, type RouteChange } from "./compare-routes.ts";
import type { Contract, ContractProcedure } from "./contract.ts";
import {
  advice,
  breaking,
  byLevel,
  type Difference,
  distinct,
  inside,
  isBreaking,
  type Level,
  risky,
} from "./difference.ts";
import { compareTypes, type TypeComparison, typeOf } from "./type-differences.ts";
import { typeTable } from "./type-table.ts";

export interface Verdict {
  readonly level: Level;
  /** The procedure's name; for a route, its method and path. */
  readonly procedure: string;
  /** `0.0.0`; empty for a route. */
  readonly version: string;
  /** `lines[].metres`, or `result.total`; empty for the procedure as a whole. */
  readonly member: string;
  readonly message: string;
  /** Empty if there is nothing to do. */
  readonly advice: string;
}

/** A verdict as a line: `shop/order 2.0.0: lines[].metres is required now`. */
export function verdictText({ procedure, version, member, message }: Verdict): string {
  const name =
    version === "" || version === defaultVersion.toString() ? procedure : `${procedure} ${version}`;
  return `${name}: ${member === "" ? "" : `${member} `}${message}`;
}

/**
 * Sorted by procedure and version, the worst first within each. `fine` ones are changes that callers don't
 * notice.
 */
export function compareContracts(before: Contract, after: Contract): readonly Verdict[] {
  const verdicts = [
    ...compareProcedures(before, after),
    ...compareRoutes(before, after).map(routeVerdict),
  ];
  return verdicts.toSorted(
    (left, right) =>
      inOrder(left.procedure, right.procedure) ||
      byVersion(left.version, right.version) ||
      byLevel(left, right),
  );
}

function compareProcedures(before: Contract, after: Contract): Verdict[] {
  const isSame = tablesOf(before) === tablesOf(after);
  const compare = procedureComparison(before, after);
  const later = new Map(after.procedures.map((procedure) => [keyOf(procedure), procedure]));
  const names = new Set(after.procedures.map(({ fqn }) => fqn));
  const found = before.procedures.flatMap((procedure) => {
    const current = later.get(keyOf(procedure));
    later.delete(keyOf(procedure));
    if (current === undefined)
      return verdictsOf(procedure, [
        breaking(
          names.has(procedure.fqn)
            ? "this version is gone: callers of it are answered 404"
            : "is gone: its callers are answered 404",
          names.has(procedure.fqn)
            ? "Keep the version until it has no callers left"
            : 'Keep it until it has no callers left: a moved function keeps its name by "as" in its directory',
        ),
      ]);
    const isUnchanged = withoutDocs(procedure) === withoutDocs(current);
    if (isUnchanged && isSame) return [];
    const differences = compare(procedure, current);
    return differences.length === 0 && !isUnchanged
      ? [fine(procedure, "has changed, and takes and answers what it did")]
      : verdictsOf(procedure, differences);
  });
  return [...found, ...[...later.values()].map((procedure) => fine(procedure, "is new"))];
}

type CompareProcedures = (
  before: ContractProcedure,
  after: ContractProcedure,
) => readonly Difference[];

function procedureComparison(earlier: Contract, later: Contract): CompareProcedures {
  const [earlierTypes, laterTypes] = [typeTable(earlier), typeTable(later)];
  const results = compareTypes({ source: laterTypes, target: earlierTypes, of: "result" });
  const parametersBy = new Map<ExtraMembers, TypeComparison>();
  const parametersOf = (extra: ExtraMembers): TypeComparison => {
    const options = { source: earlierTypes, target: laterTypes, of: "parameter", extra } as const;
    const known = parametersBy.get(extra) ?? compareTypes(options);
    parametersBy.set(extra, known);
    return known;
  };
  return (before, after) => [
    ...compareAccess(before, after),
    ...compareChecks(before, after),
    ...compareSignatures(before, after),
  ];

  /** Changes in how arguments are treated, apart from their types. */
  function compareChecks(
    before: ContractProcedure,
    after: ContractProcedure,
  ): readonly Difference[] {
    if (after.unchecked) return [];
    if (before.unchecked)
      return [
        risky(
          "its arguments are checked now: what doesn't fit their types is refused",
          "Look at what callers send before you turn checks on, or put them into a new version",
        ),
      ];
    const [was, is] = [before.extra ?? "drop", after.extra ?? "drop"];
    const hasMembers = after.signatures.some(({ parameters }) =>
      parameters.flatMap(namesOf).some(({ member }) => hasObject(member.type)),
    );
    if (was === is || !hasMembers) return [];
    if (is === "refuse")
      return [
        breaking(
          "refuses members that its types don't name now",
          'Leave "extra" as it was, or set it in a new version',
        ),
      ];
    return was === "keep"
      ? [
          risky(
            "drops members that its types don't name now",
            'Leave "extra" as it was, or set it in a new version',
          ),
        ]
      : [];
  }

  function isQueried(type: Type): boolean {
    return earlierTypes.arms(type).some(isField);
  }

  function hasObject(type: Type): boolean {
    return reaches(
      laterTypes.model,
      type,
      ({ kind }) => kind === "object" || kind === "instance",
      closed,
    );
  }

  /** A call that fits a signature has to fit one of the later ones, and gets its result. */
  function compareSignatures(
    before: ContractProcedure,
    after: ContractProcedure,
  ): readonly Difference[] {
    const compareFields = fieldComparison(before, after);
    const found = before.signatures.flatMap((signature) => {
      const best = fewest(
        after.signatures.map((current) => [
          ...compareParameters(signature, current, before, after),
          ...compareResults(signature, current),
        ]),
      );
      const broken = new Set(best.filter(({ level }) => level === "breaking").map(parameterOf));
      return [
        ...best,
        ...compareFields(signature).filter((difference) => !broken.has(parameterOf(difference))),
      ];
    });
    return distinct(found);
  }

  function compareParameters(
    signature: ContractSignature,
    current: ContractSignature,
    before: ContractProcedure,
    after: ContractProcedure,
  ): Difference[] {
    const comparison = parametersOf(after.extra ?? "drop");
    const { found, pairs } = pairNames(signature, current);
    // Unchecked arguments may hold anything: their declared types prove nothing.
    if (before.unchecked) return found;
    for (const [{ name, member }, present] of pairs)
      found.push(...inside(name, comparison.ofTypes(member.type, typeOf(present.member))));
    return found;
  }

  /**
   * Compares a signature's parameters in a query or form. A name's text is read by all types that overloads give
   * it, and the value then has to fit one of the overloads.
   */
  function fieldComparison(
    before: ContractProcedure,
    after: ContractProcedure,
  ): (signature: ContractSignature) => readonly Difference[] {
    if (before.unchecked || after.unchecked) return () => [];
    const { ofFields } = parametersOf(after.extra ?? "drop");
    const [textsBefore, textsAfter] = [readTypes(before), readTypes(after)];
    return (signature) => {
      const sent = signature.parameters.flatMap(namesOf);
      if (!sent.every((named) => mayBeAbsent(named) || isQueried(named.member.type))) return [];
      const all = after.signatures.map((current) => {
        const { found, pairs } = pairNames(signature, current);
        const read = pairs.flatMap(([{ name, member, isRest }, present]) => {
          const [readBefore, readAfter] = [textsBefore.get(name), textsAfter.get(name)];
          if (isRest || readBefore === undefined || readAfter === undefined) return [];
          const reading = { before: readBefore.type, after: typeOf(readAfter) };
          return inside(name, ofFields(member.type, typeOf(present.member), reading));
        });
        return { found, read };
      });
      const [best] = all.toSorted(
        (left, right) =>
          rankOf([...left.found, ...left.read]) - rankOf([...right.found, ...right.read]),
      );
      return best?.read ?? [];
    };
  }

  function compareResults(
    before: ContractSignature,
    after: ContractSignature,
  ): readonly Difference[] {
    if (before.streams !== after.streams)
      return [
        breaking(
          after.streams
            ? "answers with a stream now"
            : "answers with one result now, and was a stream",
          "Put the change into a new version",
          "result",
        ),
      ];
    // Callers that expected no result don't read one.
    const items =
      before.result.kind === "undefined"
        ? []
        : inside("result", results.ofTypes(after.result, before.result));
    const { returns = { kind: "undefined" } } = after;
    return before.returns === undefined
      ? items
      : [...items, ...inside("result.return", results.ofTypes(returns, before.returns))];
  }
}

const closed = new WeakMap<Type, boolean>();

function compareAccess(before: ContractProcedure, after: ContractProcedure): Difference[] {
  const found: Difference[] = [];
  if (before.access === "public" && after.access === "protected")
    found.push(
      breaking(
        "is protected now: callers without the trust key are answered 401",
        "Leave it public, or give callers another procedure first",
      ),
    );
  if (after.guarded && !before.guarded)
    found.push(
      risky(
        "has a guard now: it may refuse callers that were let in",
        "Tell callers what the guard asks for",
      ),
    );
  const streams = after.signatures.some((signature) => signature.streams);
  const repeats = (procedure: ContractProcedure): boolean =>
    procedure.safe === true || procedure.idempotent === true;
  if (before.resume && !after.resume && repeats(after))
    found.push(
      breaking(
        "doesn't go on after a cut any more: a reader that asks for the rest is answered 204",
        'Leave "resume" in its entry, or put the change into a new version',
      ),
    );
  if (streams && repeats(before) && !repeats(after))
    found.push(
      breaking(
        "doesn't answer GET any more, and so no EventSource",
        'Leave "safe" or "idempotent" in its entry',
      ),
    );
  else if (before.safe && !after.safe)
    found.push(
      breaking(
        "isn't safe any more: QUERY is answered 405, and a GET from pages of other sites 403",
        'Leave "safe" in its entry, or put the change into a new version',
      ),
    );
  else if (before.idempotent && !repeats(after))
    found.push(
      risky(
        "isn't idempotent any more: a call whose service is lost fails, and isn't sent again",
        'Leave "idempotent" in its entry, or make callers try again',
      ),
    );
  return found;
}

function routeVerdict({ route: { method, path }, difference }: RouteChange): Verdict {
  const {
    level,
    message,
    advice: way,
  } = typeof difference === "string"
    ? { level: "fine" as const, message: difference, advice: "" }
    : difference;
  return { level, procedure: `${method} ${path}`, version: "", member: "", message, advice: way };
}

/** The names of two signatures: those of both, and what is wrong with the others. */
function pairNames(
  { parameters: own }: ContractSignature,
  { parameters: others }: ContractSignature,
): {
  readonly found: Difference[];
  readonly pairs: readonly (readonly [sent: SentName, taken: SentName])[];
} {
  const [sent, taken] = [own.flatMap(namesOf), others.flatMap(namesOf)];
  const known = new Map(sent.map((named) => [named.name, named]));
  const current = new Map(taken.map((named) => [named.name, named]));
  const found = taken.flatMap((named) => {
    if (!mayLack(named, known)) return [];
    const message = known.has(named.name)
      ? "is required now"
      : "is new and required: callers of the earlier build don't send it";
    return [breaking(message, advice.required, named.name)];
  });
  const pairs = sent.flatMap((named): (readonly [SentName, SentName])[] => {
    const present = current.get(named.name);
    if (present !== undefined) return [[named, present]];
    if (named.member.type.kind !== "undefined")
      found.push(
        breaking(
          "isn't a parameter any more: calls that name it are refused",
          advice.name,
          named.name,
        ),
      );
    return [];
  });
  return { found, pairs };
}

/** A name that callers use. */
interface SentName {
  readonly name: string;
  readonly member: Member;
  readonly isRest?: true;
  /** The names of a pattern that may be left out as a whole. */
  readonly group?: ReadonlySet<string>;
}

function namesOf(parameter: ParameterType): SentName[] {
  switch (parameter.kind) {
    case "plain":
      return [{ name: parameter.name, member: parameter }];
    case "rest":
      return [{ name: `...${parameter.name}`, member: parameter, isRest: true }];
    default: {
      const all: readonly (NamedType | null)[] = parameter.names;
      const names = all.filter((name) => name !== null);
      const group = new Set(names.map(({ name }) => name));
      return names.map((member) => ({
        name: member.name,
        member,
        ...(parameter.optional && { group }),
      }));
    }
  }
}

function mayBeAbsent({ member, isRest, group }: SentName): boolean {
  return isRest === true || member.optional === true || group !== undefined;
}

/** Whether calls of the earlier build, which send `known`, may lack a name that a call must have. */
function mayLack(named: SentName, known: ReadonlyMap<string, SentName>): boolean {
  const { name, member, isRest, group } = named;
  if (isRest || member.optional) return false;
  const previous = known.get(name);
  if (previous !== undefined && !mayBeAbsent(previous)) return false;
  if (group === undefined) return true;
  // If a pattern has a default, all its names are needed as soon as one is sent.
  const sent = [...group].filter((each) => known.has(each));
  const comeTogether =
    previous?.member.optional !== true && sent.every((each) => previous?.group?.has(each) === true);
  return sent.length > 0 && !comeTogether;
}

/** Whether a query or a form can hold a parameter. */
function isField({ kind }: Type): boolean {
  return !["object", "map", "instance", "nonprimitive", "regexp", "form", "never"].includes(kind);
}

function keyOf({ fqn, version }: ContractProcedure): string {
  return `${fqn}@${version}`;
}

function verdictsOf(
  { fqn, version }: ContractProcedure,
  differences: readonly Difference[],
): Verdict[] {
  return differences.map(({ level, path, message, advice: way }) => ({
    level,
    procedure: fqn,
    version,
    member: path,
    message,
    advice: way,
  }));
}

function fine({ fqn, version }: ContractProcedure, message: string): Verdict {
  return { level: "fine", procedure: fqn, version, member: "", message, advice: "" };
}

function tablesOf({ definitions, classes }: Contract): string {
  return withoutDocs([definitions, classes]);
}

/** A changed comment changes nothing for a program. */
function withoutDocs(value: unknown): string {
  return JSON.stringify(value, (key, item: unknown) =>
    key === "doc" && typeof item === "string" ? undefined : item,
  );
}

function fewest(all: readonly (readonly Difference[])[]): readonly Difference[] {
  const [best = []] = all.toSorted((left, right) => rankOf(left) - rankOf(right));
  return best;
}

/** Parameters with the types of all overloads, by which queries and forms are read. */
function readTypes({ signatures }: ContractProcedure): ReadonlyMap<string, Member> {
  return new Map(callerNames(signatures).map((named) => [named.name, named]));
}

/** `lines` of `lines[].metres`. */
function parameterOf({ path }: Difference): string {
  return path.split(/[.[]/, 1)[0]!;
}

function rankOf(differences: readonly Difference[]): number {
  return differences.length + (isBreaking(differences) ? 1000 : 0);
}

function inOrder(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
