import type { Settings } from '../../config/settings.ts';
import type { SecretLinks } from '../../mail/message/secret-link.ts';

/**
 * Every page that lets in, or decides for, whoever opens its link. A letter with such a link is shown to people only: who
 * makes links makes them here, and what is not in this list an agent may read.
 */
export const SECRET_PAGES = {
  approve: '/approve',
  claim: '/auth/setup',
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

/** How such links are known again. */
export function secretLinksOf({
  hostname,
  baseUrl,
  live,
}: Pick<Settings, 'hostname' | 'baseUrl' | 'live'>): SecretLinks {
  const named = baseUrl === undefined ? [] : [new URL(baseUrl)];
  // Where nobody gave it an address it is opened at one of this machine.
  const local = live ? [] : ['localhost', '127.0.0.1', '[::1]'];
  const hosts = new Set([hostname, ...named.map((url) => url.hostname), ...local]);
  // Behind a proxy the pages may stand below a path of its own.
  const below = new Set(['', ...named.map(({ pathname }) => pathname.replace(/\/+$/, ''))]);
  const paths = [...below].flatMap((path) => Object.values(SECRET_PAGES).map((page) => `${path}${page}`));
  return { hosts: [...hosts], paths };
}
