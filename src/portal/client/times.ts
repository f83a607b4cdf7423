import { languageAround } from './words.ts';

type TimeFormats = Readonly<Record<'minute' | 'second' | 'zone', Intl.DateTimeFormat>>;

const known = new Map<string, TimeFormats>();

/** Formats of a language. English pages have those of en-GB, as the server writes them. */
function formatsOf(language: string): TimeFormats {
  const locale = language === 'en' ? 'en-GB' : language;
  const made = known.get(locale) ?? {
    minute: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }),
    second: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' }),
    zone: new Intl.DateTimeFormat(locale, { timeZoneName: 'short' }),
  };
  known.set(locale, made);
  return made;
}

/** Shows times in the reader's zone, with its name. Dates without a time stay: they are days of the server. */
export function localizeTimes(root: ParentNode): void {
  for (const one of root.querySelectorAll<HTMLTimeElement>('time[data-local]')) {
    const at = new Date(one.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const formats = formatsOf(languageAround(one));
    const format = one.dataset['local'] === 'seconds' ? formats.second : formats.minute;
    one.textContent = `${format.format(at)} ${zoneOf(formats, at)}`;
    one.removeAttribute('data-local');
  }
}

function zoneOf({ zone }: TimeFormats, at: Date): string {
  return zone.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
}
