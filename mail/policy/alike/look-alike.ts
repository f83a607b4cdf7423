import { registrable } from '../registrable.ts';
import { editDistance } from './edit-distance.ts';
import { KnownNames, nameOf } from './known-names.ts';
import { shownHost, skeleton } from './skeleton.ts';

/** How a name passes for another one. */
export interface Alike {
  /** The domain that it passes for. */
  of: string;
  /**
   * `letters`: it looks the same; `typo`: a letter is another; `inside`: the other domain stands in front of a foreign
   * one; `added`: the other name with a word to it; `below`: the other name alone stands in front, which is how services
   * name what is their customers' as well.
   */
  how: 'letters' | 'typo' | 'inside' | 'added' | 'below';
}

/** Shorter names are near to too many others. */
const SHORTEST_TYPO = 6;
const SHORTEST_LABEL = 5;
/** From so many letters on two may be wrong. */
const LONG = 12;
const LONGEST_HOST = 253;

/**
 * The domain among `known` that `host` passes for without belonging to it. A name that differs in its ending alone
 * passes for nothing: that is how companies name their branches, and strangers meet.
 */
export function lookAlike(host: string, known: KnownNames | readonly string[]): Alike | undefined {
  const names = known instanceof KnownNames ? known : new KnownNames(known);
  const { label, form, owner } = nameOf(host.slice(0, LONGEST_HOST));
  if (names.owners.has(owner) || names.byLabel.has(label)) return undefined;
  const before = labelsBefore(host);
  return (
    sameLetters(label, form, names) ??
    typo(form, names) ??
    inside(before, names) ??
    added(label, names) ??
    below(before, names)
  );
}

function sameLetters(label: string, form: string, { byForm }: KnownNames): Alike | undefined {
  const other = byForm.get(form);
  const clear = form.length >= SHORTEST_LABEL || /[^\x00-\x7f]/.test(label);
  return other !== undefined && clear ? { of: other.domain, how: 'letters' } : undefined;
}

function typo(form: string, { byInitial }: KnownNames): Alike | undefined {
  for (const other of byInitial.get(form.slice(0, 1)) ?? []) {
    const most = other.form.length >= LONG ? 2 : 1;
    if (other.form.length < SHORTEST_TYPO || editDistance(form, other.form, most) > most) continue;
    return { of: other.domain, how: 'typo' };
  }
  return undefined;
}

/** Labels in front of a domain that are looked at, the last ones. */
const MOST_LABELS = 8;

function labelsBefore(host: string): string[] {
  const shown = shownHost(host.slice(0, LONGEST_HOST));
  return shown.slice(0, -registrable(shown).length).split('.').slice(-MOST_LABELS);
}

/** `paypal.com.login.example`, `paypal-com.login.example`. */
function inside(before: readonly string[], { domains, hyphenated }: KnownNames): Alike | undefined {
  for (const [from, label] of before.entries()) {
    const other = hyphenated.get(label);
    if (other !== undefined) return { of: other.domain, how: 'inside' };
    for (let to = from + 2; to <= before.length; to++) {
      const name = before.slice(from, to).join('.');
      if (domains.has(name)) return { of: name, how: 'inside' };
    }
  }
  return undefined;
}

/** `paypal.login.example`. */
function below(before: readonly string[], { byLabel }: KnownNames): Alike | undefined {
  const other = before.map((label) => byLabel.get(label)).find((one) => one !== undefined);
  return other !== undefined && other.label.length >= SHORTEST_LABEL ? { of: other.domain, how: 'below' } : undefined;
}

function added(label: string, { byForm }: KnownNames): Alike | undefined {
  const pieces = label.split('-');
  if (pieces.length === 1) return undefined;
  const other = pieces.map((piece) => byForm.get(skeleton(piece))).find((one) => one !== undefined);
  return other !== undefined && other.label.length >= SHORTEST_LABEL ? { of: other.domain, how: 'added' } : undefined;
}
