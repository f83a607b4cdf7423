import { mainLabel, registrable } from '../registrable.ts';
import { shownHost, skeleton } from './skeleton.ts';

/** A domain as it is read. */
interface Name {
  domain: string;
  /** As somebody registered it. */
  owner: string;
  /** The label that it is known by, in its own letters, and what that looks like. */
  label: string;
  form: string;
}

/** Domains that others may pass for, laid out so that a name is compared with few of them. */
export class KnownNames {
  readonly owners: ReadonlySet<string>;
  readonly domains: ReadonlySet<string>;
  /** The first domain of each look, of each label, and with its dots as hyphens. */
  readonly byForm = new Map<string, Name>();
  readonly byLabel = new Map<string, Name>();
  readonly hyphenated = new Map<string, Name>();
  /** By the first character of their look: who imitates a name keeps it. */
  readonly byInitial = new Map<string, Name[]>();

  constructor(domains: readonly string[]) {
    const names = domains.map(nameOf);
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

const MOST_KEPT = 5000;
/** The same correspondents come again with each message. */
const names = new Map<string, Name>();

/** How a domain reads. */
export function nameOf(domain: string): Name {
  const kept = names.get(domain);
  if (kept !== undefined) return kept;
  const label = mainLabel(shownHost(domain));
  const name = { domain, owner: registrable(domain), label, form: skeleton(label) };
  if (names.size >= MOST_KEPT) names.clear();
  names.set(domain, name);
  return name;
}
