import type { z } from "zod";
import type { Profile } from "../accounts/user.ts";
import type { articleText } from "../schemas.ts";

/** An article in a list. */
export interface ArticlePreview {
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly tagList: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Whether the reader likes it. */
  readonly favorited: boolean;
  readonly favoritesCount: number;
  readonly author: Profile;
}

export interface Article extends ArticlePreview {
  /** Markdown. */
  readonly body: string;
}

export type ArticleText = z.infer<typeof articleText>;

export interface ArticleList {
  readonly articles: readonly ArticlePreview[];
  /** On all pages. */
  readonly articlesCount: number;
}
