import { useEffect, useState } from "react";
import { withOptions } from "seamline";
import { renderMarkdown } from "../articles/markdown.ts";

/** Text as it reads. The HTML has no tags of the writer's, only those that Markdown makes. */
export function Markdown({ text }: { text: string }) {
  const [html, setHtml] = useState<string>();
  useEffect(() => {
    const controller = new AbortController();
    withOptions(renderMarkdown, { signal: controller.signal })(text).then(setHtml, () => {
      // Better plain than nothing; a text that has changed since is on its way.
      if (!controller.signal.aborted) setHtml(undefined);
    });
    return () => controller.abort();
  }, [text]);
  if (html === undefined) return <div className="text plain">{text}</div>;
  return <div className="text" dangerouslySetInnerHTML={{ __html: html }} />;
}
