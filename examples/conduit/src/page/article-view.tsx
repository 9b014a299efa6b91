import type { Article } from "../articles/article.ts";
import { deleteArticle, getArticle } from "../articles/articles.ts";
import { FavouriteButton, FollowButton } from "./buttons.tsx";
import { Byline } from "./byline.tsx";
import { Comments } from "./comments.tsx";
import { Problem, useAction } from "./form.tsx";
import { useLoaded } from "./loaded.ts";
import { Markdown } from "./markdown.tsx";
import { Link, navigate } from "./router.tsx";
import { useSession } from "./session.tsx";

export function ArticleView({ slug }: { slug: string }) {
  const { value: article, error, setValue } = useLoaded(() => getArticle(slug), slug);
  if (error !== undefined) return <Problem error={error} />;
  if (article === undefined) return <p className="quiet">Loading…</p>;
  return (
    <article className="reading">
      <title>{`${article.title} · Conduit`}</title>
      <header>
        <h1>{article.title}</h1>
        <p className="lead">{article.description}</p>
        <Actions article={article} changed={setValue} />
      </header>
      <Markdown text={article.body} />
      <p className="tags">
        {article.tagList.map((tag) => (
          <Link key={tag} to={`/?tag=${encodeURIComponent(tag)}`}>
            {tag}
          </Link>
        ))}
      </p>
      <Comments slug={slug} />
    </article>
  );
}

function Actions({ article, changed }: { article: Article; changed: (article: Article) => void }) {
  const { user } = useSession();
  const { error, waits, run } = useAction();
  const remove = async () => {
    await deleteArticle(article.slug);
    navigate("/");
  };
  return (
    <div className="row">
      <Byline author={article.author} date={article.createdAt} />
      <div className="actions">
        {article.author.username === user?.username ? (
          <>
            <Link className="button" to={`/editor/${encodeURIComponent(article.slug)}`}>
              Edit
            </Link>
            <button className="danger" disabled={waits} onClick={() => void run(remove)}>
              Delete
            </button>
          </>
        ) : (
          <FollowButton
            profile={article.author}
            changed={(author) => changed({ ...article, author })}
          />
        )}
        <FavouriteButton
          words
          article={article}
          changed={(preview) => changed({ ...article, ...preview })}
        />
      </div>
      <Problem error={error} />
    </div>
  );
}
