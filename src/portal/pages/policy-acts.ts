import type { Fields } from '../guard.ts';
import { type Act, acting, filledOf } from '../page.ts';
import { ask } from '../visit.ts';

/** What was written into a field for several names, one after another. */
function listOf(fields: Fields, name: string): string[] {
  return (fields.line(name) ?? '').split(/[\s,;]+/).filter((one) => one !== '');
}

export const make: Act = acting(
  'save_agent_policy',
  (fields) => ({
    name: fields.line('name'),
    preset: fields.line('preset'),
    sends: fields.line('sends'),
    allow: listOf(fields, 'allow'),
  }),
  () => ({ kind: 'done', said: 'made' }),
);

/** The form has all that it is about, so what is empty or not ticked is meant so. */
export const change: Act = async (visit, fields) => {
  const waits = fields.list('waits');
  const given = { policyId: fields.text('policyId'), name: fields.line('name'), sends: fields.text('sends') };
  const done = await ask(visit, 'save_agent_policy', {
    ...given,
    allow: listOf(fields, 'allow'),
    block: listOf(fields, 'block'),
    holdAfterReading: waits.includes('hold'),
    rulesWait: waits.includes('rules'),
  });
  if (done.kind === 'done') return { kind: 'done', said: 'changed' };
  return { kind: 'refused', filled: filledOf(given, done.refusal) };
};

/** The field has the id of a mailbox or of a token. */
export const attach: Act = acting(
  'attach_agent_policy',
  (fields) => {
    const target = fields.text('target');
    const which = target.startsWith('tok_') ? { tokenId: target } : { mailboxId: target };
    return { ...which, policyId: fields.line('policyId') };
  },
  () => ({ kind: 'done', said: 'attached' }),
);
