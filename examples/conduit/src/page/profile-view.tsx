import { listArticles } from "../articles/lists.ts";
import { getProfile } from "../social/profiles.ts";
import { ArticleList, pageSize } from "./article-list.tsx";
import { Avatar } from "./avatar.tsx";
import { FollowButton } from "./buttons.tsx";
import { Problem } from "./form.tsx";
import { useLoaded } from "./loaded.ts";
import { Link, profilePath, usePlace } from "./router.tsx";
import { useSession } from "./session.tsx";

export function ProfileView({
  username,
  favorites = false,
}: {
  username: string;
  favorites?: boolean;
}) {
  const { query } = usePlace();
  const { user } = useSession();
  const { value: profile, error, setValue } = useLoaded(() => getProfile(username), username);
  if (error !== undefined) return <Problem error={error} />;
  if (profile === undefined) return <p className="quiet">Loading…</p>;
  const own = profilePath(username);
  const page = { limit: pageSize, offset: (Number(query.get("page") ?? 1) - 1) * pageSize };
  return (
    <>
      <title>{`${username} · Conduit`}</title>
      <section className="banner profile">
        <Avatar of={profile} large />
        <h1>{username}</h1>
        {profile.bio !== null && <p>{profile.bio}</p>}
        {user?.username === username ? (
          <Link className="button" to="/settings">
            Edit your profile
          </Link>
        ) : (
          <FollowButton profile={profile} changed={setValue} />
        )}
      </section>
      <nav className="tabs" aria-label="Articles">
        <Link to={own} aria-current={favorites ? undefined : "page"}>
          Articles
        </Link>
        <Link to={`${own}/favorites`} aria-current={favorites ? "page" : undefined}>
          Favourites
        </Link>
      </nav>
      <ArticleList
        load={() => listArticles({ ...page, [favorites ? "favorited" : "author"]: username })}
        empty={favorites ? "No favourites yet." : "No articles yet."}
      />
    </>
  );
}
