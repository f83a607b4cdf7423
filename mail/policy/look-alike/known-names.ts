import { LRUCache } from 'lru-cache';
import { mainLabel, registrableDomain } from '../registrable.ts';
import { toUnicodeHost, skeleton } from './skeleton.ts';

/** A parsed domain. */
interface DomainName {
  domain: string;
  /** Registrable domain. */
  owner: string;
  /** Main label in Unicode, and its skeleton. */
  label: string;
  form: string;
}

/** Index of domains that may be imitated, so that a name is compared with few of them. */
export class KnownNames {
  readonly owners: ReadonlySet<string>;
  readonly domains: ReadonlySet<string>;
  /** First domain by skeleton, by label, and with its dots as hyphens. */
  readonly byForm = new Map<string, DomainName>();
  readonly byLabel = new Map<string, DomainName>();
  readonly hyphenated = new Map<string, DomainName>();
  /** By the first character of the skeleton, which imitations keep. */
  readonly byInitial = new Map<string, DomainName[]>();

  constructor(domains: readonly string[]) {
    const names = domains.map(readName);
    this.owners = new Set(names.map(({ owner }) => owner));
    this.domains = new Set(domains);
    for (const name of names.toReversed()) {
      this.byForm.set(name.form, name);
      this.byLabel.set(name.label, name);
      this.hyphenated.set(name.domain.replaceAll('.', '-'), name);
    }
    for (const name of this.byForm.values()) {
      const initial = name.form.slice(0, 1);
      const same = this.byInitial.get(initial);
      if (same === undefined) this.byInitial.set(initial, [name]);
      else same.push(name);
    }
  }
}

/** Cache: the same correspondents recur with each message. */
const names = new LRUCache<string, DomainName>({ max: 5000 });

/** Parses a domain, with a cache. */
export function readName(domain: string): DomainName {
  const cached = names.get(domain);
  if (cached !== undefined) return cached;
  const label = mainLabel(toUnicodeHost(domain));
  const name = { domain, owner: registrableDomain(domain), label, form: skeleton(label) };
  names.set(domain, name);
  return name;
}
