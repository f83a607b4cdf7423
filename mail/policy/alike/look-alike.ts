import { mainLabel, registrable } from '../registrable.ts';
import { editDistance } from './edit-distance.ts';
import { shownHost, skeleton } from './skeleton.ts';

/** How a name passes for another one. */
export interface Alike {
  /** The domain that it passes for. */
  of: string;
  /**
   * `letters`: it looks the same; `typo`: a letter is another; `inside`: the other name stands in front of a foreign
   * domain; `added`: the other name with a word to it.
   */
  how: 'letters' | 'typo' | 'inside' | 'added';
}

/** Shorter names are near to too many others. */
const SHORTEST_TYPO = 6;
const SHORTEST_LABEL = 5;
/** From so many letters on two may be wrong. */
const LONG = 12;

/**
 * The domain among `known` that `host` passes for without belonging to it, the first that fits. A name that differs in
 * its ending alone passes for nothing: that is how companies name their branches, and strangers meet.
 */
export function lookAlike(host: string, known: readonly string[]): Alike | undefined {
  const own = registrable(host);
  if (known.some((domain) => registrable(domain) === own)) return undefined;
  const shown = shownHost(host.slice(0, 253));
  const label = mainLabel(shown);
  const form = skeleton(label);
  for (const domain of known) {
    const how = likeness({ host: shown, label, form }, domain);
    if (how !== undefined) return { of: domain, how };
  }
  return undefined;
}

function likeness(name: { host: string; label: string; form: string }, domain: string): Alike['how'] | undefined {
  const label = mainLabel(shownHost(domain));
  if (name.label === label) return undefined;
  const form = skeleton(label);
  if (name.form === form && (form.length >= SHORTEST_LABEL || /[^\x00-\x7f]/.test(name.label))) return 'letters';
  const most = form.length >= LONG ? 2 : 1;
  if (form.length >= SHORTEST_TYPO && name.form[0] === form[0] && editDistance(name.form, form, most) <= most)
    return 'typo';
  if (standsInside(name.host, domain, label)) return 'inside';
  const pieces = name.label.split('-');
  return label.length >= SHORTEST_LABEL && pieces.length > 1 && pieces.some((piece) => skeleton(piece) === form)
    ? 'added'
    : undefined;
}

/** `paypal.com.login.example`, `paypal-com.login.example`, `paypal.login.example`. */
function standsInside(host: string, domain: string, label: string): boolean {
  const before = `.${host.slice(0, -registrable(host).length)}`;
  if (before.includes(`.${domain}.`) || before.includes(`.${domain.replaceAll('.', '-')}.`)) return true;
  return label.length >= SHORTEST_LABEL && before.split('.').includes(label);
}
