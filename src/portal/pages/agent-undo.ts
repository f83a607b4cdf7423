import type { listAgentTokens } from '../../operations/organization/tokens.ts';
import { select } from '../forms.ts';
import { html, type Html, type Part } from '../html.ts';
import { type Act, filledFor, filledOf, more, type State } from '../page.ts';
import { ask, can, read, type Visit } from '../visit.ts';

const HOUR_MS = 3_600_000;
/** Calls of one press; each undoes some hundred messages. */
const MOST_CALLS = 50;

const SINCE = [
  { value: '1', label: 'in the last hour' },
  { value: '24', label: 'in the last day' },
  { value: '168', label: 'in the last week' },
  { value: '720', label: 'in the last 30 days' },
];

/** Undoes what one token did, and shows how much that was. */
export const undoAct: Act = async (visit, fields) => {
  const given = { tokenId: fields.text('tokenId'), hours: fields.text('hours') };
  const hours = SINCE.some(({ value }) => value === given.hours) ? Number(given.hours) : 1;
  const since = new Date(visit.world.clock() - hours * HOUR_MS).toISOString();
  const sums = { undone: 0, rulesUndone: 0, accessEnded: 0, kept: 0 };
  let cursor: unknown;
  for (let call = 0; call < MOST_CALLS && cursor !== null; call++) {
    const input = { tokenId: given.tokenId, since, ...(typeof cursor === 'string' && { cursor }) };
    const done = await ask(visit, 'undo_changes', input);
    if (done.kind === 'refused') return { kind: 'refused', filled: filledOf(given, done.refusal) };
    const { undone, rulesUndone, rulesKept, accessEnded, kept, nextCursor } = done.result;
    sums.undone += Number(undone);
    sums.rulesUndone += Number(rulesUndone);
    sums.accessEnded += Number(accessEnded);
    sums.kept += Number(rulesKept) + (kept as readonly unknown[]).length;
    cursor = nextCursor;
  }
  return { kind: 'shown', panel: told(sums, cursor !== null) };
};

type Sums = Record<'undone' | 'rulesUndone' | 'accessEnded' | 'kept', number>;

function told({ undone, rulesUndone, accessEnded, kept }: Sums, isMore: boolean): Html {
  return html`<div class="note" role="status">
    <p>
      <strong>Undone:</strong> ${undone} ${undone === 1 ? 'message' : 'messages'}, ${rulesUndone}
      ${rulesUndone === 1 ? 'rule' : 'rules'}.
      ${accessEnded > 0 && `${accessEnded} of the keys, passwords and tokens that it made ended.`}
      ${kept > 0 && `${kept} stay as they are: others have changed them since, or what was before is not there any more.`}
      ${isMore && 'There is more: press again.'}
    </p>
  </div>`;
}

/** The form of it; tokens that were revoked are where it is needed most. */
export async function undoForm(visit: Visit, state: State): Promise<Part> {
  if (!can(visit, 'undo_changes')) return undefined;
  const listed = await read<typeof listAgentTokens>(visit, 'list_agent_tokens', { limit: 100 });
  if (listed === undefined || listed.tokens.length === 0) return undefined;
  const choices = listed.tokens.map(({ id, name, revoked }) => ({
    value: id,
    label: revoked ? `${name} (revoked)` : name,
  }));
  const filled = filledFor(state, 'undo');
  return html`<section>
    <h2>Undo</h2>
    <p>
      What one token moved, marked, labelled or deleted, and the rules, forwards, webhooks, aliases and templates that
      it set, are as they were before. API keys, app passwords and tokens that it made end. What others changed since
      stays, and so does an alias that has taken mail. Mail that has left, mailboxes that it made, mailbox passwords
      that it changed and people whom it invited are yours to look at.
    </p>
    ${more(
      visit,
      state,
      'undo',
      'Undo what a token did',
      'Undo it',
      html`${select({ name: 'tokenId', id: 'undo-token', label: 'Token', choices }, filled)}
      ${select({ name: 'hours', id: 'undo-hours', label: 'What it did', choices: SINCE, value: '24' }, filled)}`,
    )}
  </section>`;
}
