import { z } from 'zod';

/** Labels in one change. */
export const MAX_LABELS = 20;

/**
 * `$` keywords that people use as labels; the others record actions (`$mdnsent`) or classifications (`$junk`) of programs
 * and are reserved. `$label1` to `$label5` are Thunderbird's.
 */
const SYSTEM = /^\$(?:important|label[1-5])$/;

const FORMAT = 'must be 1 to 100 ASCII characters without blanks and (){]%*"\\';

/** Keyword that IMAP supports too. RFC 8621 4.1.1. Short schema, as every tool costs model tokens. */
const Keyword = z
  .string()
  .regex(/^[!-~]{1,100}$/, FORMAT)
  .refine((text) => !/[(){\]%*"\\]/.test(text), FORMAT)
  .transform((text) => text.toLowerCase());

const REASON = 'is reserved for programs: choose a name without $';
const isLabel = (text: string): boolean => !text.startsWith('$') || SYSTEM.test(text);

export const Label = Keyword.refine(isLabel, REASON);

/** Label or `$answered`, which is a flag of its own. */
export const LabelOrAnswered = Keyword.refine((text) => isLabel(text) || text === '$answered', REASON);
