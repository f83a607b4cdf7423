import { describe, expect, test } from 'vitest';

import type { LoginOutcome, Peer, SaslStep } from '../../../mail/login/types.ts';
import { saltedPassword } from '../../../mail/login/verifier.ts';
import { loginOf, loginWorld, PEER, plain, scram } from '../../support/login-world.ts';
import type { LoginWorld } from '../../support/login-world.ts';

const ME = 'me@box.test';
const MINUTE = 60_000;

type Way = (world: LoginWorld, user: string, password: string, peer?: Peer) => Promise<SaslStep>;

const WAYS: Array<[string, Way]> = [
  ['PLAIN', (world, user, password, peer) => plain(world.logins, user, password, peer)],
  ['SCRAM-SHA-256', (world, user, password, peer) => scram(world.logins, user, password, peer)],
  ['the LOGIN command', (world, user, password, peer = PEER) => world.logins.password(user, password, peer)],
];

describe.each(WAYS)('by %s', (name, login) => {
  test('the owner gets in, by any spelling of the address, and the use is noted', async () => {
    const world = loginWorld();
    const { credentials } = await world.credentials.add(ME, 'right');
    expect(loginOf(await login(world, 'Me@BOX.test', 'right'))).toEqual({
      account: 1,
      address: { local: 'me', domain: 'box.test' },
      credential: credentials[0]?.id,
    });
    expect(world.credentials.uses).toEqual([{ credential: credentials[0]?.id, at: world.now }]);
    expect(world.waits).toEqual([]);
  });

  test('unknown users and wrong passwords are answered alike, with the same work and delay', async () => {
    const seen = [];
    const accounts = ['right', { password: 'right', expiresAt: 1 }, { password: 'right', scopes: [] }];
    for (const user of [
      ME,
      'expired@box.test',
      'closed@box.test',
      'nobody@box.test',
      'me',
      'x y',
      'me@elsewhere.example',
    ]) {
      const world = loginWorld();
      await world.credentials.add(ME, accounts[0] ?? '');
      await world.credentials.add('expired@box.test', accounts[1] ?? '');
      await world.credentials.add('closed@box.test', accounts[2] ?? '');
      const outcome = await login(world, user, user === ME ? 'wrong' : 'right');
      seen.push({ outcome, waits: world.waits, derivations: world.derivations });
    }
    expect(seen).toHaveLength(7);
    for (const one of seen) expect(one).toEqual(seen[0]);
    expect(seen[0]).toEqual({
      outcome: { kind: 'wrong' },
      waits: [2000],
      derivations: name === 'SCRAM-SHA-256' ? 0 : 1,
    });
  });

  test('who was in from an address stays welcome there, whatever others behind it try', async () => {
    const world = loginWorld();
    await world.credentials.add(ME, 'right');
    await login(world, ME, 'right');
    for (let i = 0; i < 10; i++) await login(world, `neighbour${i}@box.test`, 'wrong');
    expect(await login(world, 'neighbour@box.test', 'wrong')).toMatchObject({ kind: 'throttled' });
    expect(loginOf(await login(world, ME, 'right'))).toMatchObject({ account: 1 });
  });

  test('a wrong password in a known network counts as an offence when checked, and not when throttled', async () => {
    const offences: string[] = [];
    const guard = { addOffence: (ip: string) => offences.push(ip), welcome: () => undefined };
    const world = loginWorld({ guard });
    await world.credentials.add(ME, 'right');
    const stranger = { ...PEER, ip: '198.51.100.1' };
    await login(world, ME, 'right');
    const start = world.now;
    for (let i = 0; i < 50; i += 1) {
      for (const peer of [PEER, stranger]) await login(world, ME, 'old', peer);
      world.now = start;
    }
    expect(offences.filter((ip) => ip === PEER.ip)).toHaveLength(10);
    expect(offences.filter((ip) => ip === stranger.ip)).toHaveLength(50);
  });

  test('an unknown user under attack is slowed down like a known one', async () => {
    const seen = [];
    for (const user of [ME, 'nobody@box.test']) {
      const world = loginWorld();
      await world.credentials.add(ME, 'right');
      for (let i = 0; i < 100; i += 1) await login(world, user, 'guess', { ...PEER, ip: `198.51.100.${i}` });
      world.waits = [];
      const outcome = await login(world, user, 'guess');
      seen.push({ outcome, waits: world.waits });
    }
    expect(seen[0]).toEqual({ outcome: { kind: 'wrong' }, waits: [3000, 2000] });
    expect(seen[1]).toEqual(seen[0]);
  });

  test('each credential is valid only for the protocols of its scopes', async () => {
    const world = loginWorld();
    const { credentials } = await world.credentials.add(
      ME,
      'main',
      { password: 'reader', scopes: ['imap'] },
      { password: 'sender', scopes: ['smtp'] },
      { password: 'passing', expiresAt: world.now + MINUTE },
    );
    const table: Array<[string, Peer['protocol'], number | undefined]> = [
      ['main', 'imap', credentials[0]?.id],
      ['main', 'submission', credentials[0]?.id],
      ['reader', 'imap', credentials[1]?.id],
      ['reader', 'submission', undefined],
      ['sender', 'imap', undefined],
      ['sender', 'submission', credentials[2]?.id],
      ['passing', 'imap', credentials[3]?.id],
    ];
    for (const [password, protocol, credential] of table) {
      const step = await login(world, ME, password, { ...PEER, protocol });
      expect(step.kind === 'in' ? step.login.credential : undefined).toBe(credential);
    }
    world.now += MINUTE;
    expect(await login(world, ME, 'passing')).toEqual({ kind: 'wrong' });
  });

  test('a thousand guesses: ten checked, then even the right password is refused until the minute ends', async () => {
    const world = loginWorld();
    await world.credentials.add(ME, 'right');
    const outcomes: string[] = [];
    const start = world.now;
    for (let i = 0; i < 1000; i += 1) {
      outcomes.push((await login(world, ME, `guess${i}`)).kind);
      world.now = start; // parallel attempts do not avoid the delay
    }
    expect(outcomes.filter((one) => one === 'wrong')).toHaveLength(10);
    expect(outcomes.filter((one) => one === 'throttled')).toHaveLength(990);
    expect(world.derivations).toBeLessThanOrEqual(10);
    expect(await login(world, ME, 'right')).toEqual({ kind: 'throttled', retryAfter: 60 });
    expect(await login(world, ME, 'right', { ...PEER, ip: '198.51.100.1' })).toMatchObject({ kind: 'in' });
    world.now = start + MINUTE;
    expect(await login(world, ME, 'right')).toMatchObject({ kind: 'in' });
  });

  test('under a botnet the owner still gets in within five seconds, from an address of his own', async () => {
    const world = loginWorld();
    await world.credentials.add(ME, 'right');
    for (let bot = 1; bot <= 50; bot += 1) {
      for (let i = 0; i < 20; i += 1) await login(world, ME, 'guess', { ...PEER, ip: `127.0.0.${bot}` });
    }
    world.waits = [];
    expect(await login(world, ME, 'right')).toMatchObject({ kind: 'in' });
    expect(world.waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(4000);
  });

  test.each<[string, Parameters<typeof loginWorld>[0], string, boolean]>([
    ['loopback in local mode', { local: true }, '127.0.0.1', true],
    ['IPv6 loopback in local mode', { local: true }, '::1', true],
    ['mapped loopback in local mode', { local: true }, '::ffff:127.0.0.1', true],
    ['an exempt network', { exempt: (ip) => ip === '10.0.0.1' }, '10.0.0.1', true],
    ['loopback in live mode', {}, '127.0.0.1', false],
    ['another address in local mode', { local: true }, '192.0.2.1', false],
  ])('%s', async (_, options, ip, free) => {
    const world = loginWorld(options);
    await world.credentials.add(ME, 'right');
    const kinds = [];
    for (let i = 0; i < 20; i += 1) kinds.push((await login(world, ME, 'guess', { ...PEER, ip })).kind);
    expect(kinds.every((kind) => kind === 'wrong')).toBe(free);
    expect(world.waits.length === 0).toBe(free);
  });

  test('a store that fails means later, not wrong', async () => {
    const broken = { find: () => Promise.reject(new Error('disk')), used() {} };
    const world = loginWorld({ credentials: broken });
    expect(await login(world, ME, 'right')).toEqual({ kind: 'busy' });
    expect(world.throttle.size).toBe(0);
  });

  test('a credential revoked while it is checked does not let in', async () => {
    const world = loginWorld();
    const account = await world.credentials.add(ME, 'right');
    let reads = 0;
    world.credentials.find = async () => {
      reads += 1;
      if (reads > 1) return { ...account, credentials: [] };
      queueMicrotask(() => world.logins.revoked({ account: account.account }));
      await Promise.resolve();
      return account;
    };
    expect(await login(world, ME, 'right')).toEqual({ kind: 'wrong' });
    expect(reads).toBe(2);
  });
});

describe('without encryption', () => {
  const peer = { ...PEER, secure: false };
  test('no mechanism is offered, none starts and no password is looked at', async () => {
    const { logins, credentials } = loginWorld();
    await credentials.add(ME, 'right');
    expect(logins.mechanisms(peer)).toEqual([]);
    for (const name of ['PLAIN', 'LOGIN', 'SCRAM-SHA-256']) expect(logins.start(name, peer)).toBeUndefined();
    expect(await logins.password(ME, 'right', peer)).toMatchObject({ kind: 'malformed' });
    expect(credentials.finds).toBe(0);
  });
});

test('mechanisms are offered strongest first, and only what the options allow', () => {
  expect(loginWorld().logins.mechanisms(PEER)).toEqual(['SCRAM-SHA-256', 'PLAIN', 'LOGIN']);
  const { logins } = loginWorld({ mechanisms: ['PLAIN'] });
  expect(logins.mechanisms(PEER)).toEqual(['PLAIN']);
  expect(logins.start('LOGIN', PEER)).toBeUndefined();
  expect(loginWorld().logins.start('CRAM-MD5', PEER)).toBeUndefined();
  expect(loginWorld().logins.start('constructor', PEER)).toBeUndefined();
});

test('the salt of an unknown user is stable, his own, and looks like any other', async () => {
  const challenge = async (world: LoginWorld, user: string) => {
    const step = await world.logins.start('SCRAM-SHA-256', PEER)?.step(Buffer.from(`n,,n=${user},r=x`));
    if (step?.kind !== 'challenge') throw new Error('no challenge');
    return step.data.toString().split(',').slice(1).join(',');
  };
  const one = await challenge(loginWorld(), 'nobody@box.test');
  expect(await challenge(loginWorld(), 'Nobody@BOX.test')).toBe(one);
  expect(await challenge(loginWorld(), 'nobody2@box.test')).not.toBe(one);
  expect(await challenge(loginWorld({ secret: Buffer.alloc(32, 8) }), 'nobody@box.test')).not.toBe(one);
  const known = loginWorld();
  await known.credentials.add(ME, 'right');
  const shape = /^s=[A-Za-z0-9+/]{22}==,i=4096$/;
  expect(one).toMatch(shape);
  expect(await challenge(known, ME)).toMatch(shape);
});

describe('a verified password', () => {
  test('costs one derivation in ten minutes, and a wrong one costs one each time', async () => {
    const world = loginWorld();
    await world.credentials.add(ME, 'right');
    for (let i = 0; i < 5; i += 1) expect(await plain(world.logins, ME, 'right')).toMatchObject({ kind: 'in' });
    expect(world.derivations).toBe(1);
    for (let i = 0; i < 5; i += 1) expect(await plain(world.logins, ME, 'wrong')).toEqual({ kind: 'wrong' });
    expect(world.derivations).toBe(6);
    world.now += 10 * MINUTE;
    expect(await plain(world.logins, ME, 'right')).toMatchObject({ kind: 'in' });
    expect(world.derivations).toBe(7);
  });

  test('is not remembered over a rotation, reported or not', async () => {
    for (const told of [true, false]) {
      const world = loginWorld();
      const account = await world.credentials.add(ME, 'old');
      await plain(world.logins, ME, 'old');
      const other = await loginWorld().credentials.add(ME, 'new');
      const id = account.credentials[0]?.id ?? 0;
      world.credentials.accounts.set(ME, { ...account, credentials: other.credentials.map((one) => ({ ...one, id })) });
      if (told) world.logins.revoked({ account: account.account, credential: id });
      expect(await plain(world.logins, ME, 'old')).toEqual({ kind: 'wrong' });
      expect(await plain(world.logins, ME, 'new')).toMatchObject({ kind: 'in' });
    }
  });

  test('is refused for a protocol outside of the scopes', async () => {
    const world = loginWorld();
    await world.credentials.add(ME, { password: 'reader', scopes: ['imap'] });
    expect(await plain(world.logins, ME, 'reader')).toMatchObject({ kind: 'in' });
    expect(await plain(world.logins, ME, 'reader', { ...PEER, protocol: 'submission' })).toEqual({ kind: 'wrong' });
  });
});

test('a flood of logins: two derivations at once, a bounded queue, and busy for the rest', async () => {
  let running = 0;
  let most = 0;
  const world = loginWorld({
    exempt: () => true,
    derive: async (...args) => {
      running += 1;
      most = Math.max(most, running);
      const salted = await saltedPassword(...args);
      running -= 1;
      return salted;
    },
  });
  await world.credentials.add(ME, 'right');
  const flood = Array.from({ length: 500 }, (_, i) => plain(world.logins, ME, `guess${i}`));
  const outcomes = await Promise.all(flood);
  expect(most).toBe(2);
  expect(outcomes.filter(({ kind }) => kind === 'wrong')).toHaveLength(66);
  expect(outcomes.filter(({ kind }) => kind === 'busy')).toHaveLength(434);
  expect(await plain(world.logins, ME, 'right')).toMatchObject({ kind: 'in' });
});

test('guesses side by side are counted before they are checked', async () => {
  const world = loginWorld();
  await world.credentials.add(ME, 'right');
  const outcomes = await Promise.all(Array.from({ length: 60 }, (_, i) => plain(world.logins, ME, `guess${i}`)));
  expect(world.derivations).toBe(10);
  expect(outcomes.filter(({ kind }) => kind === 'throttled')).toHaveLength(50);
});

describe('revocation', () => {
  const ended = (world: LoginWorld, outcome: LoginOutcome | SaslStep) => {
    const state = { ended: 0, stop: () => {} };
    state.stop = world.logins.onRevoked(loginOf(outcome), () => (state.ended += 1));
    return state;
  };

  test('ends the sessions of the credential, once, and leaves the others', async () => {
    const world = loginWorld();
    const { account, credentials } = await world.credentials.add(ME, 'one', 'two');
    await world.credentials.add('you@box.test', 'three');
    const one = ended(world, await plain(world.logins, ME, 'one'));
    const again = ended(world, await scram(world.logins, ME, 'one'));
    const gone = ended(world, await plain(world.logins, ME, 'one'));
    const two = ended(world, await plain(world.logins, ME, 'two'));
    const you = ended(world, await plain(world.logins, 'you@box.test', 'three'));
    gone.stop();
    world.logins.revoked({ account, credential: credentials[0]?.id ?? 0 });
    world.logins.revoked({ account, credential: credentials[0]?.id ?? 0 });
    expect([one, again, gone, two, you].map((state) => state.ended)).toEqual([1, 1, 0, 0, 0]);
    world.logins.revoked({ account });
    expect([one, again, gone, two, you].map((state) => state.ended)).toEqual([1, 1, 0, 1, 0]);
  });

  test('also ends a session that asks to be informed only afterwards, and no later login', async () => {
    const world = loginWorld();
    const { account, credentials } = await world.credentials.add(ME, 'one');
    const before = await plain(world.logins, ME, 'one');
    world.logins.revoked({ account, credential: credentials[0]?.id ?? 0 });
    const late = ended(world, before);
    const after = ended(world, await plain(world.logins, ME, 'one'));
    await Promise.resolve();
    expect(late.ended).toBe(1);
    expect(after.ended).toBe(0);
  });
});
