import { reloadThread, setKeyword } from './actions.ts';
import { actOnAgent, type ChangeByAgent, openAgents, type ShownAgent } from './agents.ts';
import { fullTime, withoutMarks } from './format.ts';
import { folders, openThread } from './mail-state.ts';
import { attempt, hideNotice, showNotice } from './notices.ts';
import { html } from './view.ts';

/** Name of an agent, without characters that change the direction of the line. */
export function agentName(id: string): string {
  return withoutMarks(openAgents().agents[id]?.name ?? id);
}

/** Notes about agents above the open thread: a claim of it, and changes with their undo. */
export function AgentNotes() {
  const { claim, changes, thread } = openAgents();
  const byAgent = Map.groupBy(changes, ({ agent }) => agent);
  return html`${
    claim !== null &&
    html`<div class="agent-note" role="group" aria-label="Claim of an agent">
      <p>
        Agent <strong>${agentName(claim.agent)}</strong> is answering this conversation, until
        ${` ${fullTime(claim.until)}`}.
      </p>
      <div class="buttons">
        <button type="button" class="small" onClick=${() => void takeOver(thread)}>Take over</button>
        <${PauseButton} id=${claim.agent} />
      </div>
    </div>`
  }
  ${[...byAgent].map(([agent, list]) => html`<${Changes} key=${agent} agent=${agent} list=${list} />`)}`;
}

function Changes({ agent, list }: { agent: string; list: readonly ChangeByAgent[] }) {
  return html`<details class="agent-note" aria-label="Changes by an agent">
    <summary>Agent <strong>${agentName(agent)}</strong> changed this conversation: ${summaryOf(list)}.</summary>
    <ul>
      ${list.map((one) => html`<li>${sentenceOf(one)} <span class="soft">${fullTime(one.at)}</span></li>`)}
    </ul>
    <div class="buttons">
      <button type="button" class="small" onClick=${() => void undoChanges(agent)}>Undo its changes</button>
      <${PauseButton} id=${agent} />
    </div>
  </details>`;
}

function summaryOf(list: readonly ChangeByAgent[]): string {
  const newest = list[0];
  const first = newest === undefined ? '' : sentenceOf(newest);
  return list.length === 1 ? first : `${first}, and ${list.length - 1} more`;
}

const nameOfFolder = (id: string): string => {
  const folder = folders.value.find((one) => one.id === id);
  return folder === undefined ? 'a deleted folder' : folder.role === 'inbox' ? 'Inbox' : folder.name;
};

const FLAGS: Readonly<Record<string, string>> = {
  $seen: 'read',
  $answered: 'answered',
  $flagged: 'starred',
  $draft: 'draft',
  $done: 'done',
  $claimed: 'claimed',
  $junk: 'junk',
  $notjunk: 'not junk',
};

/** One change as a clause, such as `moved to "Archive"`. */
function sentenceOf({ from, to, added, removed }: ChangeByAgent): string {
  const moves =
    to.length > 0
      ? [`moved to "${to.map(nameOfFolder).join('", "')}"`]
      : from.length > 0
        ? [`removed from "${from.map(nameOfFolder).join('", "')}"`]
        : [];
  const marks = added.map((one) => `marked as ${FLAGS[one] ?? `"${one}"`}`);
  const unmarks = removed.map((one) => `no longer marked as ${FLAGS[one] ?? `"${one}"`}`);
  return [...moves, ...marks, ...unmarks].join(', ');
}

function takeOver(thread: string): Promise<void> {
  return attempt(async () => {
    const { email } = await actOnAgent('take-over', { thread });
    await reloadThread();
    const done = openThread.value.filter(({ id }) => id === email);
    showNotice('This conversation is yours: no agent answers it.', async () => {
      await setKeyword(done, '$done', false);
      hideNotice();
    });
  });
}

function undoChanges(agent: string): Promise<void> {
  return attempt(async () => {
    // Its name is not known any more when nothing of it is left.
    const name = agentName(agent);
    const { kept } = await actOnAgent('undo', { thread: openAgents().thread, agent });
    await reloadThread();
    showNotice(
      Number(kept) === 0 ? `Changes by ${name} undone.` : `Undone, except what others changed since (${String(kept)}).`,
    );
  });
}

/** Pauses an agent, or lets it work again; for owners and administrators. */
export function PauseButton({ id }: { id: string }) {
  const agent = openAgents().agents[id];
  if (agent === undefined || !agent.mayPause) return null;
  return agent.mode === 'frozen'
    ? html`<button type="button" class="small" onClick=${() => void setMode(id, 'normal')}>Let it work again</button>`
    : html`<button type="button" class="small" onClick=${() => void pause(id, agent)}>Pause this agent</button>`;
}

function pause(id: string, { mode }: ShownAgent): Promise<void> {
  return attempt(async () => {
    await setMode(id, 'frozen');
    showNotice(`Agent ${agentName(id)} is paused, and its unsent mail is held.`, async () => {
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
