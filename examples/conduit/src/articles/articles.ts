import { randomBytes } from "node:crypto";
import { checked } from "seamline";
import { reader, signedIn } from "../accounts/signed-in.ts";
import { query } from "../database/query.ts";
import { NotThere, NotYours } from "../errors.ts";
import { articleChanges, articleText } from "../schemas.ts";
import type { Article, ArticleText } from "./article.ts";
import { from, preview } from "./select.ts";

export async function getArticle(slug: string): Promise<Article> {
  const [article] = await query<Article>(
    `select ${preview}, a.body from ${from} where a.slug = $2`,
    [reader()?.id ?? 0, slug],
  );
  if (article === undefined) throw new NotThere("article");
  return article;
}

export const createArticle = checked(articleText, async (article): Promise<Article> => {
  const { id } = signedIn();
  const { title, description, body } = article;
  const slug = await underFreeSlug(title, (free) =>
    query(
      `insert into articles (slug, author, title, description, body, tags)
       values ($1, $2, $3, $4, $5, $6) on conflict do nothing returning id`,
      [free, id, title, description, body, tagsOf(article)],
    ),
  );
  return await getArticle(slug);
});

/** A new title makes a new slug. */
export const updateArticle = checked(articleChanges, async (changes, slug: string) => {
  const before = await ownArticle(slug);
  const { title = before.title, description = null, body = null } = changes;
  const tagList = changes.tagList === undefined ? null : tagsOf(changes);
  const update = (next: string): Promise<unknown[]> =>
    query(
      `update articles set slug = $2, title = $3, description = coalesce($4, description),
         body = coalesce($5, body), tags = coalesce($6::text[], tags), updated = clock_timestamp()
       where slug = $1 and not exists (select from articles where slug = $2 and slug <> $1)
       returning id`,
      [slug, next, title, description, body, tagList],
    );
  if (title !== before.title) return await getArticle(await underFreeSlug(title, update));
  await update(slug);
  return await getArticle(slug);
});

export async function deleteArticle(slug: string): Promise<void> {
  await ownArticle(slug);
  await query(`delete from articles where slug = $1`, [slug]);
}

async function ownArticle(slug: string): Promise<Article> {
  const { username } = signedIn();
  const article = await getArticle(slug);
  if (article.author.username !== username) throw new NotYours("article");
  return article;
}

/** Writes under the title's slug, or with something behind it if another article has that slug. */
async function underFreeSlug(
  title: string,
  write: (slug: string) => Promise<unknown[]>,
): Promise<string> {
  const slug = slugOf(title);
  for (const free of [slug, `${slug}-${randomBytes(4).toString("hex")}`])
    if ((await write(free)).length > 0) return free;
  // Both are taken only if the article was deleted meanwhile.
  throw new NotThere("article");
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
