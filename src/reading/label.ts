import { z } from 'zod';

/** Of one change. */
export const MOST_LABELS = 20;

/**
 * Keywords with a sign in front that people use as labels; the others say what programs did (`$mdnsent`) or found out
 * (`$junk`), which is not for everybody to say. `$label1` to `$label5` are Thunderbird's.
 */
const SYSTEM = /^\$(?:important|label[1-5])$/;

const FORM = 'must be 1 to 100 ASCII characters without blanks and (){]%*"\\';

/** RFC 8621 4.1.1: a keyword that IMAP can say too. What models are shown of its form is short: every tool costs them. */
const Keyword = z
  .string()
  .regex(/^[!-~]{1,100}$/, FORM)
  .refine((text) => !/[(){\]%*"\\]/.test(text), FORM)
  .transform((text) => text.toLowerCase());

const why = 'is a keyword of programs: choose a name without $';
const isLabel = (text: string): boolean => !text.startsWith('$') || SYSTEM.test(text);

export const Label = Keyword.refine(isLabel, why);

/** What a message can be marked with: that it was answered too, which is a flag of its own. */
export const Mark = Keyword.refine((text) => isLabel(text) || text === '$answered', why);
