import type { Profile } from "../accounts/user.ts";

export interface Comment {
  readonly id: number;
  readonly body: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly author: Profile;
}
