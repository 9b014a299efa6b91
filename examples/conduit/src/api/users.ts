import { getContext } from "seamline";
import { currentUser, updateUser } from "../accounts/accounts.ts";
import { startSession } from "../accounts/sessions.ts";
import type { NewUser, UserChanges } from "../accounts/user.ts";
import { authenticate, register, userIn } from "../accounts/users.ts";
import { NotSignedIn } from "../errors.ts";
import { bodyOf, json } from "./json.ts";

export const postUser = json(async (request) => {
  const account = await register(await bodyOf<NewUser>(request, "user"));
  return { user: { ...userIn(account), token: await startSession(account.id) } };
}, 201);

export const postLogin = json(async (request) => {
  const account = await authenticate(await bodyOf<NewUser>(request, "user"));
  return { user: { ...userIn(account), token: await startSession(account.id) } };
});

export const getUser = json(async () => {
  const user = await currentUser();
  if (user === null) throw new NotSignedIn();
  return { user: { ...user, token: ownToken() } };
});

export const putUser = json(async (request) => {
  const user = await updateUser(await bodyOf<UserChanges>(request, "user"));
  return { user: { ...user, token: ownToken() } };
});

function ownToken(): string | undefined {
  return getContext().headers.get("authorization")?.replace("Token ", "");
}
