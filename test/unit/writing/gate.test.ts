import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type AgentSending, DEFAULT_POLICY } from '../../../mail/agents/gate/types.ts';
import { ALLOW, type SendVerdict } from '../../../mail/agents/gate/sending-policy.ts';
import { rowIn } from '../../../src/core/message-ids.ts';
import { query } from '../../../mail/store/engine/types.ts';
import { type Json, WritingWorld } from '../../support/writing.ts';

const AGENT: AgentSending = {
  credential: 'tok_1',
  mode: 'normal',
  policy: DEFAULT_POLICY,
  governed: false,
  answers: null,
  forwards: false,
  secrets: [],
  attended: true,
  limits: null,
};
const HOLD: SendVerdict = { kind: 'hold', because: 'A person has to look' };

let verdict: SendVerdict = ALLOW;
let world: WritingWorld;
beforeAll(async () => {
  world = await WritingWorld.open({ policy: () => verdict });
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => {
  verdict = ALLOW;
});

const HEADER = 'From: Bert <bert@shop.example>\nTo: anna@alpha-main.test\nSubject: Lunch\nMessage-ID: <2@shop.example>';
const counts = query('test-writing-counts', (rx) =>
  rx.get<Record<'submissions' | 'remembered' | 'sent', number>>(
    `SELECT (SELECT count(*) FROM submission) AS submissions, (SELECT count(*) FROM idempotency) AS remembered,
       (SELECT count(*) FROM sent_email) AS sent`,
  ),
);
const count = (): Promise<unknown> => world.tenants.world.store.read(counts, undefined);
/** One call of each tool that sends, each of its own. */
const calls = async (): Promise<[string, Json][]> => {
  const messageId = await world.put(HEADER, `At noon? ${Math.random()}`);
  const { draft } = await world.do('create_draft', { to: 'you@else.example', subject: 'Draft', text: 'Hello' });
  const { id: draftId, revision } = draft as { id: string; revision: string };
  return [
    ['send_email', { from: world.address, to: ['you@else.example'], subject: 'Hi', text: messageId }],
    ['reply_to_email', { mailbox: world.mailbox, messageId, text: 'Yes' }],
    ['forward_email', { mailbox: world.mailbox, messageId, to: ['you@else.example'] }],
    ['send_draft', { mailbox: world.mailbox, draftId, revision }],
  ];
};

describe('what a person has to let go', () => {
  test('waits and says why, in a dry run too; it was not answered yet', async () => {
    for (const [name, args] of await calls()) {
      verdict = HOLD;
      const waits = { status: 'pending_approval', reasons: ['A person has to look'], outboxId: expect.any(String) };
      expect(await world.tenants.do(name, { ...args, dryRun: true }), name).toMatchObject({
        status: 'dry_run',
        reasons: ['A person has to look'],
        recipients: [{ state: 'held' }],
      });
      const sent = await world.tenants.do(name, args);
      expect(sent, name).toMatchObject(waits);
      expect(await world.tenants.do(name, args), name).toEqual({ ...sent, duplicateOf: sent['id'] });
    }
    const { messages } = await world.do('list_messages');
    const flagged = (messages as { labels: string[] }[]).filter(({ labels }) => labels.includes('$forwarded'));
    expect(flagged).toEqual([]);
  });

  test('is refused where that was asked for, and nothing of it stays: the same may be asked again', async () => {
    for (const [name, args] of await calls()) {
      verdict = HOLD;
      const before = await count();
      const refusing = { ...args, failIfApprovalNeeded: true, idempotencyKey: `k ${name}` };
      expect(await world.tenants.try(name, refusing), name).toMatchObject({
        refusal: { error: 'approval_required', reasons: ['A person has to look'] },
      });
      expect(await count(), name).toEqual(before);
      verdict = ALLOW;
      expect(await world.tenants.do(name, refusing), name).toMatchObject({ status: 'queued', duplicateOf: null });
    }
  });

  test('shows in a draft before it is sent', async () => {
    verdict = HOLD;
    const { draft } = await world.do('create_draft', { to: 'you@else.example', subject: 'x', text: 'x' });
    expect(draft).toMatchObject({
      policyPreview: { wouldRequireApproval: true, error: null, reasons: ['A person has to look'] },
    });
    verdict = { kind: 'refuse', because: 'Not to them' };
    const { id: draftId } = draft as { id: string };
    expect(await world.do('get_draft', { draftId })).toMatchObject({
      draft: { policyPreview: { wouldRequireApproval: false, error: 'recipient_blocked', reasons: ['Not to them.'] } },
    });
  });
});

test('a secret that an agent would send leaves by none of the tools', async () => {
  for (const [name, args] of await calls()) {
    verdict = { kind: 'agent', agent: { ...AGENT, secrets: ['token'] } };
    const before = await count();
    expect(await world.tenants.try(name, args), name).toMatchObject({
      refusal: { error: 'secret_in_message', kinds: ['token'] },
    });
    expect(await count(), name).toEqual(before);
  }
});

test('the gate is informed what a message answers, and whether it hands on what somebody else wrote', async () => {
  const [send, reply, forward] = await calls();
  const messageId = String(reply?.[1]['messageId']);
  const email = rowIn('email', world.account, messageId);
  verdict = { kind: 'agent', agent: AGENT };
  const write = vi.spyOn(world.tenants.world.store, 'write');
  for (const [name, args] of [send, reply, forward].flatMap((one) => (one === undefined ? [] : [one])))
    await world.tenants.do(name, args);
  await world.tenants.do('send_email', { ...send?.[1], attachments: [{ attachmentId: messageId }] });
  const told = write.mock.calls.flatMap(([, input]) => {
    const given = (input as { input?: { mail?: { verdict?: SendVerdict } } } | undefined)?.input?.mail?.verdict;
    return given?.kind === 'agent' ? [given.agent] : [];
  });
  write.mockRestore();
  expect(told.map(({ answers, forwards }) => ({ answers, forwards }))).toEqual([
    { answers: null, forwards: false },
    { answers: email, forwards: false },
    { answers: null, forwards: true },
    { answers: null, forwards: true },
  ]);
});
