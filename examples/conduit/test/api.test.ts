import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Api, openApi } from "./client.ts";

let api: Api;
/** So that the tests may run on a server again. */
const run = Date.now().toString(36);
const people = { ann: "", ben: "" };

beforeAll(async () => {
  api = await openApi();
  for (const name of ["ann", "ben"] as const) {
    const { body } = await api.send("POST", "/users", undefined, { user: account(name) });
    people[name] = body.user.token;
  }
});
afterAll(() => api[Symbol.asyncDispose]());

const account = (name: string) => ({
  username: `${name}-${run}`,
  email: `${name}-${run}@example.com`,
  password: "correct horse",
});
const text = (title: string, tagList = [`t${run}`]) => ({
  title: `${title} ${run}`,
  description: "About it",
  body: "# It\n\nAll of it.",
  tagList,
});
const write = async (title: string, token = people.ann) =>
  (await api.send("POST", "/articles", token, { article: text(title) })).body.article;

describe("accounts", () => {
  it("registers, logs in, and says who is signed in", async () => {
    const user = account("cleo");
    const { status, body } = await api.send("POST", "/users", undefined, { user });
    expect(status).toBe(201);
    expect(body.user).toEqual({
      username: user.username,
      email: user.email,
      bio: null,
      image: null,
      token: expect.any(String),
    });
    const login = await api.send("POST", "/users/login", undefined, {
      user: { email: user.email, password: user.password },
    });
    expect(login).toMatchObject({ status: 200, body: { user: { username: user.username } } });
    const current = await api.send("GET", "/user", login.body.user.token);
    expect(current).toEqual({ status: 200, body: login.body });
  });

  it("changes what is sent, and leaves the rest", async () => {
    const { body } = await api.send("POST", "/users", undefined, { user: account("dora") });
    const { token, ...before } = body.user;
    const changes = { bio: "Weaver", image: "https://example.com/dora.png" };
    const changed = await api.send("PUT", "/user", token, { user: changes });
    expect(changed).toEqual({ status: 200, body: { user: { ...before, ...changes, token } } });
    const cleared = await api.send("PUT", "/user", token, { user: { bio: "", image: null } });
    expect(cleared.body.user).toEqual({ ...before, token });
    await api.send("PUT", "/user", token, { user: { password: "battery staple" } });
    const login = async (password: string) =>
      (
        await api.send("POST", "/users/login", undefined, {
          user: { email: before.email, password },
        })
      ).status;
    expect(await login("correct horse")).toBe(401);
    expect(await login("battery staple")).toBe(200);
  });

  it("says which fields are wrong or taken", async () => {
    const user = { username: "", email: "nowhere", password: null };
    expect(await api.send("POST", "/users", undefined, { user })).toEqual({
      status: 422,
      body: {
        errors: {
          username: ["can't be blank"],
          email: ["is invalid"],
          password: ["can't be blank"],
        },
      },
    });
    const short = {
      status: 422,
      body: { errors: { password: ["is too short (minimum is 8 characters)"] } },
    };
    const weak = { ...account("cy"), password: "seven77" };
    expect(await api.send("POST", "/users", undefined, { user: weak })).toEqual(short);
    const change = { user: { password: "seven77" } };
    expect(await api.send("PUT", "/user", people.ann, change)).toEqual(short);
    const same = { ...account("ann"), email: `other-${run}@example.com` };
    expect(await api.send("POST", "/users", undefined, { user: same })).toEqual({
      status: 409,
      body: { errors: { username: ["has already been taken"] } },
    });
    const mine = { user: { email: account("ben").email } };
    expect(await api.send("PUT", "/user", people.ann, mine)).toEqual({
      status: 409,
      body: { errors: { email: ["has already been taken"] } },
    });
  });

  it.each([undefined, null, "text", [], { user: [] }, { user: "ann" }, {}])(
    "refuses the body %j",
    async (body) => {
      const answer = await api.send("POST", "/users", undefined, body);
      expect(answer).toMatchObject({
        status: 422,
        body: { errors: { body: [expect.any(String)] } },
      });
    },
  );

  it("refuses wrong passwords, unknown addresses and made-up tokens", async () => {
    for (const user of [
      { email: account("ann").email, password: "wrong" },
      { email: `nobody-${run}@example.com`, password: "correct horse" },
    ])
      expect(await api.send("POST", "/users/login", undefined, { user })).toEqual({
        status: 401,
        body: { errors: { credentials: ["invalid"] } },
      });
    for (const token of [undefined, "made-up"])
      expect(await api.send("GET", "/user", token)).toEqual({
        status: 401,
        body: { errors: { token: ["is missing"] } },
      });
  });
});

