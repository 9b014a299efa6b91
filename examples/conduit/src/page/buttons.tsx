import type { Profile } from "../accounts/user.ts";
import type { ArticlePreview } from "../articles/article.ts";
import { favourite, unfavourite } from "../social/favourites.ts";
import { follow, unfollow } from "../social/profiles.ts";
import { useAction } from "./form.tsx";
import { useSession } from "./session.tsx";

interface FavouriteProps {
  readonly article: ArticlePreview;
  readonly words?: boolean;
  changed(article: ArticlePreview): void;
}

export function FavouriteButton({ article, words = false, changed }: FavouriteProps) {
  const { waits, run } = useAction();
  const { slug, favorited, favoritesCount } = article;
  const label = favorited ? "Unfavourite" : "Favourite";
  return (
    <button
      className="favourite"
      aria-pressed={favorited}
      aria-label={`${label} ${favoritesCount}`}
      disabled={waits}
      onClick={() =>
        void run(async () => changed(await (favorited ? unfavourite(slug) : favourite(slug))))
      }
    >
      <span aria-hidden>{favorited ? "♥" : "♡"}</span> {words ? `${label} ` : ""}
      {favoritesCount}
    </button>
  );
}

interface FollowProps {
  readonly profile: Profile;
  changed(profile: Profile): void;
}

export function FollowButton({ profile, changed }: FollowProps) {
  const { waits, run } = useAction();
  const { user } = useSession();
  const { username, following } = profile;
  if (user?.username === username) return null;
  return (
    <button
      aria-pressed={following}
      disabled={waits}
      onClick={() => void run(async () => changed(await (following ? unfollow : follow)(username)))}
    >
      {following ? "Unfollow" : "Follow"} {username}
    </button>
  );
}
