import { expect, test } from 'vitest';
import { inspectMessage } from '../../mail/agents/gate/inspect-message.ts';
import { ShownForms } from '../../mail/agents/secrets/shown-form.ts';
import { createOctetReader } from '../../mail/delivery/octet-reader.ts';
import { submit } from '../../mail/delivery/submission-commit.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import {
  purgeShownSecrets,
  recordShownSecrets,
  type SecretKind,
  shownSecrets,
} from '../../mail/agents/secrets/shown-secret.ts';
import { GateWorld, outcomeOf } from '../support/gate-world.ts';

const KEY = new Uint8Array(32).fill(3);
const HOUR_MS = 3_600_000;
const PASSWORD = 'k7mfw-2rtqa-9hgcd-mnp4v-xyz8ab';

async function note(world: GateWorld, kind: SecretKind, text: string, tenant = 1): Promise<void> {
  const form = new ShownForms(KEY).make(kind, text);
  if (form === undefined) throw new Error('too short');
  await world.box.store.write(recordShownSecrets, { tenant, form, expiresAt: world.box.clock.now + HOUR_MS });
}

const tripped = (): Promise<'known'> => Promise.resolve('known');

/** Submits a mail of an agent with this text and returns the outcome. */
async function outcome(world: GateWorld, text: string): Promise<string> {
  const { store, clock } = world.box;
  const data = Uint8Array.from(Buffer.from(`From: me@box.test\r\nTo: you@else.test\r\n\r\n${text}\r\n`));
  const agent = { ...world.agent(), watch: { prefix: 'mst', key: KEY, tripped } };
  const told = await inspectMessage(
    store,
    { kind: 'agent', agent },
    {
      account: world.account,
      tenant: 1,
      index: indexMessage(data),
      read: createOctetReader(store, { data, file: null }),
      recipients: ['you@else.test'],
      now: clock.now,
      protocol: 'test',
    },
  );
  return outcomeOf(await store.write(submit, { ...world.message(['you@else.test']), ...told, data }));
}

test('what an agent was shown does not leave, and nothing is queued', async () => {
  await using world = await GateWorld.open();
  expect(await outcome(world, PASSWORD)).toBe('taken');
  await note(world, 'password', PASSWORD);
  expect(await outcome(world, `It is ${PASSWORD}.`)).toBe('secret_in_message password');
  expect(await outcome(world, `It is ${Buffer.from(PASSWORD).toString('base64')}.`)).toBe('secret_in_message password');
  expect(await outcome(world, `mst_${'0'.repeat(48)}`)).toBe('secret_in_message token');
  expect(await outcome(world, 'It is secret.')).toBe('taken');
});

test('it is remembered of one organization, and as long as it counts', async () => {
  await using world = await GateWorld.open();
  await note(world, 'code', '481516', 2);
  expect(await outcome(world, 'code 481516')).toBe('taken');
  await note(world, 'code', '481516');
  expect(await outcome(world, 'code 481516')).toBe('secret_in_message code');
  world.box.clock.now += HOUR_MS;
  expect(await outcome(world, 'code 481516')).toBe('taken');
});

test('nothing that is kept says what the secret is', async () => {
  await using world = await GateWorld.open();
  await note(world, 'password', PASSWORD);
  const [kept] = await world.box.store.read(shownSecrets, { tenant: 1, now: world.box.clock.now });
  const other = new ShownForms(KEY.map((octet) => octet ^ 1)).make('password', PASSWORD);
  expect(kept?.length).toBe(24);
  expect(kept?.digest).not.toEqual(other?.digest);
  expect(kept?.print).not.toBe(other?.print);
});

test('500 are remembered of an organization, those that count longest; what is over is forgotten', async () => {
  await using world = await GateWorld.open();
  const { store, clock } = world.box;
  await note(world, 'password', PASSWORD);
  clock.now -= 1;
  for (let i = 0; i < 505; i++) await note(world, 'code', `${100_000 + i}`);
  const kept = await store.read(shownSecrets, { tenant: 1, now: clock.now });
  expect(kept).toHaveLength(500);
  expect(kept.some(({ kind }) => kind === 'password')).toBe(true);
  clock.now += 2 * HOUR_MS;
  expect([await store.write(purgeShownSecrets, undefined), await store.write(purgeShownSecrets, undefined)]).toEqual([
    true,
    true,
  ]);
  expect(await store.write(purgeShownSecrets, undefined)).toBe(false);
  expect(await store.read(shownSecrets, { tenant: 1, now: 0 })).toEqual([]);
});
