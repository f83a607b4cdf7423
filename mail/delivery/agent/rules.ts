import { limitedSends } from '../../store/agent-send.ts';
import type { Read } from '../../store/engine/types.ts';
import type { Asking } from './asking.ts';
import { type Circle, type Recipient, writtenToBefore } from './circle.ts';
import { covers } from './patterns.ts';
import type { AgentMode, AgentPolicy, AgentStop } from './types.ts';
import { naming } from './why.ts';

/** What the mode, the limits and the policy of an agent forbid, whatever it has read; undefined: nothing. */
export async function ruleOut(rx: Read, asking: Asking, now: number): Promise<AgentStop | undefined> {
  const { agent, circle } = asking;
  return byMode(circle, agent.mode) ?? (await byLimits(rx, asking, now)) ?? byPolicy(circle, agent.policy);
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

async function byLimits(rx: Read, asking: Asking, now: number): Promise<AgentStop | undefined> {
  const { limits, credential } = asking.agent;
  if (limits === null) return undefined;
  if (limits.thread !== null && asking.circle.thread !== limits.thread) {
    return stop(
      'action_not_allowed',
      'other_thread',
      'This token answers in one thread only, and this is not in it',
      [],
    );
  }
  const others = limits.participantsOnly ? await bystanders(rx, asking, now) : [];
  if (others.length > 0) {
    const text = `This token writes only to those who take part in its thread, and ${naming(others)} does not`;
    return stop('recipient_blocked', 'not_a_participant', text, others);
  }
  if (limits.sends === null || (await limitedSends(rx, credential)) < limits.sends) return undefined;
  return stop(
    'budget_exceeded',
    'sends_used_up',
    `This token was made for ${limits.sends} messages, and has sent them`,
    [],
  );
}

/** Who neither wrote in the thread, nor was written to in it. Whom only a stranger, or a draft, names takes no part. */
async function bystanders(rx: Read, { mail, circle }: Asking, now: number): Promise<Recipient[]> {
  const known = await writtenToBefore(rx, mail, circle.recipients, now);
  const takesPart = ({ key, author, claimed, named, house }: Recipient): boolean =>
    author || claimed || (named && (house || known.has(key)));
  return circle.recipients.filter((one) => !takesPart(one));
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