describe("articles", () => {
  it("are created, read, changed and deleted", async () => {
    const created = await api.send("POST", "/articles", people.ann, {
      article: text("How to weave?"),
    });
    expect(created).toEqual({
      status: 201,
      body: {
        article: {
          ...text("How to weave?"),
          slug: `how-to-weave-${run}`,
          createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
          updatedAt: expect.any(String),
          favorited: false,
          favoritesCount: 0,
          author: { username: `ann-${run}`, bio: null, image: null, following: false },
        },
      },
    });
    const { slug } = created.body.article;
    expect(await api.send("GET", `/articles/${slug}`)).toEqual({ status: 200, body: created.body });
    const changed = await api.send("PUT", `/articles/${slug}`, people.ann, {
      article: { title: `How to sew ${run}`, tagList: [] },
    });
    expect(changed).toMatchObject({
      status: 200,
      body: { article: { slug: `how-to-sew-${run}`, tagList: [], description: "About it" } },
    });
    expect(await api.send("DELETE", `/articles/how-to-sew-${run}`, people.ann)).toEqual({
      status: 204,
      body: undefined,
    });
    expect((await api.send("GET", `/articles/how-to-sew-${run}`)).status).toBe(404);
  });

  it("belong to their author", async () => {
    const { slug } = await write("Hands off");
    const article = { body: "Mine now" };
    expect(await api.send("PUT", `/articles/${slug}`, people.ben, { article })).toEqual({
      status: 403,
      body: { errors: { article: ["forbidden"] } },
    });
    expect((await api.send("DELETE", `/articles/${slug}`, people.ben)).status).toBe(403);
    expect((await api.send("DELETE", `/articles/${slug}`)).status).toBe(401);
    expect((await api.send("POST", "/articles", undefined, { article: text("A") })).status).toBe(
      401,
    );
    expect(await api.send("PUT", "/articles/nowhere", people.ben, { article })).toEqual({
      status: 404,
      body: { errors: { article: ["not found"] } },
    });
  });

  it("need a title, a description and a text", async () => {
    const empty = { article: { title: " ", description: "", tagList: "a" } };
    expect(await api.send("POST", "/articles", people.ann, empty)).toEqual({
      status: 422,
      body: {
        errors: {
          title: ["can't be blank"],
          description: ["can't be blank"],
          body: ["can't be blank"],
          tagList: ["must be a list of at most 20 short texts"],
        },
      },
    });
  });

  it("get a slug of their own if another article has the title", async () => {
    const first = await write("Twice");
    const second = await write("Twice", people.ben);
    expect(second.title).toBe(first.title);
    expect(second.slug).toMatch(new RegExp(`^${first.slug}-[0-9a-f]{8}$`));
    const { slug } = await write("Thrice", people.ben);
    const rename = { article: { title: first.title } };
    const renamed = await api.send("PUT", `/articles/${slug}`, people.ben, rename);
    expect(renamed.status).toBe(200);
    expect(renamed.body.article.slug).not.toBe(first.slug);
    const path = `/articles/${second.slug}`;
    const kept = await api.send("PUT", path, people.ben, { article: { title: second.title } });
    expect(kept.body.article.slug).toBe(second.slug);
    const { body } = await api.send("GET", `/articles/${first.slug}`);
    expect(body.article.author.username).toBe(`ann-${run}`);
  });

  it("are listed by tag, author and fan, page by page, without their text", async () => {
    const tag = `list-${run}`;
    for (const title of ["One", "Two", "Three"])
      await api.send("POST", "/articles", people.ben, { article: text(`${title} listed`, [tag]) });
    const list = async (query: string) => {
      const { body } = await api.send("GET", `/articles?${query}`);
      return [body.articlesCount, ...body.articles.map(({ slug }: { slug: string }) => slug)];
    };
    const [three, two, one] = ["three", "two", "one"].map((word) => `${word}-listed-${run}`);
    expect(await list(`tag=${tag}`)).toEqual([3, three, two, one]);
    expect(await list(`tag=${tag}&limit=1&offset=1`)).toEqual([3, two]);
    expect(await list(`tag=${tag}&offset=30`)).toEqual([3]);
    expect(await list(`author=ben-${run}&limit=2`)).toEqual([expect.any(Number), three, two]);
    await api.send("POST", `/articles/${one}/favorite`, people.ann);
    expect(await list(`favorited=ann-${run}&tag=${tag}`)).toEqual([1, one]);
    expect(await list(`author=nobody-${run}`)).toEqual([0]);
    const { body } = await api.send("GET", `/articles?tag=${tag}`);
    expect(body.articles[0]).not.toHaveProperty("body");
    expect((await api.send("GET", "/tags")).body.tags).toContain(tag);
  });
});

