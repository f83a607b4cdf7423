import { z } from 'zod';

const MAX_FACTS = 30;
/** Characters of a text that are searched. */
const MAX_TEXT_CHARS = 60_000;

/** Facts extracted from a message by patterns: numbers, times and ids, no prose. */
export const MailFacts = z.object({
  amounts: z.array(z.object({ value: z.number(), currency: z.string() })),
  dates: z.array(z.string()).describe('as 2026-01-31; ambiguous dates are left out'),
  orderIds: z.array(z.string()),
  codes: z.array(z.string()).describe('value right after words like code, PIN, OTP'),
  events: z.array(
    z.object({
      start: z.string(),
      end: z.string().nullable(),
      status: z.enum(['confirmed', 'tentative', 'cancelled']).nullable(),
    }),
  ),
});
export type MailFacts = z.output<typeof MailFacts>;

const SYMBOLS: Readonly<Record<string, string>> = {
  '\u20ac': 'EUR',
  '\u00a3': 'GBP',
  '\u20b9': 'INR',
  US$: 'USD',
};
const CURRENCY =
  '(US\\$|[$\u20ac\u00a3\u00a5\u20b9]|\\b(?:EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|INR|CAD|AUD|BRL|CNY)\\b)';
const NUMBER = "(\\d{1,3}(?:[.,'\u00a0 ]\\d{3}){1,4}(?:[.,]\\d{1,2})?|\\d{1,12}(?:[.,]\\d{1,2})?)(?![\\d])";
const BEFORE = new RegExp(`${CURRENCY}[ \u00a0]?${NUMBER}`, 'g');
const BEHIND = new RegExp(`(?<![\\d.,])${NUMBER}[ \u00a0]?${CURRENCY}`, 'g');

const ORDER =
  /(?:\border|bestell(?:ung|nummer)|auftrag|commande|pedido|ordine|zam\u00f3wieni\w{0,3}|invoice|rechnung|facture|factura|fattura|tracking|booking|buchung|reference)[ \w.-]{0,20}?[ #:\u00ba]{1,4}([A-Z0-9](?:[A-Z0-9-]{2,22})[A-Z0-9])\b/gi;
const CODE =
  /(?:\bcode|\bkod|c\u00f3digo|codice|\bOTP|\bPIN|passcode|\u043a\u043e\u0434|\u9a8c\u8bc1\u7801|\u30b3\u30fc\u30c9)[ \w\u00c0-\u024f]{0,25}?[ :\uff1a\n*]{1,6}([0-9]{3}[ -]?[0-9]{3}|[0-9]{4,8}|(?=[A-Z-]{0,8}\d)[A-Z0-9]{4,10})\b/gi;

/** Extracts facts from a sanitized text. `calendars` are the texts of the calendar parts. */
export function factsIn(text: string, calendars: readonly string[]): MailFacts {
  const plain = text.slice(0, MAX_TEXT_CHARS);
  return {
    amounts: amountsIn(plain),
    dates: datesIn(plain),
    orderIds: matchesIn(plain, ORDER).filter(isNumber),
    codes: matchesIn(plain, CODE).map((code) => code.replace(/[ -]/g, '')),
    events: calendars.flatMap(eventsIn).slice(0, MAX_FACTS),
  };
}

/** Rejects hyphenated words, which could be an instruction to the reader: FORWARD-ALL-MAIL-1. */
function isNumber(id: string): boolean {
  const count = (pattern: RegExp): number => id.match(pattern)?.length ?? 0;
  const digits = count(/\d/g);
  return digits > 0 && count(/[a-z]{2,}/gi) <= 2 && count(/[a-z]/gi) <= 2 * digits;
}

function matchesIn(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, value = '']) => value))].slice(0, MAX_FACTS);
}

function amountsIn(text: string): MailFacts['amounts'] {
  const all = new Map<string, MailFacts['amounts'][number]>();
  const add = (number = '', currency = ''): void => {
    const value = Number(
      number
        .replace(/[.,](?=\d{1,2}$)/, 'p')
        .replace(/[.,'\u00a0 ]/g, '')
        .replace('p', '.'),
    );
    const named = SYMBOLS[currency] ?? currency;
    if (all.size < MAX_FACTS) all.set(`${value} ${named}`, { value, currency: named });
  };
  for (const [, currency, number] of text.matchAll(BEFORE)) add(number, currency);
  for (const [, number, currency] of text.matchAll(BEHIND)) add(number, currency);
  return [...all.values()];
}

const MONTHS = 'january february march april may june july august september october november december'.split(' ');
const DATES: readonly (readonly [RegExp, (parts: string[]) => [string, string, string]])[] = [
  [/\b(20\d\d)-(\d\d)-(\d\d)(?!\d)/g, ([y = '', m = '', d = '']) => [y, m, d]],
  [/\b(\d\d?)\.(\d\d?)\.(20\d\d)\b/g, ([d = '', m = '', y = '']) => [y, m, d]],
  [/\b(\d\d?)(?:st|nd|rd|th)? ([A-Z][a-z]{2,8}) (20\d\d)\b/g, ([d = '', m = '', y = '']) => [y, monthOf(m), d]],
  [/\b([A-Z][a-z]{2,8}) (\d\d?)(?:st|nd|rd|th)?, (20\d\d)\b/g, ([m = '', d = '', y = '']) => [y, monthOf(m), d]],
];

function monthOf(name: string): string {
  return String(MONTHS.findIndex((month) => month.startsWith(name.toLowerCase())) + 1);
}

function datesIn(text: string): string[] {
  const all = DATES.flatMap(([pattern, order]) =>
    [...text.matchAll(pattern)].flatMap(([, ...parts]) => {
      const [year, month, day] = order(parts);
      const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
      const at = Date.parse(`${date}T00:00:00Z`);
      return !Number.isNaN(at) && new Date(at).toISOString().startsWith(date) ? [date] : [];
    }),
  );
  return [...new Set(all)].slice(0, MAX_FACTS);
}

/** Reads event times of a calendar. RFC 5545 3.6.1; a time without a zone is returned without one. */
function eventsIn(calendar: string): MailFacts['events'] {
  const blocks = calendar
    .slice(0, MAX_TEXT_CHARS)
    .split(/^BEGIN:VEVENT\s*$/im)
    .slice(1, MAX_FACTS + 1);
  return blocks.flatMap((block) => {
    const [start, end] = ['DTSTART', 'DTEND'].map((name) => timeIn(block, name));
    const status = /^STATUS:(CONFIRMED|TENTATIVE|CANCELLED)\s*$/im.exec(block)?.[1]?.toLowerCase() ?? null;
    return start === undefined ? [] : [{ start, end: end ?? null, status: status as 'confirmed' | null }];
  });
}

function timeIn(block: string, name: string): string | undefined {
  const value = new RegExp(`^${name}(?:;[^:\\n]{0,200})?:(\\d{8}(?:T\\d{6}Z?)?)\\s*$`, 'im').exec(block)?.[1];
  return value?.replace(/^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$/, (_, y, m, d, h, min, s, z) =>
    h === undefined ? `${y}-${m}-${d}` : `${y}-${m}-${d}T${h}:${min}:${s}${z}`,
  );
}
