import type { ComponentProps, MouseEvent } from "react";
import { useSyncExternalStore } from "react";

const moved = new EventTarget();

export function navigate(to: string): void {
  history.pushState(null, "", to);
  moved.dispatchEvent(new Event("move"));
  scrollTo(0, 0);
}

/** Where the page is. The view is drawn again when that changes. */
export function usePlace(): { path: string; query: URLSearchParams } {
  const href = useSyncExternalStore(subscribe, () => location.pathname + location.search);
  const { pathname, searchParams } = new URL(href, location.origin);
  return { path: pathname, query: searchParams };
}

function subscribe(changed: () => void): () => void {
  addEventListener("popstate", changed);
  moved.addEventListener("move", changed);
  return () => {
    removeEventListener("popstate", changed);
    moved.removeEventListener("move", changed);
  };
}

export function Link({ to, ...rest }: { to: string } & Omit<ComponentProps<"a">, "href">) {
  function follow(event: MouseEvent) {
    // A new tab is the browser's business.
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to);
  }
  return <a href={to} onClick={follow} {...rest} />;
}

export const articlePath = (slug: string): string => `/article/${encodeURIComponent(slug)}`;
export const profilePath = (username: string): string => `/profile/${encodeURIComponent(username)}`;
