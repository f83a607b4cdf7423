import type { Attack } from './attack.ts';
import { FIELDS } from './fields.ts';
import { HIDDEN } from './hidden.ts';
import { LANGUAGES } from './languages.ts';
import { ORDERS } from './orders.ts';

/** All hostile mails. */
export const CORPUS: readonly Attack[] = [...ORDERS, ...HIDDEN, ...FIELDS, ...LANGUAGES];
