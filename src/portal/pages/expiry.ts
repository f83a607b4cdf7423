import { type FormState, field } from '../forms.ts';
import type { Translator } from '../translator.ts';
import type { Html } from '../html.ts';

/** Last second of a day, UTC. Passes other text on unchanged, for the operation to refuse. */
export function endOfDay(date: string | undefined): string | undefined {
  return date !== undefined && /^\d{4}-\d\d-\d\d$/.test(date) ? `${date}T23:59:59Z` : date;
}

export function expiryField(id: string, { values, errors }: FormState, t: Translator): Html {
  const day = values['expiresAt']?.slice(0, 10) ?? '';
  const one = {
    name: 'expiresAt',
    id,
    label: t('access.last-day'),
    type: 'date',
    optional: t('field.optional'),
  } as const;
  return field({ ...one, hint: t('access.last-day-hint') }, { errors, values: { expiresAt: day } });
}