describe("whatever is sent", () => {
  it.each<[name: string, args: object]>([
    ["accounts/signUp", { user: null }],
    ["accounts/signUp", { user: "ann" }],
    ["accounts/signIn", { email: { a: 1 }, password: [] }],
    ["accounts/setAvatar", { file: "text" }],
    ["accounts/updateUser", { changes: null }],
    ["accounts/updateUser", { changes: { image: "javascript:alert(1)" } }],
    ["articles/listArticles", { filter: null }],
    ["articles/listArticles", { filter: { tag: { a: 1 }, limit: "all", offset: -1 } }],
    ["articles/getArticle", { slug: { a: 1 } }],
    ["articles/getArticle", { slug: "a\0b" }],
    ["articles/createArticle", { article: 7 }],
    ["articles/feed", { page: null }],
    ["social/getProfile", { username: ["ann"] }],
    ["social/deleteComment", { slug: 1, id: "one" }],
  ])("%s with %j is refused, and is no fault of the server's", async (name, args) => {
    const { status } = await api.send("POST", `/rpc/${name}`, undefined, args);
    expect([400, 401, 404, 422]).toContain(status);
  });

  it("a query of anything is answered", async () => {
    for (const query of ["tag=%00", "limit=-1&offset=x", "author=a&author=b", "limit=1e99"])
      expect([200, 422]).toContain((await api.send("GET", `/articles?${query}`)).status);
    const { status } = await api.send("POST", "/rpc/database/query", undefined, {
      sql: "select 1",
    });
    expect(status).toBe(401);
  });

  it("titles that have a meaning in a path have a slug of their own", async () => {
    for (const title of ["..", "Feed", "?"]) {
      const article = { ...text(""), title };
      const { body } = await api.send("POST", "/articles", people.ann, { article });
      const path = `/articles/${body.article.slug}`;
      expect((await api.send("GET", path)).body.article.title).toBe(title);
      expect((await api.send("DELETE", path, people.ann)).status).toBe(204);
    }
  });
});

describe("people", () => {
  it("follow each other, and read what those write", async () => {
    const profile = { username: `ben-${run}`, bio: null, image: null };
    const path = `/profiles/ben-${run}`;
    expect(await api.send("GET", path)).toEqual({
      status: 200,
      body: { profile: { ...profile, following: false } },
    });
    const followed = { profile: { ...profile, following: true } };
    expect(await api.send("POST", `${path}/follow`, people.ann)).toEqual({
      status: 200,
      body: followed,
    });
    expect((await api.send("GET", path, people.ann)).body).toEqual(followed);
    const { slug } = await write("For those who follow", people.ben);
    const feed = (await api.send("GET", "/articles/feed?limit=1", people.ann)).body;
    expect(feed.articles).toMatchObject([{ slug, author: { following: true } }]);
    const after = await api.send("DELETE", `${path}/follow`, people.ann);
    expect(after.body.profile.following).toBe(false);
    expect((await api.send("GET", "/articles/feed", people.ann)).body).toEqual({
      articles: [],
      articlesCount: 0,
    });
    expect((await api.send("GET", "/articles/feed")).status).toBe(401);
  });

  it("favourite articles once each", async () => {
    const { slug } = await write("Loved");
    for (let times = 0; times < 2; times++)
      expect((await api.send("POST", `/articles/${slug}/favorite`, people.ben)).body).toMatchObject(
        {
          article: { slug, favorited: true, favoritesCount: 1 },
        },
      );
    expect((await api.send("GET", `/articles/${slug}`)).body.article.favorited).toBe(false);
    expect((await api.send("DELETE", `/articles/${slug}/favorite`, people.ben)).body).toMatchObject(
      {
        article: { favorited: false, favoritesCount: 0 },
      },
    );
    expect((await api.send("POST", `/articles/${slug}/favorite`)).status).toBe(401);
  });

  it("comment, and delete their own comments only", async () => {
    const { slug } = await write("Discussed");
    const path = `/articles/${slug}/comments`;
    const { status, body } = await api.send("POST", path, people.ben, {
      comment: { body: "Why?" },
    });
    expect(status).toBe(201);
    expect(body.comment).toEqual({
      id: expect.any(Number),
      body: "Why?",
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      author: { username: `ben-${run}`, bio: null, image: null, following: false },
    });
    expect((await api.send("GET", path)).body).toEqual({ comments: [body.comment] });
    const own = `${path}/${body.comment.id}`;
    expect(await api.send("DELETE", own, people.ann)).toEqual({
      status: 403,
      body: { errors: { comment: ["forbidden"] } },
    });
    expect((await api.send("DELETE", own, people.ben)).status).toBe(204);
    expect((await api.send("GET", path)).body).toEqual({ comments: [] });
    const blank = await api.send("POST", path, people.ben, { comment: { body: "" } });
    expect(blank).toEqual({ status: 422, body: { errors: { body: ["can't be blank"] } } });
  });

  it.each([
    ["GET", "/profiles/nobody", "profile"],
    ["POST", "/profiles/nobody/follow", "profile"],
    ["GET", "/articles/nothing", "article"],
    ["GET", "/articles/nothing/comments", "article"],
    ["POST", "/articles/nothing/favorite", "article"],
    ["DELETE", "/articles/nothing", "article"],
  ])("%s %s is a 404 that names what is missing", async (method, path, thing) => {
    expect(await api.send(method, path, people.ann)).toEqual({
      status: 404,
      body: { errors: { [thing]: ["not found"] } },
    });
  });

  it("a comment that isn't there is a 404", async () => {
    const { slug } = await write("Quiet");
    for (const id of ["0", "99999999999", "one"])
      expect(await api.send("DELETE", `/articles/${slug}/comments/${id}`, people.ann)).toEqual({
        status: 404,
        body: { errors: { comment: ["not found"] } },
      });
  });
});
