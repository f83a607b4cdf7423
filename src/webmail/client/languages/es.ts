import type { MessageCatalog } from '../message-types.ts';
import { lists } from './es/lists.ts';
import { reading } from './es/reading.ts';
import { writing } from './es/writing.ts';

/** Messages of web mail in Spanish. */
export const messages: MessageCatalog = { language: 'es', ...lists, ...reading, ...writing };
