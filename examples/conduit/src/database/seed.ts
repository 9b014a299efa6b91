// The contents of a new database, so that there is something to read. These authors can't sign in.
import type { PGlite } from "@electric-sql/pglite";
import { articles, authors, comments } from "./samples.ts";

export async function seed(database: PGlite): Promise<void> {
  const { rows } = await database.query(`select from users limit 1`);
  if (rows.length > 0) return;
  await database.transaction(async (transaction) => {
    for (const { username, bio } of authors)
      await transaction.query(
        `insert into users (username, email, password, bio) values ($1, $2, '', $3)`,
        [username, `${username}@conduit.example`, bio],
      );
    for (const [
      at,
      { author, slug, title, description, tags, body, likes },
    ] of articles.entries()) {
      const written = new Date(Date.now() - at * 37 * 60 * 60 * 1000);
      await transaction.query(
        `insert into articles (author, slug, title, description, tags, body, created, updated)
         select id, $2, $3, $4, $5, $6, $7, $7 from users where username = $1`,
        [author, slug, title, description, tags, body, written],
      );
      await transaction.query(
        `insert into favourites select a.id, u.id from articles a, users u
         where slug = $1 and username = any($2)`,
        [slug, likes],
      );
    }
    for (const { author, article, body } of comments)
      await transaction.query(
        `insert into comments (article, author, body) select a.id, u.id, $3
         from articles a, users u where slug = $1 and username = $2`,
        [article, author, body],
      );
  });
}
