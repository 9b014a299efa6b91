// Comments and favourites.
import { getContext } from "seamline";
import { addComment, deleteComment, listComments } from "../social/comments.ts";
import { favourite, unfavourite } from "../social/favourites.ts";
import { NotThere } from "../errors.ts";
import { bodyOf, json } from "./json.ts";

export const getComments = json(async () => ({ comments: await listComments(slug()) }));

export const postComment = json(async (request) => {
  const { body } = await bodyOf<{ body: string }>(request, "comment");
  return { comment: await addComment(body, slug()) };
}, 201);

export const removeComment = json(async () => {
  const id = getContext().params["id"]!;
  if (!/^[1-9]\d{0,8}$/.test(id)) throw new NotThere("comment");
  await deleteComment(slug(), Number(id));
});
export const postFavourite = json(async () => ({ article: await favourite(slug()) }));
export const deleteFavourite = json(async () => ({ article: await unfavourite(slug()) }));

const slug = (): string => getContext().params["slug"]!;
