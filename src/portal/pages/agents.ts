import type { listAgents } from '../../operations/agents/agents.ts';
import { hidden, select } from '../forms.ts';
import { html, type HtmlPart, type Html } from '../html.ts';
import {
  operationAction,
  type Page,
  actionButton,
  chooseForm,
  confirmedAction,
  type PageAction,
  formStateFor,
  refusedForm,
  collapsedForm,
  type PageState,
} from '../page.ts';
import { dateOnly, emptyState, pageHead, timestamp, table } from '../components.ts';
import { type OutputOf, isAllowed, readOperation, type Visit, runOperation } from '../visit.ts';
import { canaryAlertList } from './canaries.ts';
import type { listAgentTokens } from '../../operations/organization/tokens.ts';

const HOUR_MS = 3_600_000;
/** Calls per button press; each undoes some hundred messages. */
const MAX_CALLS = 50;

const SINCE = [
  { value: '1', label: 'in the last hour' },
  { value: '24', label: 'in the last day' },
  { value: '168', label: 'in the last week' },
  { value: '720', label: 'in the last 30 days' },
];

/** Undoes the changes of one token and shows the totals. */
const undoAction: PageAction = async (visit, fields) => {
  const given = { tokenId: fields.text('tokenId'), hours: fields.text('hours') };
  const hours = SINCE.some(({ value }) => value === given.hours) ? Number(given.hours) : 1;
  const since = new Date(visit.context.clock() - hours * HOUR_MS).toISOString();
  const sums = { undone: 0, rulesUndone: 0, accessEnded: 0, kept: 0 };
  let cursor: unknown;
  for (let call = 0; call < MAX_CALLS && cursor !== null; call++) {
    const input = { tokenId: given.tokenId, since, ...(typeof cursor === 'string' && { cursor }) };
    const done = await runOperation(visit, 'undo_changes', input);
    if (done.kind === 'refused') return { kind: 'refused', form: refusedForm(given, done.refusal) };
    const { undone, rulesUndone, rulesKept, accessEnded, kept, nextCursor } = done.result;
    sums.undone += Number(undone);
    sums.rulesUndone += Number(rulesUndone);
    sums.accessEnded += Number(accessEnded);
    sums.kept += Number(rulesKept) + (kept as readonly unknown[]).length;
    cursor = nextCursor;
  }
  return { kind: 'shown', panel: summary(sums, cursor !== null) };
};

type Sums = Record<'undone' | 'rulesUndone' | 'accessEnded' | 'kept', number>;

function summary({ undone, rulesUndone, accessEnded, kept }: Sums, isMore: boolean): Html {
  return html`<div class="note" role="status">
    <p>
      <strong>Undone:</strong> ${undone} ${undone === 1 ? 'message' : 'messages'}, ${rulesUndone}
      ${rulesUndone === 1 ? 'rule' : 'rules'}.
      ${accessEnded > 0 && `${accessEnded} keys, passwords and tokens that it created were revoked.`}
      ${kept > 0 && `${kept} were not undone: changed by others since, or the previous state no longer exists.`}
      ${isMore && 'More changes remain. Undo again.'}
    </p>
  </div>`;
}

/** Form to undo. Lists revoked tokens too: they need it most. */
async function undoForm(visit: Visit, state: PageState): Promise<HtmlPart> {
  if (!isAllowed(visit, 'undo_changes')) return undefined;
  const listed = await readOperation<typeof listAgentTokens>(visit, 'list_agent_tokens', { limit: 100 });
  if (listed === undefined || listed.tokens.length === 0) return undefined;
  const choices = listed.tokens.map(({ id, name, revoked }) => ({
    value: id,
    label: revoked ? `${name} (revoked)` : name,
  }));
  const formState = formStateFor(state, 'undo');
  return html`<section>
    <h2>Undo</h2>
    <p>
      Restores messages that one token moved, flagged, labeled or deleted, and rules, forwards, webhooks, aliases and
      templates that it set. Revokes API keys, app passwords and tokens that it created. Changes by others since then
      stay, as does an alias that has received mail. Not undone: sent mail, created mailboxes, changed mailbox passwords
      and invitations. Check these yourself.
    </p>
    ${collapsedForm(
      visit,
      state,
      'undo',
      'Undo the changes of a token',
      'Undo',
      html`${select({ name: 'tokenId', id: 'undo-token', label: 'Token', choices }, formState)}
      ${select({ name: 'hours', id: 'undo-hours', label: 'Period', choices: SINCE, value: '24' }, formState)}`,
    )}
  </section>`;
}

type Agent = OutputOf<typeof listAgents>['agents'][number];

