import { textKey } from '../../message/address.ts';
import { plainAddress } from '../../message/plain-address.ts';
import type { AnswerHindrance } from '../claims/claim.ts';
import { threadOfEmail } from '../../store/message/conversation.ts';
import type { Read } from '../../store/engine/types.ts';
import { mayAnswer } from '../claims/may-answer.ts';
import { exceededLifetimeLimit } from './life-limits.ts';
import type { AgentMail } from './gate-input.ts';
import type { AgentSending, AgentStop, NarrowLimits, Reason } from './types.ts';

type Mail = Pick<AgentMail, 'account' | 'recipients'>;
type Agent = Pick<AgentSending, 'credential' | 'answers' | 'draft' | 'limits'>;

/** Rejects mail beyond the limits of a narrowed token: its conversation, its recipients, its number of messages. */
export async function exceededLimits(
  rx: Read,
  mail: Mail,
  answers: number | null,
  limits: NarrowLimits,
): Promise<AgentStop | undefined> {
  if (limits.thread !== null && (await threadAnswered(rx, mail, answers)) !== limits.thread) {
    return stop('action_not_allowed', 'other_thread', 'This token may only answer one conversation');
  }
  const strangers = strangersTo(limits, mail.recipients);
  if (strangers.length > 0) {
    const text = `This token may only write to participants of its conversation, not to ${strangers.map(plainAddress).join(', ')}`;
    return {
      kind: 'agent-stop',
      error: 'recipient_blocked',
      reasons: [{ code: 'not_in_thread', text, recipients: strangers }],
    };
  }
  const over = await exceededLifetimeLimit(rx, limits.sends);
  if (over === undefined) return undefined;
  const { most } = over;
  const text = `This token was limited to ${most} messages and has sent them all`;
  return { ...stop('budget_exceeded', 'sends', text), budget: { name: 'sends', limit: most, used: most } };
}

function strangersTo({ recipients: allowed }: NarrowLimits, recipients: readonly string[]): string[] {
  return allowed === null ? [] : recipients.filter((address) => !allowed.includes(textKey(address)));
}

/** Rejects an answer to a conversation that another agent or a person works on. */
export async function findHindrance(
  rx: Read,
  mail: Mail,
  { credential, answers: email, draft = null, limits }: Agent,
  now: number,
): Promise<AgentStop | undefined> {
  const { account } = mail;
  if (email === null || account === null) return undefined;
  const found = await mayAnswer(rx, { account, email, draft, credential, from: limits?.from ?? [], now });
  return found.kind === 'free' || found.kind === 'yours'
    ? undefined
    : { kind: 'agent-stop', error: 'conflict', reasons: [hindranceReason(found)] };
}

async function threadAnswered(rx: Read, { account }: Mail, answers: number | null): Promise<number | undefined> {
  return answers === null || account === null ? undefined : threadOfEmail(rx, account, answers);
}

/** Converts a hindrance to a reason of the gate. */
export function hindranceReason(why: AnswerHindrance): Reason {
  switch (why.kind) {
    case 'claimed': {
      const until = new Date(why.until).toISOString();
      return { code: 'claimed', text: `Another agent (${why.holder}) has claimed this conversation until ${until}` };
    }
    case 'done':
      return {
        code: 'done',
        text: 'This message is marked as done: answer a newer one of the conversation, or leave it',
      };
    case 'drafted':
      return {
        code: 'drafted',
        text: 'A person has a draft reply in this conversation: leave it to them, or ask them to send or delete it',
      };
    case 'answered':
      return {
        code: 'answered',
        text: 'A person has already answered in this conversation: read it again, and answer its newest message if needed',
      };
  }
}

function stop(error: AgentStop['error'], code: string, text: string): AgentStop {
  return { kind: 'agent-stop', error, reasons: [{ code, text }] };
}
