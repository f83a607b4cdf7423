import type { SendMailOptions } from 'nodemailer';

/** A hostile mail of the corpus. */
export interface Attack {
  name: string;
  /** Address of the attacker, which appears nowhere else. */
  loot: string;
  mail: SendMailOptions;
}

/**
 * Begins every word that a mail of the corpus plants in a field of its own. It stands in no address and in no name of a
 * host, so wherever it is found there stand words that a stranger wrote.
 */
export const MARK = 'qzjxvkwb';

/** Its domain vouches for it: who attacks has a domain too. */
export const ATTACKER = 'mallory@evil.example';

/** A mail that says who gets what; what is not said is everyday, and marked. */
export function attack(name: string, mail: (loot: string, word: string) => SendMailOptions): Attack {
  const slug = name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const loot = `${slug}@loot.example`;
  const word = MARK + slug.replaceAll('-', '');
  const everyday = { from: { name: `Mallory ${word}`, address: ATTACKER }, subject: `Hello ${word}` };
  return { name, loot, mail: { ...everyday, ...mail(loot, word) } };
}
