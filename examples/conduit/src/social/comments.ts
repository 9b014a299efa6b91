import { EventEmitter, once } from "node:events";
import { checked, getContext, withId } from "seamline";
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

/** Has an event for each article, by its id. Comments are written on this node; with several of it, the database would have to tell. */
const changes = new EventEmitter().setMaxListeners(0);

/** The same comments, and again after each change. Who asks again gets them if they have changed meanwhile. */
export async function* watchComments(slug: string): AsyncGenerator<Comment[]> {
  const { lastEventId, signal } = getContext();
  const article = await idOf(slug);
  let last = lastEventId;
  while (!signal.aborted) {
    // Before they are read, so that no change is missed.
    const changed = once(changes, String(article), { signal }).catch(() => {});
    const comments = await listComments(slug);
    const version = `${reader()?.id ?? 0}-${comments.length}-${comments[0]?.id ?? 0}`;
    if (version !== last) yield withId(version, comments);
    last = version;
    await changed;
  }
}

export const addComment = checked(text(10_000), async (body, slug: string): Promise<Comment> => {
  const user = signedIn();
  const article = await idOf(slug);
  const [added] = await query<{ id: number }>(
    `insert into comments (article, author, body) values ($1, $2, $3) returning id`,
    [article, user.id, body],
  );
  const [comment] = await query<Comment>(`${select} where c.id = $2`, [user.id, added!.id]);
  changes.emit(String(article));
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
  changes.emit(String(article));
}

async function idOf(slug: string): Promise<number> {
  const [article] = await query<{ id: number }>(`select id from articles where slug = $1`, [slug]);
  if (article === undefined) throw new NotThere("article");
  return article.id;
}
