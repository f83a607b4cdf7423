import { endClaim } from '../../mail/agents/claims/commands.ts';
import { undoAgentChanges, type UndoResult } from '../../mail/agents/undo/email-undo.ts';
import { threadOf } from '../../mail/store/message/conversation.ts';
import { jmapId, jmapRow } from '../../mail/store/object-id.ts';
import { threadAgents } from '../agents/thread-queries.ts';
import { decideByHttp, UNDECIDED_TEXT } from '../approvals/decision.ts';
import type { AppContext } from '../core/app-context.ts';
import type { Fields } from '../portal/form-fields.ts';
import { auditedByReader } from './audited.ts';
import type { MailReader } from './mail-reader.ts';

interface ActRequest {
  context: AppContext;
  reader: MailReader;
  fields: Fields;
}

/** Refusal for the reader, or the result. */
type ActResult = { kind: 'refused'; status: number; problem: string } | { kind: 'done'; result: object };

/** Something that a reader does about an agent. */
export type AgentAct = (request: ActRequest) => Promise<ActResult>;

const refusal = (status: number, problem: string): ActResult => ({ kind: 'refused', status, problem });
const result = (shown: object): ActResult => ({ kind: 'done', result: shown });
const UNKNOWN_THREAD = refusal(404, 'There is no such conversation.');

/** Approves or rejects the message of an agent that is filed as `email`. */
export const decideHeld: AgentAct = async ({ context, reader, fields }) => {
  const verb = fields.text('verb');
  const found = await heldAs(context, reader, fields.text('email'));
  if (found === undefined || (verb !== 'approve' && verb !== 'reject')) return refusal(404, UNDECIDED_TEXT.missing);
  if (!reader.mayDecide)
    return refusal(403, 'You may not decide about mail of this mailbox. An owner approves it in the portal.');
  if (verb === 'approve' && !reader.fresh) {
    return refusal(403, 'You signed in more than 15 minutes ago. Approve it in the portal, with your password.');
  }
  const done = await decideByHttp(context, reader.decider, { id: found, approves: verb === 'approve' });
  if (done.kind === 'approved') context.queueChanged();
  if (done.kind === 'approved' || done.kind === 'denied') return result({ state: done.kind });
  return refusal(done.kind === 'missing' ? 404 : 409, UNDECIDED_TEXT[done.kind]);
};

/** The newest approval of an email, by its row. */
async function heldAs({ store, clock }: AppContext, { account }: MailReader, id: string): Promise<number | undefined> {
  const email = jmapRow('email', account, id);
  const thread = email === undefined ? undefined : await store.read(threadOf, { account, email });
  if (thread === undefined) return undefined;
  const { approvals } = await store.read(threadAgents, { account, thread, now: clock() });
  return approvals.findLast((one) => one.email === email)?.id;
}

/** Ends the claim of an agent and marks the conversation as done, so that no agent answers it. */
export const takeOver: AgentAct = async ({ context, reader, fields }) => {
  const { account } = reader;
  const thread = jmapRow('thread', account, fields.text('thread'));
  if (thread === undefined) return UNKNOWN_THREAD;
  const input = { account, named: { thread }, holder: null, done: true };
  const ended = await auditedByReader(context, reader, { command: endClaim, input, operation: 'claim_message' });
  if (ended.kind === 'not-found') return UNKNOWN_THREAD;
  if (ended.kind === 'none') return refusal(409, 'The claim has ended already.');
  return result(ended.kind === 'ended' ? { email: jmapId('email', ended.email) } : {});
};

type UndoInput = Parameters<typeof undoAgentChanges.run>[1];

/** Undoes what one agent changed in a thread. */
export const undoInThread: AgentAct = async ({ context, reader, fields }) => {
  const { account } = reader;
  const thread = jmapRow('thread', account, fields.text('thread'));
  if (thread === undefined) return UNKNOWN_THREAD;
  const whole = { undone: 0, kept: 0 };
  const who = fields.text('agent');
  let after: number | null = 0;
  while (after !== null) {
    const input: UndoInput = { account, who, since: 0, after, thread };
    const done: UndoResult = await auditedByReader(context, reader, {
      command: undoAgentChanges,
      input,
      operation: 'undo_changes',
    });
    whole.undone += done.undone;
    whole.kept += done.kept.length;
    after = done.next;
  }
  return result(whole);
};

/** Pauses an agent (mode frozen) or gives it a mode back, by the operation of the portal and with its rights. */
export const setMode: AgentAct = async ({ context, reader: { caller }, fields }) => {
  if (caller === undefined) return refusal(403, 'Owners and administrators pause agents, in the portal.');
  const [{ setAgentMode }, { perform }] = await Promise.all([
    import('../operations/agents/agents.ts'),
    import('../operations/perform.ts'),
  ]);
  const input = { tokenId: fields.text('agent'), mode: fields.text('mode') };
  const done = await perform(context, setAgentMode, caller, input);
  return done.kind === 'done' ? result(done.result) : refusal(403, done.refusal.message);
};
