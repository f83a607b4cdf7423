const BROWSERS: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera' };
const SYSTEMS: Readonly<Record<string, string>> = { Macintosh: 'a Mac' };

/** Browser and system that a User-Agent names. No text of the sender is in it. */
export interface NamedBrowser {
  readonly browser: string;
  readonly system: string | undefined;
}

/** Browser and system from the User-Agent; undefined: none that is known. */
export function namedBrowserOf(agent: string): NamedBrowser | undefined {
  // Edge and Opera name Chrome and Safari before themselves.
  const browser = (/ (Edg|OPR)\/\d/.exec(agent) ?? /(Firefox|Chrome|Safari|curl)\/\d/.exec(agent))?.[1];
  const system = /(Windows|Android|iPhone|iPad|Macintosh|Linux)/.exec(agent)?.[1];
  return browser === undefined ? undefined : { browser: BROWSERS[browser] ?? browser, system };
}

/** Both in English; undefined: none that is known. */
export function knownBrowserOf(agent: string): string | undefined {
  const found = namedBrowserOf(agent);
  if (found?.system === undefined) return found?.browser;
  return `${found.browser} on ${SYSTEMS[found.system] ?? found.system}`;
}
