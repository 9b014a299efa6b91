import type { ArticleList as List, ArticlePreview } from "../articles/article.ts";
import { FavouriteButton } from "./buttons.tsx";
import { Byline } from "./byline.tsx";
import { Problem } from "./form.tsx";
import { useLoaded } from "./loaded.ts";
import { articlePath, Link, usePlace } from "./router.tsx";

export const pageSize = 10;

/** The articles at this address, page by page. */
export function ArticleList({ load, empty }: { load: () => Promise<List>; empty: string }) {
  const { path, query } = usePlace();
  const { value: list, error, waits, setValue } = useLoaded(load, `${path}?${query}`);
  if (error !== undefined) return <Problem error={error} />;
  if (list === undefined) return <p className="quiet">Loading…</p>;
  if (list.articlesCount === 0) return <p className="quiet">{empty}</p>;
  const replace = (changed: ArticlePreview) =>
    setValue({
      ...list,
      articles: list.articles.map((article) => (article.slug === changed.slug ? changed : article)),
    });
  return (
    <div className={waits ? "waits" : undefined}>
      {list.articles.map((article) => (
        <article key={article.slug} className="preview">
          <div className="row">
            <Byline author={article.author} date={article.createdAt} />
            <FavouriteButton article={article} changed={replace} />
          </div>
          <Link to={articlePath(article.slug)}>
            <h2>{article.title}</h2>
            <p>{article.description}</p>
          </Link>
          <p className="tags">
            {article.tagList.map((tag) => (
              <Link key={tag} to={`/?tag=${encodeURIComponent(tag)}`}>
                {tag}
              </Link>
            ))}
          </p>
        </article>
      ))}
      <Pages count={Math.ceil(list.articlesCount / pageSize)} />
    </div>
  );
}

function Pages({ count }: { count: number }) {
  const { path, query } = usePlace();
  if (count < 2) return null;
  const current = Number(query.get("page") ?? 1);
  return (
    <nav className="pages" aria-label="Pages">
      {Array.from({ length: count }, (_, at) => {
        const to = new URLSearchParams([...query].filter(([name]) => name !== "page"));
        if (at > 0) to.set("page", String(at + 1));
        return (
          <Link
            key={at}
            to={to.size === 0 ? path : `${path}?${to}`}
            aria-current={current === at + 1 ? "page" : undefined}
          >
            {at + 1}
          </Link>
        );
      })}
    </nav>
  );
}
