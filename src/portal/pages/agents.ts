import type { listAgents } from '../../operations/agents/agents.ts';
import { hidden, select } from '../forms.ts';
import { html, type Part } from '../html.ts';
import { acting, type Page, press, sheet, sure } from '../page.ts';
import { day, empty, head, moment, table } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';

type Agent = Answer<typeof listAgents>['agents'][number];

export const agents: Page = {
  path: '/agents',
  name: 'Agents',
  menu: 'Programs',
  needs: 'list_agents',
  notForMembers: true,
  done: {
    stopped: 'All agents are stopped. What they sent and had not left is held: look at it in the queue.',
    started: 'Agents may work again, each in its own mode. What was held stays held.',
    set: 'The mode is changed; it holds from this moment on.',
  },
  acts: {
    stop: acting(
      'stop_agents',
      () => ({}),
      () => ({ kind: 'done', said: 'stopped' }),
    ),
    start: acting(
      'start_agents',
      () => ({}),
      () => ({ kind: 'done', said: 'started' }),
    ),
    mode: acting(
      'set_agent_mode',
      (fields) => ({ tokenId: fields.text('tokenId'), mode: fields.text('mode') }),
      () => ({ kind: 'done', said: 'set' }),
    ),
  },
  async show(visit) {
    const listed = await read<typeof listAgents>(visit, 'list_agents', {});
    const all = listed?.agents ?? [];
    const about = 'Who works here with a token: how each may work, and what it read and sent in 24 hours.';
    return html`${head('Agents', about)} ${switches(visit, listed?.stoppedAt ?? null)}
    ${all.length === 0 ? NONE : agentTable(visit, all)}`;
  },
};

const NONE = empty('No agent yet', 'Mint a token for each on the page Tokens.');

function switches(visit: Visit, stoppedAt: string | null): Part {
  if (stoppedAt === null) {
    return (
      can(visit, 'stop_agents') &&
      sure(visit, 'stop', {
        label: 'Stop everything',
        question:
          'Every token of this organization is refused from this moment on, and what agents sent and has not left is held.',
        yes: 'Stop all agents',
      })
    );
  }
  return html`<div class="note warn">
    <p><strong>All agents are stopped</strong> since ${moment(stoppedAt)}.</p>
    ${can(visit, 'start_agents') && press(visit, 'start', 'Let them work again')}
  </div>`;
}

function agentTable(visit: Visit, all: readonly Agent[]): Part {
  return table(
    'Agents',
    ['Name', 'Mode', 'Last used', 'Read', 'Sent'],
    all.map((one) => [
      [one.name, html` <span class="soft"><code>${one.prefix}...</code></span>`],
      can(visit, 'set_agent_mode') ? modeForm(visit, one) : one.mode,
      one.lastUsedAt === null ? html`<span>never</span>` : day(one.lastUsedAt),
      String(one.readToday),
      [String(one.sentToday), one.heldToday > 0 && html` <span class="soft">${one.heldToday} held</span>`],
    ]),
  );
}

const MODES = [
  { value: 'normal', label: 'as its token may' },
  { value: 'reply_only', label: 'only answers' },
  { value: 'draft_only', label: 'only drafts' },
  { value: 'read_only', label: 'only reads' },
  { value: 'frozen', label: 'frozen' },
];

function modeForm(visit: Visit, { tokenId, mode }: Agent): Part {
  const filled = { values: { mode }, errors: {} };
  const body = html`${hidden('tokenId', tokenId)}
  ${select({ name: 'mode', id: `mode-${tokenId}`, label: 'Mode', choices: MODES }, filled)}`;
  return sheet(visit, 'mode', 'Set', body);
}
