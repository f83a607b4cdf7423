const BROWSERS: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera' };
const SYSTEMS: Readonly<Record<string, string>> = { Macintosh: 'a Mac' };

/** Browser and system name from the User-Agent; undefined: none that is known. No text of the sender is in it. */
export function knownBrowserOf(agent: string): string | undefined {
  const browser = /(Firefox|Edg|OPR|Chrome|Safari|curl)\/\d/.exec(agent.replace(/Chrome(?=.* (?:Edg|OPR)\/)/, ''))?.[1];
  const system = /(Windows|Android|iPhone|iPad|Macintosh|Linux)/.exec(agent)?.[1];
  if (browser === undefined) return undefined;
  const name = BROWSERS[browser] ?? browser;
  return system === undefined ? name : `${name} on ${SYSTEMS[system] ?? system}`;
}

/** The same, or the beginning of the User-Agent. */
export function browserOfAgent(agent: string): string {
  return knownBrowserOf(agent) ?? (agent === '' ? 'Unknown' : agent.slice(0, 60));
}
