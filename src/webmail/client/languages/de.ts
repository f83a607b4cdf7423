import type { MessageCatalog } from '../message-types.ts';
import { lists } from './de/lists.ts';
import { reading } from './de/reading.ts';
import { writing } from './de/writing.ts';

/** Messages of web mail in German. */
export const messages: MessageCatalog = { language: 'de', ...lists, ...reading, ...writing };
