import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";

/** HTML of a Markdown text. Tags in the text are shown as text, and a link can't be a script. */
export async function renderMarkdown(text: string): Promise<string> {
  return micromark(text.slice(0, 100_000), {
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
  });
}
