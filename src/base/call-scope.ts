// State that all contexts of one incoming call share: the outer request, locals, and settings for the answer.

/** The request of the outermost caller. */
export interface OuterRequest {
  readonly method: string;
  /** Absolute; its origin is the configured one, if there is one. */
  readonly url: string;
  /** The caller's network address; `undefined` if unknown. */
  readonly address: string | undefined;
}

/**
 * Notes of middleware about a call, for procedures on any node. Augment it to type its members:
 * `declare module "seamline" { interface Locals { user?: User } }`.
 */
export interface Locals {}

/** The cookies of a request. */
export interface RequestCookies {
  /** The value of a cookie, percent-decoded; `undefined` if the request doesn't have it. */
  get(name: string): string | undefined;
}

/** Attributes of a cookie. */
export interface CookieOptions {
  /** Hosts that get the cookie, with their subdomains [only the host that set it]. */
  readonly domain?: string | undefined;
  /** @default "/" */
  readonly path?: string | undefined;
  readonly expires?: Date | undefined;
  /** Seconds. Without this and `expires`, the cookie ends with the browser's session. */
  readonly maxAge?: number | undefined;
  /** Hides the cookie from scripts. @default true */
  readonly httpOnly?: boolean | undefined;
  /** Sends the cookie by https only [true, but not for http on loopback and IP addresses]. */
  readonly secure?: boolean | undefined;
  /** Whether requests that other sites cause send the cookie. @default "lax" */
  readonly sameSite?: "strict" | "lax" | "none" | undefined;
  readonly partitioned?: boolean | undefined;
  readonly priority?: "low" | "medium" | "high" | undefined;
}

/** Cookies that an answer sets. */
export interface ResponseCookies {
  /**
   * Whether a cookie may change now: not once the answer is on its way, and not in a stream of a page, whose answer
   * brings none. A cookie that the page has already may be set in any case.
   */
  readonly writable: boolean;
  /** Throws TypeError for cookies that browsers would reject, and for changes where the answer brings none. */
  set(name: string, value: string, options?: CookieOptions): void;
  /** Needs the path and domain that the cookie was set with. */
  delete(name: string, options?: CookieOptions): void;
}

/** Headers that an answer gets besides its own. Throws TypeError for headers that can't be set. */
export interface ResponseHeaders {
  set(name: string, value: string): void;
  append(name: string, value: string): void;
  /** Takes back a header that was set here. */
  delete(name: string): void;
}

/**
 * Settings for the answer to the outermost caller, wherever they are made. All throw once the
 * answer is on its way.
 */
export interface CallResponse {
  readonly headers: ResponseHeaders;
  readonly cookies: ResponseCookies;
  /** 200 to 203. Only plain answers have it; encoded ones stay 200. */
  status: number;
}

/** State that all contexts of one incoming call share. @internal */
export interface CallScope {
  readonly request: OuterRequest | undefined;
  readonly locals: Locals;
  readonly response: CallResponse;
}
