const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const SECONDS = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const ZONE = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' });

/** Shows times in the reader's zone, with its name. Dates without a time stay: they are days of the server. */
export function localizeTimes(root: ParentNode): void {
  for (const one of root.querySelectorAll<HTMLTimeElement>('time[data-local]')) {
    const at = new Date(one.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const format = one.dataset['local'] === 'seconds' ? SECONDS : TIME;
    one.textContent = `${format.format(at)} ${zoneOf(at)}`;
    one.removeAttribute('data-local');
  }
}

function zoneOf(at: Date): string {
  return ZONE.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
}
