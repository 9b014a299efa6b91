import { getContext } from "seamline";
import type { ArticleText } from "../articles/article.ts";
import { createArticle, deleteArticle, getArticle, updateArticle } from "../articles/articles.ts";
import { feed, listArticles, popularTags } from "../articles/lists.ts";
import { bodyOf, json, queryOf } from "./json.ts";

export const getArticles = json((request) => listArticles(queryOf(request)));
export const getFeed = json((request) => feed(queryOf(request)));
export const getTags = json(async () => ({ tags: await popularTags() }));
export const readArticle = json(async () => ({ article: await getArticle(slug()) }));

export const postArticle = json(async (request) => {
  const text = await bodyOf<ArticleText>(request, "article");
  return { article: await createArticle(text) };
}, 201);

export const putArticle = json(async (request) => {
  const changes = await bodyOf<Partial<ArticleText>>(request, "article");
  return { article: await updateArticle(changes, slug()) };
});

export const removeArticle = json(() => deleteArticle(slug()));

const slug = (): string => getContext().params["slug"]!;
