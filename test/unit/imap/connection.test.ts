import { connect as connectTcp } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { ImapClient, imapWorld, PASSWORD, USER } from '../../support/imap-world.ts';
import type { ImapWorld } from '../../support/imap-world.ts';

const LOGIN = `LOGIN ${USER} ${PASSWORD}`;

/** Moves the clock and looks at all sessions, as the server does once a second. */
function pass(world: ImapWorld, seconds: number): void {
  world.clock.time += seconds * 1000;
  world.server.sweep();
}

/** Resolves when the server sees so many connections. */
async function connections(world: ImapWorld, count: number): Promise<void> {
  while (world.server.sessions !== count) await new Promise((resolve) => setImmediate(resolve));
}

test.each([
  ['a command', 'b NOOP\r\n'],
  ['a login', `b ${LOGIN}\r\n`],
  ['a login with a bare LF', `b ${LOGIN}\n`],
  ['half a command', 'b NO'],
  ['a literal', 'b LOGIN {11+}\r\nme@box.test secret\r\n'],
  ['100 KB', 'b NOOP\r\n'.repeat(12_500)],
])('what comes in the clear behind STARTTLS is thrown away: %s', async (_, injected) => {
  await using world = await imapWorld({ local: false });
  const client = await world.connect();
  client.send(`a STARTTLS\r\n${injected}`);
  expect(await client.line()).toMatch(/^a OK /);
  // The rest of a large injection breaks the TLS handshake; a small one is discarded.
  const secured = await client.secure().then(
    () => true,
    () => false,
  );
  if (!secured) return;
  expect(await client.command('NOOP', 'c')).toEqual(['c OK NOOP completed']);
  expect(await client.command('LIST "" "*"', 'd')).toEqual(['d BAD Not allowed before login']);
});

