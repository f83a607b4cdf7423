import { BRANDS } from '../../mail/policy/alike/brands.ts';
import { KnownNames } from '../../mail/policy/alike/known-names.ts';
import { lookAlike } from '../../mail/policy/alike/look-alike.ts';
import { mixesScripts } from '../../mail/policy/alike/skeleton.ts';
import { disguise } from '../../mail/policy/checks/disguised-link.ts';
import { hostOf } from '../../mail/policy/checks/hosts.ts';
import { isShortener, oddity } from '../../mail/policy/checks/odd-links.ts';
import { registrable } from '../../mail/policy/registrable.ts';
import { shownHost } from './shown-host.ts';

/** Links of one message that get a handle. */
const MOST = 500;
/** Of those that are looked at for names that pass for others. */
const MOST_COMPARED = 30;
const BRAND_NAMES = new KnownNames(BRANDS.map(({ domain }) => domain));

/** A link as an agent sees it: where it leads, never how. */
export interface Link {
  /** `link:1`, the same in every form of the message. */
  handle: string;
  /** As A-labels, of a long one the end; '' where it leads to no host. */
  host: string;
  registrableDomain: string;
  flags: string[];
}

interface Entry {
  url: string;
  host: string;
  /** What stood in its place, each once. */
  shown: Set<string>;
}

/** Gives the links of one message their handles, in the order in which they are met. */
export class LinkBook {
  readonly #entries: Entry[] = [];
  readonly #byUrl = new Map<string, number>();
  readonly #numbered: boolean;

  /** Not numbered: for texts that show hosts and open nothing, such as snippets. */
  constructor(numbered = true) {
    this.#numbered = numbered;
  }

  /** The number of a link; undefined: there are too many. */
  add(url: string, shown = ''): number | undefined {
    const known = this.#byUrl.get(url);
    const number = known ?? this.#entries.length + 1;
    if (number > MOST) return undefined;
    if (known === undefined) {
      this.#byUrl.set(url, number);
      this.#entries.push({ url, host: safeHost(url), shown: new Set() });
    }
    if (shown !== '') this.#entries[number - 1]?.shown.add(shown);
    return number;
  }

  /** What stands in the text in place of a link. */
  label(number: number): string {
    const host = shownHost(this.#entries[number - 1]?.host ?? '');
    return `[link${this.#numbered ? `:${number}` : ''}${host === '' ? '' : ` ${host}`}]`;
  }

  get links(): Link[] {
    return this.#entries.map(({ host, ...entry }, i) => ({
      handle: `link:${i + 1}`,
      host: shownHost(host),
      registrableDomain: host === '' ? '' : shownHost(registrable(host)),
      flags: flagsOf({ host, ...entry }, i < MOST_COMPARED),
    }));
  }

  /** The addresses behind the handles, in their order. */
  get urls(): string[] {
    return this.#entries.map(({ url }) => url);
  }
}

/** The address behind a handle. */
export function urlOf({ urls }: { urls: readonly string[] }, handle: string): string | undefined {
  return urls[Number(/^link:(\d{1,3})$/.exec(handle)?.[1] ?? 0) - 1];
}

/** A name of a host and nothing else: it stands outside of what is marked as the sender's. */
function safeHost(url: string): string {
  const host = hostOf(url);
  return /^[a-z0-9._:[\]-]{1,253}$/.test(host) ? host : '';
}

function flagsOf({ url, host, shown }: Entry, compared: boolean): string[] {
  const flags = [oddity(url)?.rule];
  if (/(?:^|\.)xn--/.test(host)) flags.push('punycode');
  if (host !== '' && isShortener(host)) flags.push('short-link');
  if (host !== '' && mixesScripts(host)) flags.push('mixed-scripts');
  if (compared && host !== '' && lookAlike(host, BRAND_NAMES) !== undefined) flags.push('look-alike');
  if ([...shown].some((text) => disguise({ url, text }) !== undefined)) flags.push('disguised-link');
  return flags.filter((flag) => flag !== undefined);
}
