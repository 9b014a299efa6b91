import { checked } from "seamline";
import type { Int, Max, Min } from "seamline/types";
import { reader, signedIn } from "../accounts/signed-in.ts";
import { author } from "../articles/select.ts";
import { query } from "../database/query.ts";
import { NotThere, NotYours } from "../errors.ts";
import { text } from "../schemas.ts";
import type { Comment } from "./comment.ts";

const select = `
  select c.id, c.body, c.created as "createdAt", c.updated as "updatedAt", ${author}
  from comments c join users u on u.id = c.author`;

/** The newest first. */
export async function listComments(slug: string): Promise<Comment[]> {
  const article = await idOf(slug);
  return await query<Comment>(
    `${select} where c.article = $2 order by c.created desc, c.id desc limit 500`,
    [reader()?.id ?? 0, article],
  );
}

export const addComment = checked(text(10_000), async (body, slug: string): Promise<Comment> => {
  const user = signedIn();
  const article = await idOf(slug);
  const [added] = await query<{ id: number }>(
    `insert into comments (article, author, body) values ($1, $2, $3) returning id`,
    [article, user.id, body],
  );
  const [comment] = await query<Comment>(`${select} where c.id = $2`, [user.id, added!.id]);
  return comment!;
});

/** As Postgres counts. */
type Id = number & Int & Min<1> & Max<2_147_483_647>;

export async function deleteComment(slug: string, id: Id): Promise<void> {
  const user = signedIn();
  const article = await idOf(slug);
  const [comment] = await query<{ author: number }>(
    `select author from comments where id = $1 and article = $2`,
    [id, article],
  );
  if (comment === undefined) throw new NotThere("comment");
  if (comment.author !== user.id) throw new NotYours("comment");
  await query(`delete from comments where id = $1`, [id]);
}

async function idOf(slug: string): Promise<number> {
  const [article] = await query<{ id: number }>(`select id from articles where slug = $1`, [slug]);
  if (article === undefined) throw new NotThere("article");
  return article.id;
}
