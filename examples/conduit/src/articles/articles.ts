import { reader, signedIn } from "../accounts/signed-in.ts";
import { check, optional, tags, text } from "../checks.ts";
import { query } from "../database/query.ts";
import { NotThere, NotYours, Taken } from "../errors.ts";
import type { Article, ArticleText } from "./article.ts";
import { from, preview } from "./select.ts";

const checks = {
  title: text(200),
  description: text(500),
  body: text(100_000),
  tagList: optional(tags),
};

export async function getArticle(slug: string): Promise<Article> {
  const [article] = await query<Article>(
    `select ${preview}, a.body from ${from} where a.slug = $2`,
    [reader()?.id ?? 0, slug],
  );
  if (article === undefined) throw new NotThere("article");
  return article;
}

export async function createArticle(article: ArticleText): Promise<Article> {
  const { id } = signedIn();
  check(article, checks);
  const slug = slugOf(article.title);
  const rows = await query(
    `insert into articles (slug, author, title, description, body, tags)
     values ($1, $2, $3, $4, $5, $6) on conflict do nothing returning id`,
    [slug, id, article.title, article.description, article.body, tagsOf(article)],
  );
  if (rows.length === 0) throw new Taken("title");
  return await getArticle(slug);
}

/** A new title makes a new slug. */
export async function updateArticle(slug: string, changes: Partial<ArticleText>): Promise<Article> {
  await checkOwn(slug);
  check(changes, {
    title: optional(checks.title),
    description: optional(checks.description),
    body: optional(checks.body),
    tagList: checks.tagList,
  });
  const { title = null, description = null, body = null } = changes;
  const next = title === null ? slug : slugOf(title);
  const rows = await query(
    `update articles set slug = $2, title = coalesce($3, title),
       description = coalesce($4, description), body = coalesce($5, body),
       tags = coalesce($6::text[], tags), updated = clock_timestamp()
     where slug = $1 and not exists (select from articles where slug = $2 and slug <> $1)
     returning id`,
    [slug, next, title, description, body, changes.tagList === undefined ? null : tagsOf(changes)],
  );
  if (rows.length === 0) throw new Taken("title");
  return await getArticle(next);
}

export async function deleteArticle(slug: string): Promise<void> {
  await checkOwn(slug);
  await query(`delete from articles where slug = $1`, [slug]);
}

async function checkOwn(slug: string): Promise<void> {
  const { username } = signedIn();
  const { author } = await getArticle(slug);
  if (author.username !== username) throw new NotYours("article");
}

function tagsOf({ tagList = [] }: Partial<ArticleText>): string[] {
  return [...new Set(tagList.map((tag) => tag.trim()))];
}

/** "What's a seam?" becomes "what-s-a-seam". */
function slugOf(title: string): string {
  const words = title
    .normalize("NFKD")
    .toLowerCase()
    .match(/[\p{Letter}\p{Number}]+/gu);
  const slug = words?.join("-") ?? Buffer.from(title.trim()).toString("hex");
  // The HTTP API has something else at this path.
  return slug === "feed" ? "feed-1" : slug;
}
