import type { ReactNode } from "react";
import { ArticleView } from "./article-view.tsx";
import { EditorView } from "./editor-view.tsx";
import { Header } from "./header.tsx";
import { HomeView } from "./home-view.tsx";
import { ProfileView } from "./profile-view.tsx";
import { Link, usePlace } from "./router.tsx";
import { useSession } from "./session.tsx";
import { SettingsView } from "./settings-view.tsx";
import { SignInView, SignUpView } from "./sign-in-view.tsx";

const views: readonly [pattern: RegExp, view: (part: string) => ReactNode][] = [
  [/^\/$/, () => <HomeView />],
  [/^\/login$/, () => <SignInView />],
  [/^\/register$/, () => <SignUpView />],
  [/^\/settings$/, () => <SettingsView />],
  [/^\/editor$/, () => <EditorView key="new" />],
  [/^\/editor\/([^/]+)$/, (slug) => <EditorView key={slug} slug={slug} />],
  [/^\/article\/([^/]+)$/, (slug) => <ArticleView key={slug} slug={slug} />],
  [/^\/profile\/([^/]+)$/, (username) => <ProfileView key={username} username={username} />],
  [
    /^\/profile\/([^/]+)\/favorites$/,
    (username) => <ProfileView key={username} username={username} favorites />,
  ],
];

export function App() {
  const { path } = usePlace();
  const { user } = useSession();
  // Many views depend on the signed-in user, so they wait for the answer.
  const view = user === undefined ? null : viewOf(path);
  return (
    <>
      <Header path={path} />
      <main>{view}</main>
      <footer>
        <Link to="/">conduit</Link>
        <span>An example of Seamline: each function runs where a JSON file says.</span>
      </footer>
    </>
  );
}

function viewOf(path: string): ReactNode {
  for (const [pattern, view] of views) {
    const match = pattern.exec(path);
    if (match !== null) return view(decodeURIComponent(match[1] ?? ""));
  }
  return (
    <section className="narrow">
      <title>Not found · Conduit</title>
      <h1>There is no such page</h1>
      <p>
        <Link to="/">Back to the articles</Link>
      </p>
    </section>
  );
}
