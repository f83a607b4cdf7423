import { isLoopback } from '../../mail/guard/network.ts';

const MAX_URI = 500;
/**
 * Checks a redirect URI; returns the problem or undefined. Accepts https, http on loopback, and private-use schemes
 * with a dot.
 * RFC 6749 3.1.2, RFC 8252 7.
 */
export function redirectProblem(text: string): string | undefined {
  // Refuses characters that URL parsers interpret differently.
  if (text.length > MAX_URI || !/^[\x21-\x7e]+$/.test(text) || /[\\"<>^`{|}]/.test(text)) {
    return 'has characters that a URI cannot have, or is too long';
  }
  if (!/^[a-z][a-z0-9+.-]*:/.test(text) || !URL.canParse(text)) return 'is not a URI';
  const url = new URL(text);
  if (text.includes('#')) return 'has a fragment';
  if (url.username !== '' || url.password !== '') return 'has a user name';
  // The host is put into a CSP header, so other characters could inject directives.
  if (!/^(?:[a-z0-9._-]*|\[[0-9a-f:.]+\])$/i.test(url.hostname)) return 'has an invalid host';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol === 'http:') return isLocal(url) ? undefined : 'uses http: only https is allowed except on loopback';
  // RFC 8252 7.1: others belong to the browser or to programs of the system, such as ms-msdt:.
  return url.protocol.includes('.') ? undefined : 'has a scheme that is no reversed domain name';
}

/**
 * True if `given` matches a registered URI exactly, except for the port of loopback URIs. RFC 8252 7.3, RFC 9700 4.1.3.
 */
export function isRegistered(registered: readonly string[], given: string): boolean {
  if (registered.includes(given)) return true;
  const own = withoutPort(given);
  return own !== undefined && registered.some((one) => withoutPort(one) === own);
}

/** A loopback URI without its port; undefined for others. */
function withoutPort(text: string): string | undefined {
  const match = /^(http:\/\/(?:127\.\d+\.\d+\.\d+|\[::1\]|localhost))(?::\d{1,5})?((?:[/?].*)?)$/.exec(text);
  return match === null ? undefined : `${match[1]} ${match[2]}`;
}

function isLocal({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  return host === 'localhost' || isLoopback(host);
}

/** Describes the redirect target: a host or a program. */
export function describeRedirect(text: string): string {
  const url = new URL(text);
  if (url.protocol === 'https:') return url.host;
  return url.protocol === 'http:'
    ? `a program on your computer (${url.host})`
    : `the program that opens ${url.protocol}`;
}

/**
 * CSP source that allows a form to redirect there. CSP has no IPv6 addresses and no hosts of private-use schemes: the
 * source is then the scheme.
 */
export function formSource(text: string): string {
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && !url.hostname.startsWith('[') ? url.origin : url.protocol;
}

/** The redirect URI with response parameters; keeps its query. RFC 6749 4.1.2, RFC 9207. */
export function redirectLocation(redirectUri: string, answer: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(answer).filter((one): one is [string, string] => one[1] !== undefined);
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${new URLSearchParams(given).toString()}`;
}
