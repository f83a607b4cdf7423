import { isLoopback } from '../../mail/guard/network.ts';

const LONGEST = 500;
/** Schemes that browsers do something else with than handing the URL to a program. */
const NEVER =
  /^(?:about|blob|chrome|data|file|filesystem|ftp|intent|jar|javascript|mailto|resource|sms|tel|vbscript|view-source|wss?):/;

/**
 * What is wrong with a place that answers are to be sent to, or undefined. Taken are https, http on the person's own
 * machine, and schemes of installed programs. RFC 6749 3.1.2, RFC 8252 7.
 */
export function redirectProblem(text: string): string | undefined {
  // What parsers read differently is refused before one of them reads it.
  if (text.length > LONGEST || !/^[\x21-\x7e]+$/.test(text) || /[\\"<>^`{|}]/.test(text)) {
    return 'has characters that a URI cannot have, or is too long';
  }
  if (!/^[a-z][a-z0-9+.-]*:/.test(text) || !URL.canParse(text)) return 'is no URI';
  const url = new URL(text);
  if (text.includes('#')) return 'has a fragment';
  if (url.username !== '' || url.password !== '') return 'has a user name';
  // It is put into a policy of ours, where other characters mean something.
  if (!/^(?:[a-z0-9._-]*|\[[0-9a-f:.]+\])$/i.test(url.hostname)) return 'has a host that nobody has';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol === 'http:') return isLocal(url) ? undefined : 'is http: only https is taken from elsewhere';
  if (NEVER.test(url.protocol)) return 'has a scheme that no program has';
  // RFC 8252 7.1: named after a domain; those of common programs at least look like an address.
  return url.protocol.includes('.') || text.startsWith(`${url.protocol}//`) ? undefined : 'has a scheme of nobody';
}

/**
 * Whether an answer may go to `given` when `registered` was named before: the same text, but that a program on the
 * person's machine takes the port that is free. RFC 8252 7.3, RFC 9700 4.1.3.
 */
export function isRegistered(registered: readonly string[], given: string): boolean {
  if (registered.includes(given)) return true;
  const own = withoutPort(given);
  return own !== undefined && registered.some((one) => withoutPort(one) === own);
}

/** A loopback URI without its port; undefined for every other one. */
function withoutPort(text: string): string | undefined {
  const match = /^(http:\/\/(?:127\.\d+\.\d+\.\d+|\[::1\]|localhost))(?::\d{1,5})?((?:[/?].*)?)$/.exec(text);
  return match === null ? undefined : `${match[1]} ${match[2]}`;
}

function isLocal({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  return host === 'localhost' || isLoopback(host);
}

/** Where a person ends up, in words: a host, or a program of theirs. */
export function placeOf(text: string): string {
  const url = new URL(text);
  if (url.protocol === 'https:') return url.host;
  return url.protocol === 'http:'
    ? `a program on your computer (${url.host})`
    : `the program that opens ${url.protocol}`;
}

/**
 * What a page's policy has to allow so that its form may be answered with a redirect there. CSP knows no IPv6 addresses
 * and no hosts of other schemes: for these it is the scheme.
 */
export function formSource(text: string): string {
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && !url.hostname.startsWith('[') ? url.origin : url.protocol;
}

/** The redirect URI with what it answers. What it had in its query stays. RFC 6749 4.1.2, RFC 9207. */
export function answerTo(redirectUri: string, answer: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(answer).filter((one): one is [string, string] => one[1] !== undefined);
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${new URLSearchParams(given).toString()}`;
}
