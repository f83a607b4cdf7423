import type { listAgents } from '../../operations/agents/agents.ts';
import { hidden, select } from '../forms.ts';
import { html, type Part } from '../html.ts';
import { acting, type Page, press, sheet, sure } from '../page.ts';
import { day, empty, head, moment, table } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';
import { undoAct, undoForm } from './agent-undo.ts';
import { tripped } from './canaries.ts';

type Agent = Answer<typeof listAgents>['agents'][number];

export const agents: Page = {
  path: '/agents',
  name: 'Agents',
  menu: 'Programs',
  needs: 'list_agents',
  notForMembers: true,
  done: {
    stopped: 'All agents are stopped. What they sent and had not left is held: look at it in the queue.',
    released: 'What was held when agents were stopped goes on, in the order in which it was sent.',
    started: 'Agents may work again, each in its own mode. What was held stays held.',
    set: 'The mode is changed; it holds from this moment on.',
    on: 'You get the daily letter from now on.',
    off: 'You get no daily letter any more.',
  },
  acts: {
    undo: undoAct,
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
    release: acting(
      'release_agent_mail',
      () => ({}),
      () => ({ kind: 'done', said: 'released' }),
    ),
    mode: acting(
      'set_agent_mode',
      (fields) => ({ tokenId: fields.text('tokenId'), mode: fields.text('mode') }),
      () => ({ kind: 'done', said: 'set' }),
    ),
    letter: acting(
      'set_daily_letter',
      (fields) => ({ on: fields.text('on') === 'yes' }),
      ({ on }) => ({ kind: 'done', said: on === true ? 'on' : 'off' }),
    ),
  },
  async show(visit, state) {
    const listed = await read<typeof listAgents>(visit, 'list_agents', {});
    const all = listed?.agents ?? [];
    const about = 'Who works here with a token: how each may work, and what it read and sent in 24 hours.';
    return html`${head('Agents', about)} ${await tripped(visit)} ${switches(visit, listed?.stoppedAt ?? null)}
    ${all.length === 0 ? NONE : agentTable(visit, all)} ${letGo(visit)} ${await undoForm(visit, state)}
    ${dailyLetter(visit, listed?.dailyLetter ?? null)}`;
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

function letGo(visit: Visit): Part {
  return (
    can(visit, 'release_agent_mail') &&
    sure(visit, 'release', {
      label: 'Let go what was held',
      question: 'All that was held when agents were stopped is sent now. Look at it in the queue before.',
      yes: 'Send it all',
    })
  );
}

/** Null: who looks at the page is no owner. */
function dailyLetter(visit: Visit, on: boolean | null): Part {
  if (on === null) return undefined;
  const off = 'You do not get it, and so not how the audit log ended either.';
  return html`<section>
    <h2>Daily letter</h2>
    <p>
      Each morning that follows a day on which agents did something, owners are mailed what that was. Who answers it
      with <strong>STOP</strong> stops all agents at once. ${!on && off}
    </p>
    ${on && !visit.visitor.person.addressProven && UNPROVEN}
    ${press(visit, 'letter', on ? 'Send me none' : 'Send it to me', { on: on ? 'no' : 'yes' })}
  </section>`;
}

const UNPROVEN = html`<p>
  <strong>None comes to you yet</strong>: your address is not proved. <a href="/account">Prove it</a>
</p>`;

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
