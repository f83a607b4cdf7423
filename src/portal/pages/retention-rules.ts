import type { getRetention } from '../../operations/retention/retention.ts';
import type { PageAction, ActionResult } from '../page.ts';
import { translatorOf } from '../translator.ts';
import { readOperation, runOperation, type OutputOf, type Visit } from '../visit.ts';

type Rules = OutputOf<typeof getRetention>['rules'];

/** A number of days from a form; other text is returned as it is, so that the operation names the field. */
export function daysIn(text: string | undefined): number | string | null {
  if (text === undefined) return null;
  return /^\d{1,6}$/.test(text) ? Number(text) : text;
}

/** Adds a rule for a folder, or replaces the one that it has. */
export const addRule: PageAction = Object.assign(
  async (visit: Visit, fields: Parameters<PageAction>[1]): Promise<ActionResult> => {
    const [folder, text] = [fields.line('folder') ?? '', fields.line('days') ?? ''];
    const days = daysIn(text);
    const rules = [...(await rulesOf(visit)).filter((rule) => rule.folder !== folder), { folder, days }];
    const done = await runOperation(visit, 'set_retention', { rules });
    if (done.kind === 'done') return { kind: 'done', notice: 'ruled' };
    const isOfDays = typeof days !== 'number' || days < 1 || days > 36_500;
    const form = isOfDays
      ? { errors: { days: translatorOf(visit.request)('retention.bad-days') } }
      : { errors: { folder: done.refusal.message }, errorLanguage: 'en' as const };
    return { kind: 'refused', form: { values: { folder, days: text }, ...form } };
  },
  { operation: 'set_retention' },
);

/** Removes the rule for a folder. */
export const removeRule: PageAction = Object.assign(
  async (visit: Visit, fields: Parameters<PageAction>[1]): Promise<ActionResult> => {
    const rules = (await rulesOf(visit)).filter(({ folder }) => folder !== fields.text('folder'));
    const done = await runOperation(visit, 'set_retention', { rules });
    if (done.kind === 'done') return { kind: 'done', notice: 'unruled' };
    return { kind: 'refused', form: { values: {}, errors: {}, problem: done.refusal.message, errorLanguage: 'en' } };
  },
  { operation: 'set_retention' },
);

async function rulesOf(visit: Visit): Promise<Rules> {
  return (await readOperation<typeof getRetention>(visit, 'get_retention', {}))?.rules ?? [];
}
