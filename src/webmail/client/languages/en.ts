import { lists } from './en/lists.ts';
import { reading } from './en/reading.ts';
import { writing } from './en/writing.ts';

/** Messages of web mail in English. The other languages have the same keys and placeholders. */
export const messages = { language: 'en', ...lists, ...reading, ...writing } as const;
