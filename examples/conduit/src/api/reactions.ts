// Comments and favourites.
import { getContext } from "seamline";
import { addComment, deleteComment, listComments } from "../social/comments.ts";
import { favourite, unfavourite } from "../social/favourites.ts";
import { bodyOf, json } from "./json.ts";

export const getComments = json(async () => ({ comments: await listComments(slug()) }));

export const postComment = json(async (request) => {
  const { body } = await bodyOf<{ body: string }>(request, "comment");
  return { comment: await addComment(slug(), body) };
}, 201);

export const removeComment = json(() => deleteComment(slug(), Number(getContext().params["id"])));
export const postFavourite = json(async () => ({ article: await favourite(slug()) }));
export const deleteFavourite = json(async () => ({ article: await unfavourite(slug()) }));

const slug = (): string => getContext().params["slug"]!;
