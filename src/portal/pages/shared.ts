import { type Filled, field } from '../forms.ts';
import type { Html } from '../html.ts';

/** The last moment of a day as a date field gives it; what is no day is given on as it is, to be refused. */
export function endOf(date: string | undefined): string | undefined {
  return date !== undefined && /^\d{4}-\d\d-\d\d$/.test(date) ? `${date}T23:59:59Z` : date;
}

export function expiryField(id: string, { values, errors }: Filled): Html {
  const day = values['expiresAt']?.slice(0, 10) ?? '';
  const one = { name: 'expiresAt', id, label: 'Last day', type: 'date', optional: true } as const;
  return field({ ...one, hint: 'Without one it holds until it is revoked.' }, { errors, values: { expiresAt: day } });
}
