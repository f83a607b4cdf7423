import { reloadThread, setKeyword } from './actions.ts';
import { actOnAgent, type ChangeByAgent, openAgents, type ShownAgent } from './agents.ts';
import { folderName } from './folder-names.ts';
import { fullTime, withoutMarks } from './format.ts';
import { folders, openThread } from './mail-state.ts';
import type { PlainKey } from './message-types.ts';
import { attempt, hideNotice, showNotice } from './notices.ts';
import { rich } from './rich-message.ts';
import { listed, t } from './translate.ts';
import { html } from './view.ts';

/** Name of an agent, without characters that change the direction of the line. */
export function agentDisplayName(id: string): string {
  return withoutMarks(openAgents().agents[id]?.name ?? id);
}

/** Notes about agents above the open thread: a claim of it, and changes with their undo. */
export function AgentNotes() {
  const { claim, changes, thread } = openAgents();
  const byAgent = Map.groupBy(changes, ({ agent }) => agent);
  return html`${
    claim !== null &&
    html`<div class="agent-note" role="group" aria-label=${t('agent.claim')}>
      <p>
        ${rich('agent.is-answering', { agent: html`<strong>${agentDisplayName(claim.agent)}</strong>`, time: fullTime(claim.until) })}
      </p>
      <div class="buttons">
        <button type="button" class="small" onClick=${() => void takeOver(thread)}>${t('agent.take-over')}</button>
        <${PauseButton} id=${claim.agent} />
      </div>
    </div>`
  }
  ${[...byAgent].map(([agent, list]) => html`<${Changes} key=${agent} agent=${agent} list=${list} />`)}`;
}

function Changes({ agent, list }: { agent: string; list: readonly ChangeByAgent[] }) {
  return html`<details class="agent-note" aria-label=${t('agent.changes')}>
    <summary>
      ${rich('agent.changed', { agent: html`<strong>${agentDisplayName(agent)}</strong>`, changes: summaryOf(list) })}
    </summary>
    <ul>
      ${list.map((one) => html`<li>${sentenceOf(one)} <span class="soft">${fullTime(one.at)}</span></li>`)}
    </ul>
    <div class="buttons">
      <button type="button" class="small" onClick=${() => void undoChanges(agent)}>${t('agent.undo-changes')}</button>
      <${PauseButton} id=${agent} />
    </div>
  </details>`;
}

function summaryOf(list: readonly ChangeByAgent[]): string {
  const newest = list[0];
  const first = newest === undefined ? '' : sentenceOf(newest);
  return list.length === 1 ? first : t('agent.and-more', { first, count: list.length - 1 });
}

const nameOfFolder = (id: string): string => {
  const folder = folders.value.find((one) => one.id === id);
  return folder === undefined ? t('folder.deleted') : folderName(folder);
};

const FLAGS: Readonly<Record<string, PlainKey>> = {
  $seen: 'mark.seen',
  $answered: 'mark.answered',
  $flagged: 'mark.flagged',
  $draft: 'mark.draft',
  $done: 'mark.done',
  $claimed: 'mark.claimed',
  $junk: 'mark.junk',
  $notjunk: 'mark.not-junk',
};

const foldersOf = (ids: readonly string[]): string => listed(ids.map((id) => `"${nameOfFolder(id)}"`));

function markName(keyword: string): string {
  const known = FLAGS[keyword];
  return known === undefined ? `"${keyword}"` : t(known);
}

/** One change as a clause, such as `moved to "Archive"`. */
function sentenceOf({ from, to, added, removed }: ChangeByAgent): string {
  const moves =
    to.length > 0
      ? [t('agent.moved-to', { folders: foldersOf(to) })]
      : from.length > 0
        ? [t('agent.removed-from', { folders: foldersOf(from) })]
        : [];
  const marks = added.map((one) => t('agent.marked', { mark: markName(one) }));
  const unmarks = removed.map((one) => t('agent.no-longer-marked', { mark: markName(one) }));
  return listed([...moves, ...marks, ...unmarks]);
}

function takeOver(thread: string): Promise<void> {
  return attempt(async () => {
    const { email } = await actOnAgent('take-over', { thread });
    await reloadThread();
    const done = openThread.value.filter(({ id }) => id === email);
    showNotice(t('agent.yours'), async () => {
      await setKeyword(done, '$done', false);
      hideNotice();
    });
  });
}

function undoChanges(agent: string): Promise<void> {
  return attempt(async () => {
    // Its name is not known any more when nothing of it is left.
    const name = agentDisplayName(agent);
    const { kept } = await actOnAgent('undo', { thread: openAgents().thread, agent });
    await reloadThread();
    showNotice(
      Number(kept) === 0 ? t('agent.undone', { agent: name }) : t('agent.undone-except', { count: Number(kept) }),
    );
  });
}

/** Pauses an agent, or lets it work again; for owners and administrators. */
export function PauseButton({ id }: { id: string }) {
  const agent = openAgents().agents[id];
  if (agent === undefined || !agent.mayPause) return null;
  return agent.mode === 'frozen'
    ? html`<button type="button" class="small" onClick=${() => void setMode(id, 'normal')}>
        ${t('agent.let-work')}
      </button>`
    : html`<button type="button" class="small" onClick=${() => void pause(id, agent)}>${t('agent.pause')}</button>`;
}

function pause(id: string, { mode }: ShownAgent): Promise<void> {
  return attempt(async () => {
    await setMode(id, 'frozen');
    showNotice(t('agent.paused', { agent: agentDisplayName(id) }), async () => {
      await setMode(id, mode ?? 'normal');
      hideNotice();
    });
  });
}

function setMode(agent: string, mode: string): Promise<void> {
  return attempt(async () => {
    await actOnAgent('mode', { agent, mode });
    await reloadThread();
  });
}
