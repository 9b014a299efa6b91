// Files in calls: from outside, and from one segment to another.

import { expect, it } from "vitest";

import type { Suite } from "./_modes.ts";

export const files: Suite = {
  title: "files",
  files: {
    "segments/files.segment.json":
      '{ "./files/outer": { "keep": { "access": "public" }, "back": { "access": "public" } } }\n',
    "segments/files-inner.segment.json":
      '{ "./files/inner": { "describe": { "access": "protected" } } }\n',
    "src/files/outer.ts": `import { describe } from "./inner.ts";
export async function keep(file: File, count: number): Promise<string> {
  const form = new FormData();
  form.append("note", "n");
  form.append("again", file);
  return await describe({ deep: [file] }, form, count);
}
export async function back(file: File): Promise<File> {
  return file;
}
`,
    "src/files/inner.ts": `export async function describe(
  value: { readonly deep: readonly File[] },
  form: FormData,
  count: number,
): Promise<string> {
  const [file] = value.deep;
  const again = form.get("again") as File;
  return [file?.name, file?.type, await file?.text(), form.get("note"), again.name, await again.text(), count + 1].join(" ");
}
`,
  },
  tests(mode) {
    const form = (): FormData => {
      const data = new FormData();
      data.append("file", new File(["t\u00e4xt"], "a.txt", { type: "text/x" }));
      return data;
    };

    it("a file from a form reaches a procedure of another segment, in an object and in a FormData", async () => {
      const body = form();
      body.append("count", "3");
      const answer = await mode().request("/rpc/files/keep", { method: "POST", body });
      expect([answer.status, await answer.text()]).toEqual([
        200,
        "a.txt text/x t\u00e4xt n a.txt t\u00e4xt 4",
      ]);
    });

    it("a file that is returned is a download with its name and type", async () => {
      const answer = await mode().request("/rpc/files/back", { method: "POST", body: form() });
      expect([answer.status, await answer.text()]).toEqual([200, "t\u00e4xt"]);
      expect(answer.headers.get("content-type")).toBe("text/x");
      expect(answer.headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''a.txt");
    });

    it("a form of another origin's page, and one that is cut off, are refused", async () => {
      const headers = { "sec-fetch-site": "cross-site" };
      const foreign = { method: "POST", body: form(), headers };
      expect((await mode().request("/rpc/files/back", foreign)).status).toBe(403);
      const cut = await mode().request("/rpc/files/back", {
        method: "POST",
        headers: { "content-type": "multipart/form-data; boundary=b" },
        body: "--b\r\n",
      });
      expect([cut.status, await cut.text()]).toEqual([
        400,
        "The multipart body ends before its last boundary",
      ]);
    });
  },
};
