import type { Asking } from './asking.ts';
import type { Circle, Recipient } from './circle.ts';
import { covers } from './patterns.ts';
import type { AgentMode, AgentPolicy, AgentStop } from './types.ts';
import { naming } from './why.ts';

/** What the mode and the policy of an agent forbid, whatever it has read; undefined: nothing. */
export function ruleOut({ agent, circle }: Asking): AgentStop | undefined {
  return byMode(circle, agent.mode) ?? byPolicy(circle, agent.policy);
}

const MODE_TEXT: Record<Exclude<AgentMode, 'normal' | 'reply_only'>, string> = {
  frozen: 'It is frozen and sends nothing: a person has to set it going again on the page Agents',
  read_only: 'It only reads, so it sends nothing: a person can change its mode on the page Agents',
  draft_only: 'It only writes drafts: save this as a draft, which a person can send',
};

function byMode(circle: Circle, mode: AgentMode): AgentStop | undefined {
  if (mode === 'normal') return undefined;
  if (mode !== 'reply_only') return stop('action_not_allowed', `mode_${mode}`, MODE_TEXT[mode], []);
  return onlyReplies(circle, 'mode_reply_only', 'It only answers');
}

/** Of a thread that somebody else began, and to who wrote in it. */
function onlyReplies({ recipients, thread }: Circle, code: string, what: string): AgentStop | undefined {
  if (thread === null) {
    return stop('action_not_allowed', code, `${what}: answer a message of the mailbox, and name it in inReplyTo`, []);
  }
  const others = recipients.filter(({ house, allowed, author, claimed }) => !(house || allowed || author || claimed));
  if (others.length === 0) return undefined;
  return stop(
    'recipient_blocked',
    code,
    `${what} those who wrote in the thread, and ${naming(others)} did not`,
    others,
  );
}

function byPolicy(circle: Circle, { sends, block }: AgentPolicy): AgentStop | undefined {
  const blocked = circle.recipients.filter(({ key }) => covers(block, key));
  if (blocked.length > 0) {
    return stop('recipient_blocked', 'blocked_recipient', `Its policy blocks mail to ${naming(blocked)}`, blocked);
  }
  switch (sends) {
    case 'anybody':
      return undefined;
    case 'replies':
      return onlyReplies(circle, 'policy_replies', 'Its policy lets it answer only');
    case 'allowed': {
      const others = circle.recipients.filter(({ allowed }) => !allowed);
      if (others.length === 0) return undefined;
      const text = `Its policy lets it write to a list of recipients only, and ${naming(others)} is not on it`;
      return stop('recipient_blocked', 'policy_allowed', text, others);
    }
    case 'nobody':
      return stop('action_not_allowed', 'policy_nobody', 'Its policy lets it send nothing', []);
  }
}

function stop(error: AgentStop['error'], code: string, text: string, about: readonly Recipient[]): AgentStop {
  const recipients = about.map(({ address }) => address);
  return { kind: 'agent-stop', error, reasons: [{ code, text, ...(recipients.length > 0 && { recipients }) }] };
}
