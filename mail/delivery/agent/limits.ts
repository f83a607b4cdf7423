import { textKey } from '../../message/address.ts';
import { plainAddress } from '../../message/plain-address.ts';
import type { Hindered } from '../../store/claim.ts';
import { threadOfEmail } from '../../store/conversation.ts';
import type { Read, Write } from '../../store/engine/types.ts';
import { mayAnswer } from '../../store/may-answer.ts';
import { countLife, overLife } from '../../store/narrow-use.ts';
import { namedRecipients, type Outgoing } from '../outgoing.ts';
import type { AgentSending, AgentStop, NarrowLimits, Reason } from './types.ts';

type Mail = Pick<Outgoing, 'account' | 'here' | 'local' | 'elsewhere'>;
type Agent = Pick<AgentSending, 'credential' | 'answers' | 'draft' | 'limits'>;

/** Why a narrowed token may not send this: it is for another conversation, for others, or has sent all that it may. */
export async function beyondLimits(rx: Read, mail: Mail, { answers, limits }: Agent): Promise<AgentStop | undefined> {
  if (limits === null) return undefined;
  if (limits.thread !== null && (await threadAnswered(rx, mail, answers)) !== limits.thread) {
    return stop('action_not_allowed', 'other_thread', 'This token answers one conversation and sends nothing else');
  }
  const strangers = strangersTo(limits, namedRecipients(mail));
  if (strangers.length > 0) {
    const text = `This token writes to who took part in its conversation, not to ${strangers.map(plainAddress).join(', ')}`;
    return {
      kind: 'agent-stop',
      error: 'recipient_blocked',
      reasons: [{ code: 'not_in_thread', text, recipients: strangers }],
    };
  }
  const over = await overLife(rx, limits.sends);
  if (over === undefined) return undefined;
  const { most } = over;
  const text = `This token was made for ${most} messages and has sent them`;
  return { ...stop('budget_exceeded', 'sends', text), budget: { name: 'sends', limit: most, used: most } };
}

function strangersTo({ recipients: allowed }: NarrowLimits, recipients: readonly string[]): string[] {
  return allowed === null ? [] : recipients.filter((address) => !allowed.includes(textKey(address)));
}

/** Why an agent has to leave the conversation that it answers alone. */
export async function hinderedByOthers(
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
    : { kind: 'agent-stop', error: 'conflict', reasons: [hindrance(found)] };
}

/** Counts a message that goes, or waits for a person, against what a narrowed token may send. */
export async function countAgainstLimits(tx: Write, { limits }: Agent): Promise<void> {
  if (limits !== null) await countLife(tx, limits.sends);
}

async function threadAnswered(rx: Read, { account }: Mail, answers: number | null): Promise<number | undefined> {
  return answers === null || account === null ? undefined : threadOfEmail(rx, account, answers);
}

/** Why, as a reason of the gate's. */
export function hindrance(why: Hindered): Reason {
  switch (why.kind) {
    case 'claimed': {
      const until = new Date(why.until).toISOString();
      return { code: 'claimed', text: `Another agent (${why.holder}) works on this conversation until ${until}` };
    }
    case 'done':
      return {
        code: 'done',
        text: 'This message is done, somebody has finished with it: answer a newer one of the conversation, or leave it',
      };
    case 'drafted':
      return {
        code: 'drafted',
        text: 'A person is writing an answer in this conversation: leave it to them, or ask them to send the draft or throw it away',
      };
    case 'answered':
      return {
        code: 'answered',
        text: 'A person has answered in this conversation: read it again, and answer its newest message if more is to be said',
      };
  }
}

function stop(error: AgentStop['error'], code: string, text: string): AgentStop {
  return { kind: 'agent-stop', error, reasons: [{ code, text }] };
}
