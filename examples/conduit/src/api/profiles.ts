import { getContext } from "seamline";
import { follow, getProfile, unfollow } from "../social/profiles.ts";
import { json } from "./json.ts";

export const readProfile = json(async () => ({ profile: await getProfile(username()) }));
export const postFollow = json(async () => ({ profile: await follow(username()) }));
export const deleteFollow = json(async () => ({ profile: await unfollow(username()) }));

const username = (): string => getContext().params["username"]!;
