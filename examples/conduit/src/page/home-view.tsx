import { feed, listArticles, popularTags } from "../articles/lists.ts";
import { ArticleList, pageSize } from "./article-list.tsx";
import { useLoaded } from "./loaded.ts";
import { Link, usePlace } from "./router.tsx";
import { useSession } from "./session.tsx";

export function HomeView() {
  const { query } = usePlace();
  const { user } = useSession();
  const tag = query.get("tag") ?? undefined;
  const following = user !== null && query.get("feed") === "following";
  const page = { limit: pageSize, offset: (Number(query.get("page") ?? 1) - 1) * pageSize };
  const tab = tag ?? (following ? "following" : "all");
  return (
    <>
      <title>Conduit</title>
      {user === null && (
        <section className="banner">
          <h1>A place to share what you know.</h1>
          <p>Notes from people who make things, and what they learnt on the way.</p>
        </section>
      )}
      <div className="columns">
        <section>
          <nav className="tabs" aria-label="Feeds">
            {user !== null && (
              <Link to="/?feed=following" aria-current={tab === "following" ? "page" : undefined}>
                Your feed
              </Link>
            )}
            <Link to="/" aria-current={tab === "all" ? "page" : undefined}>
              Global feed
            </Link>
            {tag !== undefined && (
              <Link to={`/?tag=${encodeURIComponent(tag)}`} aria-current="page">
                #{tag}
              </Link>
            )}
          </nav>
          <ArticleList
            load={() => (following ? feed(page) : listArticles({ ...page, tag }))}
            empty={
              following
                ? "Nothing here yet. Follow people whose articles you like."
                : "No articles yet."
            }
          />
        </section>
        <Tags />
      </div>
    </>
  );
}

function Tags() {
  const { value: tags } = useLoaded(popularTags, "");
  return (
    <aside aria-label="Popular tags">
      <h2>Popular tags</h2>
      <p className="tags">
        {tags?.map((tag) => (
          <Link key={tag} to={`/?tag=${encodeURIComponent(tag)}`}>
            {tag}
          </Link>
        ))}
      </p>
    </aside>
  );
}
