import { reloadThread } from './actions.ts';
import { agentName, PauseButton } from './agent-notes.ts';
import { actOnAgent, type HeldMail, openAgents } from './agents.ts';
import { fullTime, withoutMarks } from './format.ts';
import type { FullEmail } from './jmap-types.ts';
import { attempt, showNotice } from './notices.ts';
import { dropLoadedThreads, refreshList } from './thread-list.ts';
import { html } from './view.ts';

const DECIDED: Readonly<Record<string, string>> = {
  approved: 'Approved',
  denied: 'Rejected',
  expired: 'Expired: nobody approved it within 24 hours. It was not sent.',
  withdrawn: 'Withdrawn by the agent. It was not sent.',
};

/** Says which agent wrote a message, and asks for the approval of one that waits for it. */
export function AgentOfMessage({ email }: { email: FullEmail }) {
  const { written, approvals } = openAgents();
  const held = approvals[email.id];
  if (held?.state === 'pending') return html`<${ApprovalBar} email=${email} held=${held} />`;
  const agent = held?.agent ?? written[email.id];
  if (agent === undefined) return null;
  return html`<div class="agent-note" role="group" aria-label="Agent">
    <p>Written by agent <strong>${agentName(agent)}</strong>. ${held !== undefined && decisionOf(held)}</p>
    <div class="buttons"><${PauseButton} id=${agent} /></div>
  </div>`;
}

function decisionOf({ state, decidedBy }: HeldMail): string {
  const text = DECIDED[state] ?? '';
  return decidedBy === null ? text : `${text} by ${withoutMarks(decidedBy)}.`;
}

/** The question whether a message of an agent may leave, with what is unusual about it. */
function ApprovalBar({ email, held }: { email: FullEmail; held: HeldMail }) {
  const { mayDecide } = openAgents();
  return html`<div class="agent-note ask" role="group" aria-label="Approval">
    <p>
      Agent <strong>${agentName(held.agent)}</strong> wants to send this to
      ${` ${held.recipients.map(withoutMarks).join(', ')}`}.
    </p>
    <ul>
      ${held.reasons.map((why) => html`<li>${why}</li>`)}
      ${held.hadRead.map(
        ({ author, authentic }) =>
          html`<li>
            It had read mail from ${withoutMarks(author === '' ? 'an unnamed sender' : author)}
            ${authentic ? '' : ' (not authenticated)'}
          </li>`,
      )}
      <li class="soft">Expires ${fullTime(held.expiresAt)}. Approve only what you would have written yourself.</li>
    </ul>
    ${mayDecide ? html`<${DecisionButtons} email=${email} held=${held} />` : html`<p class="soft">${NOT_YOURS}</p>`}
  </div>`;
}

const NOT_YOURS =
  'Agents may use the password of this session, or the mailbox is not assigned to you. An owner approves it in the portal.';

function DecisionButtons({ email, held }: { email: FullEmail; held: HeldMail }) {
  const reject = html`<button type="button" class="small" onClick=${() => void decide(email, 'reject')}>
    Reject
  </button>`;
  return html`<div class="buttons">
    ${
      held.page === null
        ? html`<button type="button" class="primary small" onClick=${() => void decide(email, 'approve')}>
            Approve and send
          </button>`
        : html`<a class="button small" href=${held.page}>Approve with your password</a>`
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
    showNotice(verb === 'approve' ? 'Approved: the message is being sent.' : 'Rejected: the message is not sent.');
  });
}
