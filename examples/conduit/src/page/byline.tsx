import type { Profile } from "../accounts/user.ts";
import { Avatar } from "./avatar.tsx";
import { Link, profilePath } from "./router.tsx";

const dates = new Intl.DateTimeFormat("en", { dateStyle: "long" });

/** The author and the date. */
export function Byline({ author, date }: { author: Profile; date: Date }) {
  return (
    <div className="byline">
      <Link to={profilePath(author.username)} tabIndex={-1} aria-hidden>
        <Avatar of={author} />
      </Link>
      <div>
        <Link to={profilePath(author.username)}>{author.username}</Link>
        <time dateTime={date.toISOString()}>{dates.format(date)}</time>
      </div>
    </div>
  );
}
