import { signedIn } from "../accounts/signed-in.ts";
import type { Article } from "../articles/article.ts";
import { getArticle } from "../articles/articles.ts";
import { query } from "../database/query.ts";

export async function favourite(slug: string): Promise<Article> {
  await query(
    `insert into favourites select id, $1 from articles where slug = $2 on conflict do nothing`,
    [signedIn().id, slug],
  );
  return await getArticle(slug);
}

export async function unfavourite(slug: string): Promise<Article> {
  await query(
    `delete from favourites using articles where article = id and "user" = $1 and slug = $2`,
    [signedIn().id, slug],
  );
  return await getArticle(slug);
}
