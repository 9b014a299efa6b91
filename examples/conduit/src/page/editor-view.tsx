import { type KeyboardEvent, useState } from "react";
import type { Article } from "../articles/article.ts";
import { createArticle, getArticle, updateArticle } from "../articles/articles.ts";
import { Field, Form, Problem, textOf } from "./form.tsx";
import { useLoaded } from "./loaded.ts";
import { Markdown } from "./markdown.tsx";
import { articlePath, Link, navigate } from "./router.tsx";
import { useSession } from "./session.tsx";

const load = async (slug?: string): Promise<Article | null> =>
  slug === undefined ? null : await getArticle(slug);

export function EditorView({ slug }: { slug?: string }) {
  const { user } = useSession();
  const { value: article, error } = useLoaded(() => load(slug), slug ?? "");
  if (user === null)
    return (
      <p className="quiet">
        <Link to="/login">Sign in</Link> to write.
      </p>
    );
  if (error !== undefined) return <Problem error={error} />;
  return article === undefined ? <p className="quiet">Loading…</p> : <Editor article={article} />;
}

function Editor({ article }: { article: Article | null }) {
  const [body, setBody] = useState(article?.body ?? "");
  const [tagList, setTags] = useState(article?.tagList ?? []);
  async function publish(values: FormData) {
    const text = {
      title: textOf(values, "title"),
      description: textOf(values, "description"),
      body,
      tagList: withTag(tagList, textOf(values, "tag")),
    };
    const saved = await (article === null
      ? createArticle(text)
      : updateArticle(text, article.slug));
    navigate(articlePath(saved.slug));
  }
  function addTag(event: KeyboardEvent<HTMLInputElement>) {
    if (event.key !== "Enter") return;
    event.preventDefault();
    setTags(withTag(tagList, event.currentTarget.value));
    event.currentTarget.value = "";
  }
  return (
    <section className="editor">
      <title>{`${article === null ? "New article" : article.title} · Conduit`}</title>
      <h1>{article === null ? "New article" : "Edit article"}</h1>
      <Form button="Publish" submit={publish}>
        <Field label="Title" name="title" defaultValue={article?.title} />
        <Field label="What it is about" name="description" defaultValue={article?.description} />
        <div className="columns even">
          <label>
            <span>Text, in Markdown</span>
            <textarea rows={16} value={body} onChange={({ target }) => setBody(target.value)} />
          </label>
          <div className="output">
            <span>Preview</span>
            <div>
              <Markdown text={body} />
            </div>
          </div>
        </div>
        <Field label="Tags (Enter adds one)" name="tag" onKeyDown={addTag} />
        <p className="tags">
          {tagList.map((tag) => (
            <button
              key={tag}
              type="button"
              aria-label={`Remove ${tag}`}
              onClick={() => setTags(tagList.filter((entry) => entry !== tag))}
            >
              {tag} ×
            </button>
          ))}
        </p>
      </Form>
    </section>
  );
}

function withTag(tags: readonly string[], tag: string): readonly string[] {
  return tag.trim() === "" || tags.includes(tag.trim()) ? tags : [...tags, tag.trim()];
}
