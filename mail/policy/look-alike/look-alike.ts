import { registrableDomain } from '../registrable.ts';
import { editDistance } from './edit-distance.ts';
import { KnownNames, readName } from './known-names.ts';
import { toUnicodeHost, skeleton } from './skeleton.ts';

/** Imitation of one domain by another. */
export interface LookAlike {
  /** Imitated domain. */
  imitated: string;
  /**
   * `letters`: same skeleton; `typo`: one letter differs; `inside`: the imitated domain is a prefix of a foreign one;
   * `added`: the name with an added word; `below`: only the label is a prefix, as services name their customers too.
   */
  technique: 'letters' | 'typo' | 'inside' | 'added' | 'below';
}

/** Shorter names are close to too many others. */
const MIN_TYPO_LENGTH = 6;
const MIN_LABEL_LENGTH = 5;
/** Length from which two letters may differ. */
const TWO_TYPOS_LENGTH = 12;
const MAX_HOST = 253;

/**
 * Finds the known domain that `host` imitates without belonging to it. A different top-level domain alone is no imitation:
 * companies name their branches so, and unrelated companies share names.
 */
export function findLookAlike(host: string, known: KnownNames | readonly string[]): LookAlike | undefined {
  const names = known instanceof KnownNames ? known : new KnownNames(known);
  const { label, form, owner } = readName(host.slice(0, MAX_HOST));
  if (names.owners.has(owner) || names.byLabel.has(label)) return undefined;
  const before = subdomainLabels(host);
  return (
    findSameLetters(label, form, names) ??
    findTypo(form, names) ??
    findEmbeddedDomain(before, names) ??
    findAddedWord(label, names) ??
    findEmbeddedLabel(before, names)
  );
}

function findSameLetters(label: string, form: string, { byForm }: KnownNames): LookAlike | undefined {
  const other = byForm.get(form);
  const clear = form.length >= MIN_LABEL_LENGTH || /[^\x00-\x7f]/.test(label);
  return other !== undefined && clear ? { imitated: other.domain, technique: 'letters' } : undefined;
}

function findTypo(form: string, { byInitial }: KnownNames): LookAlike | undefined {
  for (const other of byInitial.get(form.slice(0, 1)) ?? []) {
    const max = other.form.length >= TWO_TYPOS_LENGTH ? 2 : 1;
    if (other.form.length < MIN_TYPO_LENGTH || editDistance(form, other.form, max) > max) continue;
    return { imitated: other.domain, technique: 'typo' };
  }
  return undefined;
}

/** Subdomain labels that are checked, the last ones. */
const MAX_LABELS = 8;

function subdomainLabels(host: string): string[] {
  const shown = toUnicodeHost(host.slice(0, MAX_HOST));
  return shown.slice(0, -registrableDomain(shown).length).split('.').slice(-MAX_LABELS);
}

/** `paypal.com.login.example`, `paypal-com.login.example`. */
function findEmbeddedDomain(before: readonly string[], { domains, hyphenated }: KnownNames): LookAlike | undefined {
  for (const [from, label] of before.entries()) {
    const other = hyphenated.get(label);
    if (other !== undefined) return { imitated: other.domain, technique: 'inside' };
    for (let to = from + 2; to <= before.length; to++) {
      const name = before.slice(from, to).join('.');
      if (domains.has(name)) return { imitated: name, technique: 'inside' };
    }
  }
  return undefined;
}

/** `paypal.login.example`. */
function findEmbeddedLabel(before: readonly string[], { byLabel }: KnownNames): LookAlike | undefined {
  for (const label of before) {
    const other = byLabel.get(label);
    if (other === undefined) continue;
    return other.label.length >= MIN_LABEL_LENGTH ? { imitated: other.domain, technique: 'below' } : undefined;
  }
  return undefined;
}

function findAddedWord(label: string, { byForm }: KnownNames): LookAlike | undefined {
  const pieces = label.split('-');
  if (pieces.length === 1) return undefined;
  const other = pieces.map((piece) => byForm.get(skeleton(piece))).find((one) => one !== undefined);
  return other !== undefined && other.label.length >= MIN_LABEL_LENGTH
    ? { imitated: other.domain, technique: 'added' }
    : undefined;
}
