import type { Settings } from '../../config/settings.ts';
import type { SecretLinks } from '../../mail/message/secret-link.ts';

/**
 * Pages whose link alone signs in or decides. Mail with such a link is hidden from agents, so each must be created by
 * {@link secretUrl}; links to other pages are visible to agents.
 */
export const SECRET_PAGES = {
  approve: '/approve',
  claim: '/auth/setup',
  device: '/auth/device',
  forward: '/forward/confirm',
  invite: '/auth/invite',
  prove: '/auth/prove',
  reset: '/auth/reset',
  signIn: '/auth/sign-in',
} as const;

/** The URL of a secret page; its last parameter is `token`. */
export function secretUrl(
  baseUrl: () => string,
  page: keyof typeof SECRET_PAGES,
  { token, ...more }: { token: string } & Readonly<Record<string, string>>,
): string {
  return `${baseUrl()}${SECRET_PAGES[page]}?${new URLSearchParams({ ...more, token }).toString()}`;
}

/** Hosts and paths by which such links are recognized. */
export function secretLinksOf({
  hostname,
  baseUrl,
  live,
}: Pick<Settings, 'hostname' | 'baseUrl' | 'live'>): SecretLinks {
  const named = baseUrl === undefined ? [] : [new URL(baseUrl)];
  // Without a base URL the pages are opened at a loopback address.
  const local = live ? [] : ['localhost', '127.0.0.1', '[::1]'];
  const hosts = new Set([hostname, ...named.map((url) => url.hostname), ...local]);
  // Behind a proxy the pages may be below a path.
  const below = new Set(['', ...named.map(({ pathname }) => pathname.replace(/\/+$/, ''))]);
  const paths = [...below].flatMap((path) => Object.values(SECRET_PAGES).map((page) => `${path}${page}`));
  return { hosts: [...hosts], paths };
}
