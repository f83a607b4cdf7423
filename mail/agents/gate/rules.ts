import type { GateInput, Recipient, RecipientContext } from './gate-input.ts';
import { isListed } from '../policy/strictest.ts';
import type { AgentMode, AgentPolicy, AgentStop } from './types.ts';
import { nameRecipients } from './reasons.ts';

/** Rejects mail that the mode or policy of an agent forbids, tainted or not. */
export function forbiddenByRules({ agent, context }: GateInput): AgentStop | undefined {
  const { mode, policy } = agent;
  return (mode === 'normal' ? undefined : byMode(context, mode)) ?? byPolicy(context, policy);
}

const MODE_TEXT: Record<Exclude<AgentMode, 'normal' | 'reply_only'>, string> = {
  frozen: 'The agent is frozen and sends nothing: a person can unfreeze it on the page Agents',
  read_only: 'The agent is read-only and sends nothing: a person can change its mode on the page Agents',
  draft_only: 'The agent may only write drafts: save this as a draft, which a person can send',
};

function byMode(context: RecipientContext, mode: Exclude<AgentMode, 'normal'>): AgentStop | undefined {
  if (mode !== 'reply_only') return stop('action_not_allowed', `mode_${mode}`, MODE_TEXT[mode], []);
  return onlyReplies(context, 'mode_reply_only', 'The agent may only reply');
}

/** Allows only answers in a thread that somebody else began, to its authors. */
function onlyReplies({ recipients, thread }: RecipientContext, code: string, what: string): AgentStop | undefined {
  if (thread === null) {
    return stop('action_not_allowed', code, `${what}: answer a message of the mailbox and name it in inReplyTo`, []);
  }
  const others = recipients.filter(
    ({ internal, allowed, author, claimed }) => !(internal || allowed || author || claimed),
  );
  if (others.length === 0) return undefined;
  return stop('recipient_blocked', code, `${what}, and ${nameRecipients(others)} did not write in the thread`, others);
}

function byPolicy(context: RecipientContext, { sends, block }: AgentPolicy): AgentStop | undefined {
  const blocked = context.recipients.filter(({ key }) => isListed(block, key));
  if (blocked.length > 0) {
    return stop(
      'recipient_blocked',
      'blocked_recipient',
      `The agent's policy blocks mail to ${nameRecipients(blocked)}`,
      blocked,
    );
  }
  switch (sends) {
    case 'anybody':
      return undefined;
    case 'replies':
      return onlyReplies(context, 'policy_replies', "The agent's policy allows replies only");
    case 'allowed': {
      const others = context.recipients.filter(({ allowed }) => !allowed);
      if (others.length === 0) return undefined;
      const text = `The agent's policy allows listed recipients only, and ${nameRecipients(others)} is not listed`;
      return stop('recipient_blocked', 'policy_allowed', text, others);
    }
    case 'nobody':
      return stop('action_not_allowed', 'policy_nobody', "The agent's policy does not allow sending", []);
  }
}

function stop(error: AgentStop['error'], code: string, text: string, about: readonly Recipient[]): AgentStop {
  const recipients = about.map(({ address }) => address);
  return { kind: 'agent-stop', error, reasons: [{ code, text, ...(recipients.length > 0 && { recipients }) }] };
}
