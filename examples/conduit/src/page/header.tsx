import { Avatar } from "./avatar.tsx";
import { Link, profilePath } from "./router.tsx";
import { useSession } from "./session.tsx";

export function Header({ path }: { path: string }) {
  const { user } = useSession();
  const link = (to: string, text: string) => (
    <Link to={to} aria-current={path === to ? "page" : undefined}>
      {text}
    </Link>
  );
  return (
    <header className="bar">
      <Link to="/" className="brand">
        conduit
      </Link>
      <nav aria-label="Main">
        {user === null && (
          <>
            {link("/login", "Sign in")}
            {link("/register", "Sign up")}
          </>
        )}
        {user && (
          <>
            {link("/editor", "New article")}
            {link("/settings", "Settings")}
            <Link
              to={profilePath(user.username)}
              className="me"
              aria-current={path === profilePath(user.username) ? "page" : undefined}
            >
              <Avatar of={user} />
              <span>{user.username}</span>
            </Link>
          </>
        )}
      </nav>
    </header>
  );
}