export const agents: Page = {
  path: '/agents',
  name: 'Agents',
  menu: 'Programs',
  needs: 'list_agents',
  notForMembers: true,
  notices: {
    stopped: 'All agents are stopped. Their queued mail is held: review it in the queue.',
    released: 'Mail held when agents were stopped is released, in its original order.',
    started: 'Agents are active again, each in its own mode. Held mail stays held.',
    set: 'Mode changed. It applies at once.',
    on: 'Daily digest turned on.',
    off: 'Daily digest turned off.',
  },
  actions: {
    undo: undoAction,
    stop: operationAction('stop_agents', 'stopped'),
    start: operationAction('start_agents', 'started'),
    release: operationAction('release_agent_mail', 'released'),
    mode: operationAction('set_agent_mode', 'set', ['tokenId', 'mode']),
    letter: operationAction(
      'set_daily_letter',
      ({ on }) => ({ kind: 'done', notice: on === true ? 'on' : 'off' }),
      (fields) => ({ on: fields.text('on') === 'yes' }),
    ),
  },
  async show(visit, state) {
    const listed = await readOperation<typeof listAgents>(visit, 'list_agents', {});
    const all = listed?.agents ?? [];
    const about = 'Tokens in use, with mode and the mail read and sent in 24 hours.';
    return html`${pageHead('Agents', about)} ${await canaryAlertList(visit)}
    ${switches(visit, listed?.stoppedAt ?? null)} ${all.length === 0 ? NONE : agentTable(visit, all)}
    ${releaseForm(visit)} ${await undoForm(visit, state)} ${dailyLetter(visit, listed?.dailyLetter ?? null)}`;
  },
};

const NONE = emptyState('No agents', 'Create a token for each agent on the page Tokens.');

function switches(visit: Visit, stoppedAt: string | null): HtmlPart {
  if (stoppedAt === null) {
    return (
      isAllowed(visit, 'stop_agents') &&
      confirmedAction(visit, 'stop', {
        label: 'Stop all agents',
        question: 'All tokens of this organization are refused at once, and queued mail of agents is held.',
        yes: 'Stop all agents',
      })
    );
  }
  return html`<div class="note warn">
    <p><strong>All agents are stopped</strong> since ${timestamp(stoppedAt)}.</p>
    ${isAllowed(visit, 'start_agents') && actionButton(visit, 'start', 'Start agents')}
  </div>`;
}

function releaseForm(visit: Visit): HtmlPart {
  return (
    isAllowed(visit, 'release_agent_mail') &&
    confirmedAction(visit, 'release', {
      label: 'Release held mail',
      question: 'Sends all mail that was held when agents were stopped. Review it in the queue first.',
      yes: 'Release all',
    })
  );
}

/** Setting of the daily digest. Null for visitors who are not owners. */
function dailyLetter(visit: Visit, on: boolean | null): HtmlPart {
  if (on === null) return undefined;
  const off = 'It is turned off, so you do not receive the last hash of the audit log either.';
  return html`<section>
    <h2>Daily digest</h2>
    <p>
      Owners receive an email each morning after a day with agent activity. Reply <strong>STOP</strong> to stop all
      agents at once. ${!on && off}
    </p>
    ${on && !visit.visitor.person.addressProven && UNPROVEN}
    ${actionButton(visit, 'letter', on ? 'Turn off' : 'Turn on', { on: on ? 'no' : 'yes' })}
  </section>`;
}

const UNPROVEN = html`<p>
  <strong>Not sent yet</strong>: your address is not verified. <a href="/account">Verify it</a>
</p>`;

function agentTable(visit: Visit, all: readonly Agent[]): HtmlPart {
  return table(
    'Agents',
    ['Name', 'Mode', 'Last used', 'Read', 'Sent'],
    all.map((one) => [
      [one.name, html` <span class="soft"><code>${one.prefix}...</code></span>`],
      isAllowed(visit, 'set_agent_mode') ? modeForm(visit, one) : one.mode,
      one.lastUsedAt === null ? html`<span>Never</span>` : dateOnly(one.lastUsedAt),
      String(one.readToday),
      [String(one.sentToday), one.heldToday > 0 && html` <span class="soft">${one.heldToday} held</span>`],
    ]),
  );
}

const MODES = [
  { value: 'normal', label: 'Normal' },
  { value: 'reply_only', label: 'Replies only' },
  { value: 'draft_only', label: 'Drafts only' },
  { value: 'read_only', label: 'Read only' },
  { value: 'frozen', label: 'Frozen' },
];

function modeForm(visit: Visit, { tokenId, mode }: Agent): HtmlPart {
  const formState = { values: { mode }, errors: {} };
  const body = html`${hidden('tokenId', tokenId)}
  ${select({ name: 'mode', id: `mode-${tokenId}`, label: 'Mode', choices: MODES }, formState)}`;
  return chooseForm(visit, 'mode', 'Set', body);
}
