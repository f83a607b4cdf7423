import type { listAgents } from '../../operations/agents/agents.ts';
import { hidden, select } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import { operationAction, type Page, actionButton, chooseForm, confirmedAction } from '../page.ts';
import { dateOnly, emptyState, pageHead, timestamp, table } from '../components.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';
import { undoAction, undoForm } from './agent-undo.ts';
import { canaryAlertList } from './canaries.ts';

type Agent = OutputOf<typeof listAgents>['agents'][number];

export const agents: Page = {
  path: '/agents',
  name: 'Agents',
  translated: true,
  menu: 'Programs',
  needs: 'list_agents',
  notForMembers: true,
  notices: {
    stopped: { message: 'agent.stopped' },
    released: { message: 'agent.released' },
    started: { message: 'agent.started' },
    set: { message: 'agent.set' },
    on: { message: 'digest.turned-on' },
    off: { message: 'digest.turned-off' },
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
    const t = translatorOf(visit.request);
    return html`${pageHead(t('page.Agents'), t('agent.about'))} ${await canaryAlertList(visit, t)}
    ${switches(t, visit, listed?.stoppedAt ?? null)}
    ${all.length === 0 ? emptyState(t('agent.none'), t('agent.none-text')) : agentTable(t, visit, all)}
    ${releaseForm(t, visit)} ${await undoForm(t, visit, state)} ${dailyLetter(t, visit, listed?.dailyLetter ?? null)}`;
  },
};

function switches(t: Translator, visit: Visit, stoppedAt: string | null): HtmlPart {
  if (stoppedAt === null) {
    return (
      isAllowed(visit, 'stop_agents') &&
      confirmedAction(visit, 'stop', {
        label: t('agent.stop'),
        question: t('agent.stop-question'),
        yes: t('agent.stop'),
      })
    );
  }
  const stopped = html`<strong>${t('agent.all-stopped')}</strong>`;
  return html`<div class="note warn">
    <p>${t.rich('agent.stopped-since', { stopped, time: timestamp(stoppedAt, t) })}</p>
    ${isAllowed(visit, 'start_agents') && actionButton(visit, 'start', t('agent.start'))}
  </div>`;
}

function releaseForm(t: Translator, visit: Visit): HtmlPart {
  return (
    isAllowed(visit, 'release_agent_mail') &&
    confirmedAction(visit, 'release', {
      label: t('agent.release'),
      question: t('agent.release-question'),
      yes: t('agent.release-button'),
    })
  );
}

/** Setting of the daily digest. Null for visitors who are not owners. */
function dailyLetter(t: Translator, visit: Visit, on: boolean | null): HtmlPart {
  if (on === null) return undefined;
  return html`<section>
    <h2>${t('digest.title')}</h2>
    <p>${t.rich('digest.about', { stop: html`<strong>STOP</strong>` })} ${!on && t('digest.off')}</p>
    ${on && !visit.visitor.person.addressProven && unproven(t)}
    ${actionButton(visit, 'letter', t(on ? 'digest.turn-off' : 'digest.turn-on'), { on: on ? 'no' : 'yes' })}
  </section>`;
}

function unproven(t: Translator): HtmlPart {
  const state = html`<strong>${t('digest.not-sent')}</strong>`;
  return html`<p>${t.rich('digest.unproven', { state })} <a href="/account">${t('overview.verify')}</a></p>`;
}

function agentTable(t: Translator, visit: Visit, all: readonly Agent[]): HtmlPart {
  return table(
    t('page.Agents'),
    [t('account.name'), t('agent.mode'), t('devices.last-used'), t('agent.read'), t('agent.sent')],
    all.map((one) => [
      [one.name, html` <span class="soft"><code>${one.prefix}...</code></span>`],
      isAllowed(visit, 'set_agent_mode') ? modeForm(t, visit, one) : t.english(one.mode),
      one.lastUsedAt === null ? html`<span>${t('devices.never')}</span>` : dateOnly(one.lastUsedAt, t),
      String(one.readToday),
      [String(one.sentToday), one.heldToday > 0 && heldNote(t, one.heldToday)],
    ]),
    t,
  );
}

function heldNote(t: Translator, count: number): HtmlPart {
  return html` <span class="soft">${t('agent.held', { count })}</span>`;
}

const MODES = ['normal', 'reply_only', 'draft_only', 'read_only', 'frozen'] as const;

function modeForm(t: Translator, visit: Visit, { tokenId, mode }: Agent): HtmlPart {
  const formState = { values: { mode }, errors: {} };
  const choices = MODES.map((value) => ({ value, label: t(`agent-mode.${value}`) }));
  const body = html`${hidden('tokenId', tokenId)}
  ${select({ name: 'mode', id: `mode-${tokenId}`, label: t('agent.mode'), choices }, formState)}`;
  return chooseForm(visit, 'mode', t('agent.set-button'), body);
}
