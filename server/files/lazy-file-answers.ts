// Loads the code that answers requests for files with the first of them: media types and ranges are a fifth of the
// code of a service that starts.

import type { FileAnswers } from "./file-answer.ts";

/** A service needs only one, as it has the cache. */
export function lazyFileAnswers(): FileAnswers {
  let answers: Promise<FileAnswers> | undefined;
  return {
    async answer(file, request) {
      answers ??= import("./file-answer.ts").then(({ createFileAnswers }) => createFileAnswers());
      return await (await answers).answer(file, request);
    },
  };
}
