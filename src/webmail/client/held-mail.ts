import { reloadThread } from './actions.ts';
import { agentDisplayName, PauseButton } from './agent-notes.ts';
import { actOnAgent, type HeldMail, openAgents } from './agents.ts';
import { fullTime, withoutMarks } from './format.ts';
import type { FullEmail } from './jmap-types.ts';
import { attempt, showNotice } from './notices.ts';
import { dropLoadedThreads, refreshList } from './thread-list.ts';
import { rich } from './rich-message.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

/** Says which agent wrote a message, and asks for the approval of one that waits for it. */
export function AgentOfMessage({ email }: { email: FullEmail }) {
  const { written, approvals } = openAgents();
  const held = approvals[email.id];
  if (held?.state === 'pending') return html`<${ApprovalBar} email=${email} held=${held} />`;
  const agent = held?.agent ?? written[email.id];
  if (agent === undefined) return null;
  return html`<div class="agent-note" role="group" aria-label=${t('agent.agent')}>
    <p>
      ${rich('agent.written-by', { agent: html`<strong>${agentDisplayName(agent)}</strong>` })}
      ${held !== undefined && decisionOf(held)}
    </p>
    <div class="buttons"><${PauseButton} id=${agent} /></div>
  </div>`;
}

function decisionOf({ state, decidedBy }: HeldMail): string {
  const name = decidedBy === null ? undefined : withoutMarks(decidedBy);
  switch (state) {
    case 'approved':
      return name === undefined ? t('decision.approved') : t('decision.approved-by', { name });
    case 'denied':
      return name === undefined ? t('decision.denied') : t('decision.denied-by', { name });
    case 'expired':
      return t('decision.expired');
    default:
      return state === 'withdrawn' ? t('decision.withdrawn') : '';
  }
}

/** The question whether a message of an agent may leave, with what is unusual about it. */
function ApprovalBar({ email, held }: { email: FullEmail; held: HeldMail }) {
  const { mayDecide } = openAgents();
  return html`<div class="agent-note ask" role="group" aria-label=${t('agent.approval')}>
    <p>
      ${rich('agent.wants-to-send', {
        agent: html`<strong>${agentDisplayName(held.agent)}</strong>`,
        recipients: held.recipients.map(withoutMarks).join(', '),
      })}
    </p>
    <ul>
      ${held.reasons.map((why) => html`<li lang="en">${why}</li>`)}
      ${[...new Set(held.hadRead.map(readingOf))].map((text) => html`<li>${text}</li>`)}
      <li class="soft">${t('agent.expires', { time: fullTime(held.expiresAt) })}</li>
    </ul>
    ${mayDecide ? html`<${DecisionButtons} email=${email} held=${held} />` : html`<p class="soft">${t('agent.not-yours')}</p>`}
  </div>`;
}

function readingOf({ author: given, authentic }: HeldMail['hadRead'][number]): string {
  const author = given === '' ? t('agent.unnamed') : withoutMarks(given);
  return authentic ? t('agent.had-read', { author }) : t('agent.had-read-unauthenticated', { author });
}

function DecisionButtons({ email, held }: { email: FullEmail; held: HeldMail }) {
  const reject = html`<button type="button" class="small" onClick=${() => void decide(email, 'reject')}>
    ${t('agent.reject')}
  </button>`;
  return html`<div class="buttons">
    ${
      held.page === null
        ? html`<button type="button" class="primary small" onClick=${() => void decide(email, 'approve')}>
            ${t('agent.approve')}
          </button>`
        : html`<a class="button small" href=${held.page}>${t('agent.approve-portal')}</a>`
    }
    ${reject}
    <${PauseButton} id=${held.agent} />
  </div>`;
}

function decide({ id }: FullEmail, verb: 'approve' | 'reject'): Promise<void> {
  return attempt(async () => {
    await actOnAgent('decide', { email: id, verb });
    dropLoadedThreads();
    await Promise.all([refreshList(), reloadThread()]);
    showNotice(verb === 'approve' ? t('agent.did-approve') : t('agent.did-reject'));
  });
}
