// Faces that start the client, for applications whose pages reach procedures only in ways that the
// reading can't follow: computed imports, globs, and imports that another plugin writes. Every face
// in a page runs there, so the client starts before the first call.

import type { Part } from "../../../src/split/write/split-module.ts";
import type { Modules } from "../read/modules.ts";
import { startId } from "../read/module-ids.ts";
import type { CutModule } from "./cut.ts";

const startImport = `import ${JSON.stringify(startId)};\n`;

/** The modules, with browser's faces that start the client. */
export function startedByFaces(
  cut: ReadonlyMap<string, CutModule>,
  { memory }: Pick<Modules, "memory">,
): ReadonlyMap<string, CutModule> {
  return new Map(
    [...cut].map(([file, module]) => {
      const { parts } = module;
      // The same object as in the reading before, if the module hasn't changed.
      const browser = memory.ofObject(parts.browser, () => ({
        ...parts.browser,
        face: withStart(parts.browser.face),
      }));
      return [file, { ...module, parts: { ...parts, browser } }];
    }),
  );
}

function withStart(face: Part): Part {
  return {
    code: face.code + startImport,
    description: face.description,
    get unpadded() {
      return `${face.unpadded}\n${startImport}`;
    },
    get map() {
      return face.map;
    },
  };
}