test('implicit TLS says the greeting after the handshake', async () => {
  await using world = await imapWorld({ local: false });
  const client = await world.connectTls();
  const [answer] = await client.command(LOGIN);
  expect(answer).toMatch(/^t OK \[CAPABILITY /);
});

test('those who are logged in do not count by address', async () => {
  await using world = await imapWorld({ positions: { perNetwork: 2 } });
  const sessions: ImapClient[] = [];
  for (let n = 0; n < 6; n += 1) sessions.push(await world.client());
  const strangers = [await world.connect(), await world.connect()];
  const third = new ImapClient(connectTcp(world.port, '127.0.0.1'));
  expect(await third.line()).toBe('* BYE [LIMIT] Too many connections, try again later');
  for (const one of [...sessions, ...strangers]) expect(await one.command('NOOP')).toEqual(['t OK NOOP completed']);
  for (const one of [...sessions, ...strangers]) one.socket.destroy();
  await connections(world, 0);
  const again = [await world.connect(), await world.connect()];
  expect(await again[1]?.command('NOOP')).toEqual(['t OK NOOP completed']);
});

test('too many connections from one address are refused with a reason, and those who are there go on', async () => {
  await using world = await imapWorld({ positions: { perNetwork: 2 } });
  const [first, second] = [await world.connect(), await world.connect()];
  const third = new ImapClient(connectTcp(world.port, '127.0.0.1'));
  expect(await third.line()).toBe('* BYE [LIMIT] Too many connections, try again later');
  expect(await third.line()).toBeUndefined();
  expect(await first.command('NOOP')).toEqual(['t OK NOOP completed']);
  await second.command('LOGOUT');
  first.socket.destroy();
  await connections(world, 0);
  const again = await world.connect();
  expect(await again.command('NOOP')).toEqual(['t OK NOOP completed']);
});

test('exempt addresses are bounded by twice the total only', async () => {
  await using world = await imapWorld({
    exempt: true,
    positions: { perNetwork: 1, total: { smtp: 1, imap: 1, http: 1 } },
  });
  await world.connect();
  await world.connect();
  const third = new ImapClient(connectTcp(world.port, '127.0.0.1'));
  expect(await third.line()).toBe('* BYE [LIMIT] Too many connections, try again later');
});

test('one more session of an account takes the place of the one that was idle longest', async () => {
  await using world = await imapWorld({ limits: { sessionsEachAccount: 2 } });
  const first = await world.client();
  world.clock.time += 1000;
  const second = await world.client('INBOX');
  world.clock.time += 1000;
  await first.command('NOOP');
  const third = await world.client();
  expect(await second.line()).toMatch(/^\* BYE \[LIMIT\] /);
  expect(await first.command('NOOP')).toEqual(['t OK NOOP completed']);
  expect(await third.command('NOOP')).toEqual(['t OK NOOP completed']);
});

test('a session that was asked to go and does not close is no longer the one that makes room', async () => {
  await using world = await imapWorld({ limits: { sessionsEachAccount: 1 } });
  const deaf = new ImapClient(connectTcp({ port: world.port, host: '127.0.0.1', allowHalfOpen: true }));
  await deaf.line();
  await deaf.command(LOGIN);
  world.clock.time += 1000;
  const second = await world.client();
  expect(await deaf.line()).toMatch(/^\* BYE \[LIMIT\] /);
  const third = await world.client();
  expect(await second.line()).toMatch(/^\* BYE \[LIMIT\] /);
  expect(await third.command('NOOP')).toEqual(['t OK NOOP completed']);
  deaf.socket.destroy();
});

test('an account that commands too fast is slowed down and not refused', async () => {
  await using world = await imapWorld({ limits: { commandsEachMinute: 60 } });
  const client = await world.client();
  for (let count = 0; count < 62; count += 1) expect(await client.command('NOOP')).toEqual(['t OK NOOP completed']);
  expect(world.clock.slept).toEqual([1000, 1000]);
});

test('who does not log in within a minute goes', async () => {
  await using world = await imapWorld();
  const client = await world.connect();
  await client.command('NOOP');
  pass(world, 59);
  expect(await client.command('NOOP')).toEqual(['t OK NOOP completed']);
  pass(world, 2);
  expect(await client.line()).toMatch(/^\* BYE /);
  expect(await client.line()).toBeUndefined();
});

test('who does not finish a TLS handshake within 15 seconds goes', async () => {
  await using world = await imapWorld();
  const socket = connectTcp(world.tlsPort, '127.0.0.1');
  await connections(world, 1);
  pass(world, 14);
  expect(world.server.sessions).toBe(1);
  pass(world, 2);
  await once(socket.resume(), 'close');
  await connections(world, 0);
});

test('a session ends after half an hour without a command, IDLE is kept alive until then', async () => {
  await using world = await imapWorld();
  const [idling, resting] = [await world.client('INBOX'), await world.client('INBOX')];
  idling.send('a IDLE\r\n');
  expect(await idling.line()).toBe('+ idling');
  for (let minutes = 0; minutes < 30; minutes += 2) {
    pass(world, 120);
    expect(await idling.line()).toBe('* OK Still here');
  }
  pass(world, 1);
  expect(await idling.line()).toMatch(/^\* BYE /);
  expect(await resting.line()).toMatch(/^\* BYE /);
});

test('who does not read is held to little memory, and goes after a minute', async () => {
  await using world = await imapWorld();
  world.store.deliver('INBOX', Buffer.alloc(20 * 1024 * 1024, 'x'));
  const client = await world.client('INBOX');
  client.socket.pause();
  client.send('a FETCH 1 BODY.PEEK[]\r\nb FETCH 1 BODY.PEEK[]\r\n');
  while (world.store.bytesRead === 0) await new Promise((resolve) => setImmediate(resolve));
  while (world.server.sessions > 0) {
    pass(world, 20);
    await new Promise((resolve) => setImmediate(resolve));
  }
  // The rest is what the kernel holds for the two ends of the connection.
  expect(world.store.bytesRead).toBeLessThan(12 * 1024 * 1024);
});

test('a graceful stop says BYE to all and resolves', async () => {
  await using world = await imapWorld();
  const [resting, idling] = [await world.client('INBOX'), await world.client('INBOX')];
  idling.send('a IDLE\r\n');
  await idling.line();
  const closed = world.server.close(5000);
  expect(await resting.line()).toMatch(/^\* BYE \[UNAVAILABLE\] /);
  expect(await idling.line()).toMatch(/^\* BYE \[UNAVAILABLE\] /);
  await closed;
});

test('whatever ends, views are closed and places given back', async () => {
  await using world = await imapWorld();
  const clients = await Promise.all([world.client('INBOX'), world.client('INBOX'), world.client('INBOX')]);
  const inbox = world.store.find('INBOX');
  expect([inbox?.opened, world.logins.watched]).toEqual([3, 3]);
  await clients[0]?.command('LOGOUT');
  clients[1]?.send('a IDLE\r\n');
  await clients[1]?.line();
  clients[1]?.socket.destroy();
  clients[2]?.send('a APPEND INBOX {1000+}\r\nhalf of');
  while (world.store.openSinks === 0) await new Promise((resolve) => setImmediate(resolve));
  clients[2]?.socket.resetAndDestroy();
  await connections(world, 0);
  expect([inbox?.opened, world.logins.watched, world.store.openSinks]).toEqual([0, 0, 0]);
  expect(world.faults).toEqual([]);
});

test('a store that cannot write is reported as UNAVAILABLE, a fault as SERVERBUG, and reading goes on', async () => {
  await using world = await imapWorld();
  const { StoreBusy } = await import('../../../mail/store/engine/types.ts');
  world.store.deliver('INBOX', 'Subject: a\n\nb\n');
  const client = await world.client('INBOX');
  world.store.fail = new StoreBusy('disk-full', 'no space left');
  expect((await client.command('STORE 1 +FLAGS (\\Seen)')).at(-1)).toMatch(/^t NO \[UNAVAILABLE\] /);
  expect((await client.command('APPEND INBOX {3+}\r\nabc')).at(-1)).toMatch(/^t NO \[UNAVAILABLE\] /);
  expect((await client.command('CREATE New')).at(-1)).toMatch(/^t NO \[UNAVAILABLE\] /);
  expect(await client.command('FETCH 1 BODY[TEXT]')).toEqual(['* 1 FETCH (BODY[TEXT] {3}', 'b', ')', 't OK Fetched']);
  expect(world.faults).toEqual([]);
  world.store.fail = new Error('unexpected');
  expect((await client.command('CREATE New')).at(-1)).toMatch(/^t NO \[SERVERBUG\] /);
  expect(world.faults).toHaveLength(1);
  world.store.fail = undefined;
  expect((await client.command('CREATE New')).at(-1)).toMatch(/^t OK /);
});

test('an office of 30 people with 5 programs each behind one address works with the limits that are set', async () => {
  await using world = await imapWorld();
  const programs: ImapClient[] = [];
  for (let n = 0; n < 150; n += 1) {
    const address = { local: `person-${n % 30}`, domain: 'box.test' };
    world.logins.answer = { kind: 'in', login: { account: (n % 30) + 1, address, credential: n + 1 } };
    programs.push(await world.client('INBOX'));
  }
  for (const one of programs) expect(await one.command('NOOP')).toEqual(['t OK NOOP completed']);
});

test('the 21st session of an account takes the place of the one that was idle longest', async () => {
  await using world = await imapWorld();
  const sessions: ImapClient[] = [];
  for (let n = 0; n < 21; n += 1) {
    world.clock.time += 1000;
    sessions.push(await world.client());
  }
  expect(await sessions[0]?.line()).toMatch(/^\* BYE \[LIMIT\] /);
  for (const one of sessions.slice(1)) expect(await one.command('NOOP')).toEqual(['t OK NOOP completed']);
});
