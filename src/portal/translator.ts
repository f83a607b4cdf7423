import type { FastifyRequest } from 'fastify';
import { languageOf, type PageLanguage } from '../http/language.ts';
import { html, type HtmlPart } from './html.ts';
import { portalMessages as german } from './languages/de.ts';
import { portalMessages as english } from './languages/en.ts';
import { portalMessages as spanish } from './languages/es.ts';
import type { PortalCatalog, PortalKey, PortalValueNames } from './message-types.ts';

export const PORTAL_CATALOGS: Readonly<Record<PageLanguage, PortalCatalog>> = { en: english, de: german, es: spanish };

/** Dates of English pages are those of en-GB, as they were before there were others. */
const DATE_LOCALES: Readonly<Record<PageLanguage, string>> = { en: 'en-GB', de: 'de', es: 'es' };

type MessageValues<Name extends string, Value> = [Name] extends [never] ? [] : [values: Readonly<Record<Name, Value>>];

/** The words of pages in one language. All is text, which templates escape. */
export interface Translator {
  /** A message. Numbers get the digits of the language, `count` chooses the plural form. */
  <K extends PortalKey>(key: K, ...values: MessageValues<PortalValueNames<K>, string | number>): string;
  readonly language: PageLanguage;
  /** A message whose values are markup, such as an emphasized name. */
  rich<K extends PortalKey>(key: K, values: Readonly<Record<PortalValueNames<K>, HtmlPart>>): HtmlPart;
  /** A sentence that the server has in English only. On pages in other languages it is marked as English. */
  english(text: string): HtmlPart;
  /** A number with the digits and separators of the language. */
  number(value: number): string;
  /** A time span, such as "2 minutes". */
  wait(seconds: number): string;
  /** An enumeration. */
  list(all: readonly string[]): string;
  readonly dates: Readonly<Record<'day' | 'minute' | 'second' | 'chartDay' | 'chartHour', Intl.DateTimeFormat>>;
}

/** Translator of a page whose words are English in every language. */
export const ENGLISH = translatorFor('en');
const TRANSLATORS: Readonly<Record<PageLanguage, Translator>> = {
  en: ENGLISH,
  de: translatorFor('de'),
  es: translatorFor('es'),
};

/** Chosen translators: every part of a page asks for its own, and reading the header costs more than all of them. */
const CHOSEN = new WeakMap<FastifyRequest, Translator>();

/** Translator into the language of the reader. */
export function translatorOf(request: FastifyRequest): Translator {
  const known = CHOSEN.get(request);
  if (known !== undefined) return known;
  const chosen = TRANSLATORS[languageOf(request)];
  CHOSEN.set(request, chosen);
  return chosen;
}

/** Creates the translator of a language; {@link translatorOf} has one for each. */
export function translatorFor(language: PageLanguage): Translator {
  const catalog = PORTAL_CATALOGS[language];
  const plurals = new Intl.PluralRules(language);
  const numbers = new Intl.NumberFormat(language);
  const lists = new Intl.ListFormat(language, { type: 'unit', style: 'short' });
  const form = (key: PortalKey, count: unknown): string => formOf(catalog[key], plurals.select(Number(count)));
  const shown = (value: HtmlPart): HtmlPart => (typeof value === 'number' ? numbers.format(value) : value);
  const parts = (key: PortalKey, values: Readonly<Record<string, HtmlPart>> = {}): HtmlPart[] =>
    form(key, values['count'])
      .split(/\{(\w+)\}/)
      .map((part, i) => (i % 2 === 0 ? part : shown(values[part])));
  const translate = (key: PortalKey, values?: Readonly<Record<string, string | number>>): string =>
    parts(key, values).join('');
  const extras = {
    language,
    rich: parts,
    english: (text: string): HtmlPart => (language === 'en' ? text : html`<span lang="en">${text}</span>`),
    number: (value: number): string => numbers.format(value),
    wait: (seconds: number): string => waitText(language, seconds),
    list: (all: readonly string[]): string => lists.format(all),
    dates: datesOf(language),
  };
  return Object.assign(translate, extras) as Translator;
}

function formOf(message: PortalCatalog[PortalKey], category: Intl.LDMLPluralRule): string {
  if (typeof message === 'string') return message;
  return (category === 'one' || category === 'many' ? message[category] : undefined) ?? message.other;
}

/** Times are UTC: the server does not know the reader's zone. */
function datesOf(language: PageLanguage): Translator['dates'] {
  const format = (timeStyle?: 'short' | 'medium'): Intl.DateTimeFormat =>
    new Intl.DateTimeFormat(DATE_LOCALES[language], { dateStyle: 'medium', timeStyle, timeZone: 'UTC' });
  const short = { day: 'numeric', month: 'short', timeZone: 'UTC' } as const;
  const chartDay = new Intl.DateTimeFormat(DATE_LOCALES[language], short);
  const hours = { ...short, hour: '2-digit', minute: '2-digit' } as const;
  const chartHour = new Intl.DateTimeFormat(DATE_LOCALES[language], hours);
  return { day: format(), minute: format('short'), second: format('medium'), chartDay, chartHour };
}

/** A wait in words, such as "2 minutes". */
function waitText(language: PageLanguage, seconds: number): string {
  const [value, unit] = seconds < 90 ? ([seconds, 'second'] as const) : ([Math.ceil(seconds / 60), 'minute'] as const);
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(value);
}
