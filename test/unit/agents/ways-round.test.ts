import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sendMessage } from '../../../mail/delivery/outgoing.ts';
import { command, query } from '../../../mail/store/engine/types.ts';
import { findOperation } from '../../../src/operations/catalogue.ts';
import { operatorCaller, tokenCaller } from '../../../src/core/caller.ts';
import { perform, type OperationOutcome } from '../../../src/operations/perform.ts';
import { addToken, findToken } from '../../../src/tokens/commands.ts';
import { ALL_ACTIONS } from '../../../src/core/token.ts';
import { letterTo } from '../../support/people.ts';
import { SendWorld } from '../../support/send-world.ts';

const forwardMail = command('test-forward-mail', async (tx, tenant: number, stamp): Promise<void> => {
  const outgoing = letterTo('to@remote.example');
  const [row] = outgoing.elsewhere;
  if (row === undefined) throw new Error('nobody gets it');
  const copy = { tenant, sender: '', signAs: [], prefix: '', smtputf8: false, row };
  await sendMessage(tx, { ...outgoing, elsewhere: [], onward: [copy] }, stamp);
});
const modes = query('test-modes', (rx) =>
  rx.all<{ mode: string; n: number }>('SELECT mode, count(*) AS n FROM token GROUP BY mode'),
);
const queued = query('test-queued', (rx) => rx.get<{ n: number }>('SELECT count(*) AS n FROM queue'));

let world: SendWorld;
beforeEach(async () => {
  world = await SendWorld.open({}, [forwardMail]);
});
afterEach(() => world[Symbol.asyncDispose]());

const mint = (createdBy = 'operator'): Promise<number> =>
  world.world.store.write(addToken, {
    hash: randomBytes(32),
    organization: 1,
    name: 'agent',
    shown: 'mst_abc',
    actions: [...ALL_ACTIONS],
    project: null,
    service: null,
    mailboxes: null,
    owner: true,
    createdBy,
    expiresAt: null,
  });

async function asToken(id: number, name: string, input: object = {}): Promise<OperationOutcome> {
  const token = (await world.world.store.read(findToken, { id })) ?? expect.fail('no token');
  return perform(world.world, findOperation(name) ?? expect.fail(name), tokenCaller(token, 'rest', '192.0.2.1'), input);
}

const asPerson = (name: string, input: object): Promise<OperationOutcome> =>
  perform(world.world, findOperation(name) ?? expect.fail(name), operatorCaller(), input);

const MAIL = { from: 'me@a.test', to: 'you@x.example', subject: 'Hello', text: 'Hello' };

test('a stranger whose mail is only forwarded has been read as well', async () => {
  const token = await mint();
  await world.world.store.write(forwardMail, 1);
  expect(await asToken(token, 'get_queue_item', { queueId: 'que_1' })).toMatchObject({ kind: 'done' });
  expect(await asToken(token, 'whoami')).toMatchObject({ result: { agent: { exposed: true } } });
  expect(await asToken(token, 'send_email', MAIL)).toMatchObject({ result: { status: 'pending_approval' } });
});

test('what a person of the organization sends says nothing of strangers', async () => {
  const token = await mint();
  expect(await asPerson('send_email', MAIL)).toMatchObject({ kind: 'done' });
  expect(await asToken(token, 'get_queue_item', { queueId: 'que_1' })).toMatchObject({ kind: 'done' });
  expect(await asToken(token, 'whoami')).toMatchObject({ result: { agent: { exposed: false } } });
});

test('no token invites a person whose letter it could open itself', async () => {
  const token = await mint();
  const here = { email: 'me@a.test', role: 'admin' };
  expect(await asToken(token, 'invite_member', here)).toMatchObject({ refusal: { error: 'action_not_allowed' } });
  expect(await asToken(token, 'invite_member', { ...here, email: 'me@x.example' })).toMatchObject({ kind: 'done' });
  expect(await asPerson('invite_member', here)).toMatchObject({ kind: 'done' });
});

test('a token that has read mail of outsiders only proposes to invite somebody', async () => {
  const token = await mint();
  await world.world.agents.onTextRead({ token: token });
  const done = await asToken(token, 'invite_member', { email: 'evil@x.example', role: 'admin' });
  expect(done).toMatchObject({ result: { status: 'pending_approval' } });
  expect(await world.world.store.read(queued, undefined)).toEqual({ n: 0 });
});

test('a token that is frozen has no hand left, however many it made', async () => {
  const token = await mint();
  for (let i = 0; i < 120; i++) await mint(`tok_${token}`);
  expect(await asPerson('set_agent_mode', { tokenId: `tok_${token}`, mode: 'frozen' })).toMatchObject({ kind: 'done' });
  expect(await world.world.store.read(modes, undefined)).toEqual([{ mode: 'frozen', n: 121 }]);
});
