import type { listAgentTokens } from '../../operations/organization/tokens.ts';
import { select } from '../forms.ts';
import { type Html, html, type HtmlPart } from '../html.ts';
import { collapsedForm, formStateFor, type PageAction, type PageState, refusedForm } from '../page.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { isAllowed, readOperation, runOperation, type Visit } from '../visit.ts';

const HOUR_MS = 3_600_000;
/** Calls per button press; each undoes some hundred messages. */
const MAX_CALLS = 50;

/** Periods by their hours. */
const SINCE = [
  ['1', 'hour'],
  ['24', 'day'],
  ['168', 'week'],
  ['720', 'month'],
] as const;

/** Undoes the changes of one token and shows the totals. */
export const undoAction: PageAction = async (visit, fields) => {
  const given = { tokenId: fields.text('tokenId'), hours: fields.text('hours') };
  const hours = SINCE.some(([value]) => value === given.hours) ? Number(given.hours) : 1;
  const since = new Date(visit.context.clock() - hours * HOUR_MS).toISOString();
  const sums = { undone: 0, rulesUndone: 0, accessEnded: 0, kept: 0 };
  let cursor: unknown;
  for (let call = 0; call < MAX_CALLS && cursor !== null; call++) {
    const input = { tokenId: given.tokenId, since, ...(typeof cursor === 'string' && { cursor }) };
    const done = await runOperation(visit, 'undo_changes', input);
    if (done.kind === 'refused') {
      return { kind: 'refused', form: { ...refusedForm(given, done.refusal), errorLanguage: 'en' } };
    }
    const { undone, rulesUndone, rulesKept, accessEnded, kept, nextCursor } = done.result;
    sums.undone += Number(undone);
    sums.rulesUndone += Number(rulesUndone);
    sums.accessEnded += Number(accessEnded);
    sums.kept += Number(rulesKept) + (kept as readonly unknown[]).length;
    cursor = nextCursor;
  }
  return { kind: 'shown', panel: summary(translatorOf(visit.request), sums, cursor !== null) };
};

type Sums = Record<'undone' | 'rulesUndone' | 'accessEnded' | 'kept', number>;

function summary(t: Translator, { undone, rulesUndone, accessEnded, kept }: Sums, isMore: boolean): Html {
  const [messages, rules] = [t('undo.messages', { count: undone }), t('undo.rules', { count: rulesUndone })];
  return html`<div class="note" role="status">
    <p>
      <strong>${t('undo.undone')}</strong> ${t('undo.sums', { messages, rules })}
      ${accessEnded > 0 && t('undo.ended', { count: accessEnded })} ${kept > 0 && t('undo.kept', { count: kept })}
      ${isMore && t('undo.more')}
    </p>
  </div>`;
}

/** Form to undo. Lists revoked tokens too: they need it most. */
export async function undoForm(t: Translator, visit: Visit, state: PageState): Promise<HtmlPart> {
  if (!isAllowed(visit, 'undo_changes')) return undefined;
  const listed = await readOperation<typeof listAgentTokens>(visit, 'list_agent_tokens', { limit: 100 });
  if (listed === undefined || listed.tokens.length === 0) return undefined;
  const tokens = listed.tokens.map(({ id, name, revoked }) => ({
    value: id,
    label: revoked ? t('undo.revoked', { name }) : name,
  }));
  const periods = SINCE.map(([value, name]) => ({ value, label: t(`undo-since.${name}`) }));
  const formState = formStateFor(state, 'undo');
  return html`<section>
    <h2>${t('undo.title')}</h2>
    <p>${t('undo.about')}</p>
    ${collapsedForm(
      visit,
      state,
      'undo',
      t('undo.form'),
      t('undo.button'),
      html`${select({ name: 'tokenId', id: 'undo-token', label: t('token.name'), choices: tokens }, formState)}
      ${select({ name: 'hours', id: 'undo-hours', label: t('undo.period'), choices: periods, value: '24' }, formState)}`,
    )}
  </section>`;
}
