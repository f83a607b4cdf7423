import { BRANDS } from '../../mail/policy/look-alike/brands.ts';
import { KnownNames } from '../../mail/policy/look-alike/known-names.ts';
import { findLookAlike } from '../../mail/policy/look-alike/look-alike.ts';
import { mixesScripts } from '../../mail/policy/look-alike/skeleton.ts';
import { findDisguise } from '../../mail/policy/checks/disguised-link.ts';
import { linkHost } from '../../mail/policy/checks/hosts.ts';
import { isShortener, findLinkOddity } from '../../mail/policy/checks/links.ts';
import { registrableDomain } from '../../mail/policy/registrable.ts';
import type { Link } from '../core/text-tasks.ts';

/** Links of one message that get a handle. */
const MAX_LINKS = 500;
/** Links compared with known brand names for look-alikes. */
const MAX_COMPARED = 30;
const BRAND_NAMES = new KnownNames(BRANDS.map(({ domain }) => domain));

interface LinkEntry {
  url: string;
  host: string;
  /** Link texts shown in the message, without duplicates. */
  shown: Set<string>;
}

/** Assigns handles to the links of one message, in order of appearance. */
export class LinkRegistry {
  readonly #entries: LinkEntry[] = [];
  readonly #byUrl = new Map<string, number>();
  readonly #numbered: boolean;

  /** `numbered` false: for texts with hosts only, such as snippets. */
  constructor(numbered = true) {
    this.#numbered = numbered;
  }

  /** Returns the number of a link; undefined over the limit. */
  add(url: string, shown = ''): number | undefined {
    const known = this.#byUrl.get(url);
    const number = known ?? this.#entries.length + 1;
    if (number > MAX_LINKS) return undefined;
    if (known === undefined) {
      this.#byUrl.set(url, number);
      this.#entries.push({ url, host: safeHost(url), shown: new Set() });
    }
    if (shown !== '') this.#entries[number - 1]?.shown.add(shown);
    return number;
  }

  /** Returns the handle that replaces a link in the text. */
  label(number: number): string {
    const host = displayHost(this.#entries[number - 1]?.host ?? '');
    return `[link${this.#numbered ? `:${number}` : ''}${host === '' ? '' : ` ${host}`}]`;
  }

  get links(): Link[] {
    return this.#entries.map(({ host, ...entry }, i) => ({
      handle: `link:${i + 1}`,
      host: displayHost(host),
      registrableDomain: host === '' ? '' : displayHost(registrableDomain(host)),
      flags: flagsOf({ host, ...entry }, i < MAX_COMPARED),
    }));
  }

  /** URLs in the order of their handles. */
  get urls(): string[] {
    return this.#entries.map(({ url }) => url);
  }
}

/** Finds the URL of a handle. */
export function urlOf({ urls }: { urls: readonly string[] }, handle: string): string | undefined {
  return urls[Number(/^link:(\d{1,3})$/.exec(handle)?.[1] ?? 0) - 1];
}

/** Returns the host if it is a plain host name, else ''. It is shown outside the untrusted text. */
function safeHost(url: string): string {
  const host = linkHost(url);
  return /^[a-z0-9._:[\]-]{1,253}$/.test(host) ? host : '';
}

function flagsOf({ url, host, shown }: LinkEntry, compared: boolean): string[] {
  const flags = [findLinkOddity(url)?.rule];
  if (/(?:^|\.)xn--/.test(host)) flags.push('punycode');
  if (host !== '' && isShortener(host)) flags.push('short-link');
  if (host !== '' && mixesScripts(host)) flags.push('mixed-scripts');
  if (compared && host !== '' && findLookAlike(host, BRAND_NAMES) !== undefined) flags.push('look-alike');
  if ([...shown].some((text) => findDisguise({ url, text }) !== undefined)) flags.push('disguised-link');
  return flags.filter((flag) => flag !== undefined);
}

/** Longer host names are shown by their end. No registered name is as long. */
const MAX_HOST_CHARS = 100;
const CUT = '\u2026';

/**
 * Shortens a host for display. The end shows the owner, so the beginning is cut; a leading ellipsis marks the cut, and a
 * dot after it that only whole labels remain.
 */
export function displayHost(host: string): string {
  if (host.length <= MAX_HOST_CHARS) return host;
  const end = host.slice(host.length - MAX_HOST_CHARS + CUT.length);
  const dot = end.indexOf('.');
  const labels = dot < 0 ? '' : end.slice(dot);
  return `${CUT}${labels.length > registrableDomain(host).length ? labels : end}`;
}
