// Names that Vite knows us by: environments, ids of parts of split modules, and virtual modules.

/** Names of the environments. */
export const environmentNames = { browser: "client", server: "server" } as const;

/**
 * Parts that have ids of their own. A face has the id of the module's file; with the part `face` it
 * is a second one, for `client.import`, while the first is part of the page that imports it.
 */
export type PartQuery = "face" | "shared" | "body" | "code";

const idOf =
  (part: PartQuery) =>
  (file: string): string =>
    `${file}?seamline=${part}`;

/** Ids of the parts of a module, by its file. */
export const partId: Readonly<Record<PartQuery, (file: string) => string>> = {
  face: idOf("face"),
  shared: idOf("shared"),
  body: idOf("body"),
  // In development the body of a page is a proxy module, which loads the code and changes with it.
  code: idOf("code"),
};

/**
 * File and part of a module's id. Other queries don't change which module it is. Without a part,
 * the id means the face.
 */
export function parsePartId(id: string): {
  readonly file: string;
  readonly part: PartQuery | undefined;
} {
  const [file = id, query = ""] = id.split("?");
  const part = /(?:^|&)seamline=(face|shared|body|code)(?![^&])/.exec(query)?.[1];
  return { file, part: part as PartQuery | undefined };
}

/** The specifier by which parts and application modules import the graph of seams. */
export const graphId = "seamline:graph";

/** Id of the graph's module in the server's build. */
export const graphModuleId = "\0seamline:graph";

/**
 * In development, nodes import the runtime by this id: the instance that runs them, so both share
 * the same classes.
 */
export const runtimeId = "seamline:runtime";

/** The module that starts the client in pages that don't. */
export const startId = "seamline:start";

/** The bundler needs an entry; this is one for builds without a page. */
export const emptyId = "seamline:empty";
