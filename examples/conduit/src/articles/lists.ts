import { reader, signedIn } from "../accounts/signed-in.ts";
import { query, type Value } from "../database/query.ts";
import type { ArticleList, ArticlePreview } from "./article.ts";
import { from, preview } from "./select.ts";

export interface Page {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

export interface Filter extends Page {
  readonly tag?: string | undefined;
  readonly author?: string | undefined;
  readonly favorited?: string | undefined;
}

/** The newest first. */
export async function listArticles(filter: Filter = {}): Promise<ArticleList> {
  const { tag, author, favorited } = filter;
  return await list(
    `($2::text is null or a.tags @> array[$2::text])
     and ($3::text is null or u.username = $3)
     and ($4::text is null or a.id in (
       select article from favourites f join users fan on fan.id = f."user" where fan.username = $4
     ))`,
    [reader()?.id ?? 0, tag || null, author || null, favorited || null],
    filter,
  );
}

/** Articles of those whom the reader follows. */
export async function feed(page: Page = {}): Promise<ArticleList> {
  const condition = `a.author in (select followed from follows where follower = $1)`;
  return await list(condition, [signedIn().id], page);
}

/** The most frequent first. */
export async function popularTags(): Promise<string[]> {
  const rows = await query<{ tag: string }>(
    `select tag from articles, unnest(tags) tag group by tag order by count(*) desc, tag limit 20`,
  );
  return rows.map(({ tag }) => tag);
}

async function list(condition: string, values: readonly Value[], page: Page): Promise<ArticleList> {
  const [limit, offset] = [bounded(page.limit, 20, 100), bounded(page.offset, 0, 1_000_000)];
  const rows = await query<ArticlePreview & { total: number }>(
    `select ${preview}, count(*) over ()::int as total from ${from} where ${condition}
     order by a.created desc, a.id desc limit ${limit} offset ${offset}`,
    values,
  );
  const articles = rows.map(({ total: _, ...article }) => article);
  if (rows[0] !== undefined || offset === 0)
    return { articles, articlesCount: rows[0]?.total ?? 0 };
  // Past the end no row says how many there are.
  const { articlesCount } = await list(condition, values, { limit: 1 });
  return { articles, articlesCount };
}

function bounded(value: unknown, otherwise: number, highest: number): number {
  return Number.isSafeInteger(value) ? Math.min(Math.max(value as number, 0), highest) : otherwise;
}
