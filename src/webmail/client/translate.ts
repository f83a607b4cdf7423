import { messages } from '#messages';
import type { MessageCatalog, MessageKey, ValueNames } from './message-types.ts';

/** The catalog of the page's language: the import map of the document names its file, so that one language is loaded only. */
const catalog: MessageCatalog = messages;

/** Locale of dates and numbers: the browser's regional form of the page's language, else the language. */
export const LOCALE = navigator.languages?.find((tag) => tag.split('-', 1)[0] === catalog.language) ?? catalog.language;

const NUMBERS = new Intl.NumberFormat(LOCALE);
const PLURALS = new Intl.PluralRules(LOCALE);
let lists: Intl.ListFormat | undefined;

type Values<Name extends string, Value> = [Name] extends [never] ? [] : [values: Readonly<Record<Name, Value>>];

/** A message in the language of the page. Numbers get its digits, `count` chooses the plural form. */
export function t<K extends MessageKey>(key: K, ...[values]: Values<ValueNames<K>, string | number>): string {
  const given = (values ?? {}) as Readonly<Record<string, string | number>>;
  return pluralForm(key, given['count']).replaceAll(/\{(\w+)\}/g, (_, name: string) => shown(given[name] ?? ''));
}

/** The form of a message for its `count`, with placeholders. */
export function pluralForm(key: MessageKey, count: unknown): string {
  const message = catalog[key];
  if (typeof message === 'string') return message;
  const category = PLURALS.select(Number(count));
  return (category === 'one' || category === 'many' ? message[category] : undefined) ?? message.other;
}

const shown = (value: string | number): string => (typeof value === 'number' ? formatNumber(value) : value);

/** A number with the digits and separators of the language. */
export function formatNumber(value: number): string {
  return NUMBERS.format(value);
}

/** Joins the parts of an enumeration as the language does. */
export function listed(parts: readonly string[]): string {
  lists ??= new Intl.ListFormat(LOCALE, { type: 'unit', style: 'short' });
  return lists.format(parts);
}
