import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { authenticateMail } from '../../mail/auth/authenticate.ts';
import { dkimRecord } from '../../mail/auth/dkim-key.ts';
import { signHeaders } from '../../mail/auth/dkim-sign.ts';
import { bodyHasher } from '../../mail/auth/dkim-body.ts';
import { findDestinations as leadingTo } from '../../mail/delivery/destinations.ts';
import { planForwards } from '../../mail/delivery/forward.ts';
import { formatAddress, parseAddress } from '../../mail/message/address.ts';
import { rewriteSender } from '../../mail/forwarder/srs.ts';
import { composeReports } from '../../mail/relay/bounce.ts';
import { addDomain } from '../../mail/store/address/domain.ts';
import { journalOf, OPERATOR_VIEW } from '../../mail/store/journal/journal.ts';
import { receiveMessage, testBackend, toAddress } from '../support/receive-message.ts';
import { dataEnds } from '../support/data-ends.ts';
import { testKeys } from '../support/dkim.ts';
import { fakeResolver } from '../support/fake-resolver.ts';
import { emailCount, FORWARD_KEY, type ForwardWorld, forwardWorld } from '../support/forward-world.ts';
import { testAccount } from '../support/store.ts';
import { onPostgres } from '../support/test-database.ts';

let world: ForwardWorld;
let me: number;

beforeEach(async () => {
  world = await forwardWorld({ verify: true });
  me = (await testAccount(world.box.store, 'me')).account;
});
afterEach(() => world[Symbol.asyncDispose]());

const mine = (account = me): Promise<number> => world.box.store.read(emailCount, { account });
const destinations = async (): Promise<string[]> => (await world.leaving()).map(({ item }) => item.recipient.local);

const AUTOMATIC: Record<string, { header?: string; sender?: string }> = {
  'the null reverse-path': { sender: '' },
  'a delivery report': { header: 'Content-Type: multipart/report; report-type=delivery-status; boundary=x\r\n' },
  'a receipt': { header: 'Content-Type: multipart/report; report-type=disposition-notification; boundary=x\r\n' },
  'a complaint': { header: 'Content-Type: Multipart/Report;\r\n\treport-type=feedback-report; boundary=x\r\n' },
  'a vacation': { header: 'Auto-Submitted: auto-replied (vacation)\r\n' },
  'something generated': { header: 'Auto-Submitted: auto-generated\r\n' },
  'something notified': { header: 'auto-submitted: AUTO-NOTIFIED; owner-email="a@b.example"\r\n' },
  'a vacation of old': { header: 'Precedence: auto_reply\r\n' },
  'another of old': { header: 'Precedence: Auto-Reply\r\n' },
  junk: { header: 'Precedence: junk\r\n' },
  'an autoreply': { header: 'X-Autoreply: yes\r\n' },
  'an autoresponder': { header: 'X-Autorespond: on holiday\r\n' },
};

test('of 12 kinds of automatic mail none goes on, and all are in the mailbox', async () => {
  await world.set('me', 'you@x.example', { keep: false });
  for (const letter of Object.values(AUTOMATIC))
    expect(await world.accept(['me'], letter)).toEqual({ kind: 'accepted' });
  expect(Object.keys(AUTOMATIC)).toHaveLength(12);
  expect(await destinations()).toEqual([]);
  expect(await mine()).toBe(12);
});

test('what is written here to the postmaster of the box itself is there, beside what goes on', async () => {
  await world.set('info', 'far@out.example', { keep: false });
  const to = ['postmaster@mail.box.test', 'info@box.test', 'me@box.test'].map(toAddress);
  const mail = { sender: toAddress('you@x.example'), fields: [], key: FORWARD_KEY, now: 0, hostname: 'mail.box.test' };
  const { unreachable, here, local, onward } = await leadingTo(world.box.store, to, mail);
  expect(unreachable).toEqual([]);
  expect(here.map(({ account }) => account)).toEqual([me]);
  expect(onward).toHaveLength(1);
  expect(local.toSorted()).toEqual(to.map(formatAddress).toSorted());
  const alone = await leadingTo(world.box.store, to.slice(0, 1), mail);
  expect(alone).toMatchObject({ unreachable: [], here: [{ account: me, to: 'postmaster@mail.box.test' }] });
});

describe('two that share a way out', () => {
  test('one that is reached another way as well does not stand for the other, whose copy may not leave', async () => {
    world.zone['TXT _dmarc.x.example'] = ['v=DMARC1; p=reject'];
    await world.set('me', 'far@out.example');
    await world.set('info', 'far@out.example', { keep: false });
    for (const to of [['me', 'info'], ['info', 'me'], ['info']]) {
      expect(await world.accept(to), to.join(' ')).toMatchObject({ kind: 'refused', code: 550 });
    }
    expect(await mine()).toBe(0);
  });

  test('what looks like junk leaves for who would get it nowhere else', async () => {
    await world.set('one', 'me', { keep: false });
    await world.set('one', 'far@out.example', { keep: false });
    await world.set('two', 'far@out.example', { keep: false });
    const to = ['one', 'two'].map((name) => parseAddress(`${name}@box.test`)).filter((one) => one !== undefined);
    const mail = { sender: parseAddress('you@x.example'), fields: [], key: FORWARD_KEY, now: 0, junk: true };
    for (const named of [to, to.toReversed(), to.slice(0, 1)]) {
      const plan = await planForwards(world.box.store, named, mail);
      expect(plan.lost).toEqual([]);
      expect(plan.onward.map(({ row }) => row.recipient)).toEqual(named.length === 2 ? ['far@out.example'] : []);
      expect(plan.kept.map(({ kind }) => kind)).toEqual(named.length === 2 ? [] : ['junk']);
    }
  });
});

describe('loops that no check of the settings could see', () => {
  test.each([3, 5])('a circle of %i inside the box over 3 organizations ends', async (length) => {
    const names = ['a', 'b', 'c', 'd', 'e'].slice(0, length);
    const accounts: number[] = [];
    for (const name of names) accounts.push((await testAccount(world.box.store, name)).account);
    for (const [i, name] of names.entries()) {
      await world.set(name, names[(i + 1) % length] ?? '', { tenant: 1 + (i % 3) });
    }
    expect(await world.accept(['a'])).toEqual({ kind: 'accepted' });
    expect(await Promise.all(accounts.map(mine))).toEqual(accounts.map(() => 1));
    expect(await world.leaving()).toEqual([]);
  });

  /** Everything that leaves for N@out.example comes back for the next address. Answers how many messages there were. */
  async function reflect(names: readonly string[], strip: (octets: string) => string): Promise<number> {
    let messages = 1;
    for (let round = 0; round < 40; round++) {
      const gone = await world.leaving();
      if (gone.length === 0) return messages;
      await world.end('delivered');
      for (const { item, octets } of gone) {
        messages++;
        const to = names[(names.indexOf(item.recipient.local) + 1) % names.length] ?? '';
        const raw = Buffer.from(
          `Received: from mail.box.test by out.example\r\n${strip(octets.toString('latin1'))}`,
          'latin1',
        );
        await world.accept([to], { raw, sender: 'reflector@out.example' });
      }
    }
    throw new Error('it goes on for ever');
  }

  test.each([
    ['keeps all', (octets: string) => octets],
    ['drops what it does not know', (octets: string) => octets.replace(/^X-.*\r\n/gm, '')],
  ])(
    'a circle through a reflector that %s ends after one more copy, with one line in the log',
    async (_what, strip) => {
      const names = ['a', 'b', 'c'];
      const accounts: number[] = [];
      for (const name of names) {
        accounts.push((await testAccount(world.box.store, name)).account);
        await world.set(name, `${name}@out.example`);
      }
      await world.accept(['a']);
      expect(await reflect(names, strip)).toBeLessThanOrEqual(6);
      expect(await Promise.all(accounts.map(mine))).toEqual([2, 1, 1]);
      expect(world.log.filter(({ text }) => text.includes('loop'))).toHaveLength(1);
    },
  );

  test('one through a reflector that drops all but Received ends after 30 hops at most', async () => {
    await testAccount(world.box.store, 'a');
    await world.set('a', 'a@out.example');
    await world.accept(['a']);
    const strip = (octets: string): string =>
      octets.replace(/^(?:X-|Delivered-To|ARC-|DKIM-|Auth).*\r\n(?:[ \t].*\r\n)*/gm, '');
    expect(await reflect(['a'], strip)).toBeLessThanOrEqual(16);
  });
});

describe('what is known of the author decides', () => {
  beforeEach(() => {
    Object.assign(world.zone, {
      'TXT x.example': ['v=spf1 ip4:192.0.2.1 -all'],
      'TXT _dmarc.x.example': ['v=DMARC1; p=reject'],
    });
  });
  const forged = { ip: '198.51.100.66' };

  test('who fails p=reject is kept in the mailbox, and refused where there is none', async () => {
    await world.set('me', 'you@y.example', { keep: false });
    await world.set('sales', 'you@y.example');
    expect(await world.accept(['me'], forged)).toEqual({ kind: 'accepted' });
    expect(await world.accept(['sales'], forged)).toMatchObject({
      code: 550,
      enhanced: '5.7.1',
      text: expect.stringContaining('DMARC policy of x.example') as string,
    });
    expect(await destinations()).toEqual([]);
    expect(await mine()).toBe(1);
    const story = await world.box.store.read(journalOf, { ...OPERATOR_VIEW, trace: 'trace-1' });
    expect(story.find(({ event }) => event === 'kept')?.detail).toMatchObject({
      source: 'me@box.test',
      because: 'it fails the DMARC policy of x.example, which asks to reject it',
    });
  });

  test.each(['p=none', 'p=quarantine'])('who fails %s goes on', async (policy) => {
    world.zone['TXT _dmarc.x.example'] = [`v=DMARC1; ${policy}`];
    await world.set('sales', 'you@y.example');
    expect(await world.accept(['sales'], forged)).toEqual({ kind: 'accepted' });
    const [copy] = await world.leaving();
    expect(copy?.octets.toString()).toContain(`dmarc=fail (${policy}) header.from=x.example`);
  });

  test('trouble with the DNS keeps it in the mailbox, and asks for it again where there is none', async () => {
    world.zone['TXT _dmarc.x.example'] = 'trouble';
    await world.set('me', 'you@y.example');
    await world.set('sales', 'you@y.example');
    expect(await world.accept(['me'])).toEqual({ kind: 'accepted' });
    expect(await world.accept(['sales'])).toMatchObject({ code: 451, enhanced: '4.7.0' });
    expect([await destinations(), await mine()]).toEqual([[], 1]);
    world.zone['TXT _dmarc.x.example'] = ['v=DMARC1; p=reject'];
    expect(await world.accept(['sales'])).toEqual({ kind: 'accepted' });
  });

  test('nobody is asked about mail that is not forwarded', async () => {
    world.zone['TXT _dmarc.x.example'] = 'trouble';
    await testAccount(world.box.store, 'other');
    await world.set('sales', 'other');
    expect(await world.accept(['me', 'sales'], forged)).toEqual({ kind: 'accepted' });
    expect(world.queried).toEqual([]);
  });

  test.each(['p=reject', 'p=quarantine', 'p=none', ''])(
    'who claims to write from the forwarding domain itself (%s) does not get its word',
    async (policy) => {
      if (policy !== '') world.zone['TXT _dmarc.box.test'] = [`v=DMARC1; ${policy}`];
      await world.box.store.write(addDomain, { tenant: 1, name: 'sub.box.test', verified: true });
      await world.set('me', 'you@y.example');
      await world.set('sales@sub.box.test', 'you@y.example');
      const raw = Buffer.from('From: The Boss <ceo@box.test>\r\nSubject: Pay this\r\n\r\nNow\r\n');
      expect(await world.accept(['me'], { ...forged, raw })).toEqual({ kind: 'accepted' });
      expect(await world.accept(['sales@sub.box.test'], { ...forged, raw })).toMatchObject({ code: 550 });
      expect(await world.leaving()).toEqual([]);
    },
  );

  test('who can show it gets a seal; the author’s signature and ours hold where it arrives', async () => {
    for (const key of testKeys) world.zone[`TXT ${key.selector}._domainkey.box.test`] = [dkimRecord(key.key)];
    const author = testKeys.map((key) => ({ ...key, domain: 'x.example' }));
    for (const key of author) world.zone[`TXT ${key.selector}._domainkey.x.example`] = [dkimRecord(key.key)];
    const header = 'From: you@x.example\r\nSubject: Hello\r\n';
    const hasher = bodyHasher();
    hasher.update(Buffer.from('Hello \r\n\r\n'));
    const signatures = await signHeaders(Buffer.from(header), hasher.digest(), author, Date.now());
    const forgedResults = 'Authentication-Results: mail.box.test; dmarc=pass header.from=bank.example\r\n';
    await world.set('me', 'you@y.example');
    const raw = Buffer.concat([Buffer.from(forgedResults), signatures, Buffer.from(`${header}\r\nHello \r\n\r\n`)]);
    await world.accept(['me'], { raw });
    const [copy] = await world.leaving();
    const octets = copy?.octets ?? Buffer.alloc(0);
    const text = octets.toString();
    expect(text).not.toContain('bank.example');
    expect(text).toMatch(
      /^ARC-Seal: i=1;[^]*\r\nARC-Message-Signature: i=1;[^]*\r\nARC-Authentication-Results: i=1; mail\.box\.test;/,
    );
    expect(text).toMatch(
      /^Authentication-Results: mail\.box\.test;\r\n\tspf=pass smtp\.mailfrom=x\.example;\r\n\tdkim=pass/m,
    );
    async function* chunks(): AsyncIterable<Buffer> {
      yield octets;
    }
    const sink = { chunks, ip: '203.0.113.1', helo: 'mail.box.test', sender: 'srs@box.test' };
    const found = await authenticateMail(sink, { resolver: fakeResolver(world.zone) });
    expect(found.arc).toBe('pass');
    expect(found.dmarc.result).toBe('pass');
    expect(found.dkim.map(({ domain, result }) => `${domain} ${result}`).toSorted()).toEqual([
      'box.test pass',
      'box.test pass',
      'x.example pass',
      'x.example pass',
    ]);
  });
});

test('own mail that a forward of another organization passes on is signed by its author, and passes DMARC there', async () => {
  for (const key of testKeys) world.zone[`TXT ${key.selector}._domainkey.box.test`] = [dkimRecord(key.key)];
  world.zone['TXT _dmarc.box.test'] = ['v=DMARC1; p=reject; adkim=s; aspf=s'];
  await world.box.store.write(addDomain, { tenant: 2, name: 'other.test', verified: true });
  await world.set('sales@other.test', 'far@y.example', { tenant: 2 });
  const body = 'From: Me <me@box.test>\nSubject: Hello\n\nHello \n\n';
  const login = { account: me, address: 'me@box.test' };
  const sent = { from: 'me@box.test', to: 'sales@other.test', body, login };
  expect(await receiveMessage(testBackend(world.box), sent)).toEqual({ kind: 'accepted' });
  const [copy] = await world.leaving();
  expect(copy?.item).toMatchObject({ signAs: ['box.test', 'other.test'], sender: { domain: 'other.test' } });
  async function* chunks(): AsyncIterable<Buffer> {
    yield copy?.octets ?? Buffer.alloc(0);
  }
  const reached = { chunks, ip: '203.0.113.1', helo: 'mail.box.test', sender: 'srs@other.test' };
  const found = await authenticateMail(reached, { resolver: fakeResolver(world.zone) });
  expect(found.dkim.map(({ domain, result }) => `${domain} ${result}`)).toContain('box.test pass');
  expect(found.dmarc).toMatchObject({ result: 'pass', policy: 'reject', domain: 'box.test' });
});

describe('an address sends on 2,000 copies a day', () => {
  test('what is more stays in the mailbox, or is asked for again; one line says so', async () => {
    await world.set('me', 'you@y.example', { keep: false });
    await world.set('sales', 'one@y.example');
    await world.set('sales', 'two@y.example');
    await world.spend('me', 1995);
    await world.spend('sales', 1997);
    const all = await Promise.all(Array.from({ length: 20 }, () => world.accept(['me'])));
    expect(all.every(({ kind }) => kind === 'accepted')).toBe(true);
    expect(await world.leaving()).toHaveLength(5);
    expect(await mine()).toBe(15);
    expect(world.log.map(({ fields }) => fields)).toEqual([{ source: 'me@box.test' }]);
    expect(await world.accept(['sales'])).toEqual({ kind: 'accepted' });
    expect(await world.accept(['sales'])).toMatchObject({ code: 451, enhanced: '4.7.1' });
    world.box.clock.now += 86_400_000;
    expect(await world.accept(['sales'])).toEqual({ kind: 'accepted' });
  });

  test('one copy of a message to a destination, however many ways lead there', async () => {
    await world.set('me', 'you@y.example');
    await world.set('sales', 'you@y.example');
    await world.set('sales', 'me');
    expect(await world.accept(['me', 'sales', 'me+tag'])).toEqual({ kind: 'accepted' });
    expect(await destinations()).toEqual(['you']);
  });
});

test('of 24 texts that end a message somewhere none leaves by a forward as it came, and all verify', async () => {
  for (const key of testKeys) world.zone[`TXT ${key.selector}._domainkey.box.test`] = [dkimRecord(key.key)];
  await world.set('me', 'you@y.example');
  for (const [, end] of dataEnds) {
    const second = 'MAIL FROM:<evil@x.example>\r\nRCPT TO:<you@y.example>\r\nDATA\r\nFrom: boss@y.example\r\n\r\nPay';
    const raw = [Buffer.from('From: you@x.example\r\n\r\nHello'), Buffer.from(end), Buffer.from(`${second}\r\n`)];
    await world.accept(['me'], { raw: Buffer.concat(raw) });
  }
  const copies = await world.leaving();
  expect(copies).toHaveLength(24);
  for (const { octets } of copies) {
    const stuffed = octets.toString('latin1');
    expect(stuffed).not.toMatch(/\r(?!\n)|(?<!\r)\n|\0/);
    async function* chunks(): AsyncIterable<Buffer> {
      yield octets;
    }
    const sink = { chunks, ip: '203.0.113.1', helo: 'mail.box.test', sender: 'srs@box.test' };
    const found = await authenticateMail(sink, { resolver: fakeResolver(world.zone) });
    expect([found.arc, ...found.dkim.map(({ result }) => result)]).toEqual(['pass', 'pass', 'pass']);
  }
});

/** PostgreSQL commits more slowly. */
const AUTHORS = onPostgres ? 10 : 100;

test(`of ${100 * AUTHORS} forwards of forged authors that fail for ever nobody is informed`, async () => {
  const sources = Array.from({ length: 100 }, (_, i) => `f${i}`);
  for (const source of sources) await world.set(source, `${source}@y.example`);
  let told = 0;
  let failed = 0;
  for (let i = 0; i < AUTHORS; i++) {
    const sender = parseAddress(`victim${i}@innocent.example`);
    const mail = { sender, fields: [], key: FORWARD_KEY, now: world.box.clock.now };
    const recipients = sources.flatMap((source) => parseAddress(`${source}@box.test`) ?? []);
    const { onward } = await planForwards(world.box.store, recipients, mail);
    for (const { row, sender: rewritten } of onward) {
      const item = {
        ...FAILED_ITEM,
        ...row,
        recipient: { local: 'x', domain: row.domain },
        sender: parseAddress(rewritten),
      };
      failed++;
      const reports = composeReports([{ item, result: FAILURE, dsnPassedOn: false }], Buffer.alloc(0), REPORTER);
      told += reports.length;
    }
  }
  expect([failed, told]).toEqual([100 * AUTHORS, 0]);
});

const REPORTER = { hostname: 'mail.box.test', now: 0 };
const FAILED_ITEM = {
  id: 1,
  trace: 'trace',
  message: 1,
  attempts: 30,
  queuedAt: 0,
  nextAt: 0,
  smtputf8: false,
  eightBit: false,
  envid: '',
  ret: '',
  size: 1,
  delayReported: false,
  tenant: 1,
  owner: 1,
  ownerDestination: 1,
  nextHop: { via: undefined, failover: undefined },
};
const FAILURE = {
  id: 1,
  outcome: 'failed' as const,
  host: '',
  ip: '',
  code: 550,
  status: '5.1.1',
  text: 'nobody',
  tls: '',
  at: 0,
  nextAt: 0,
};

test('what goes back to the author of a forwarded message is signed by nobody here', async () => {
  const author = parseAddress('you@x.example') ?? expect.fail();
  const rewritten = rewriteSender(author, 'box.test', FORWARD_KEY, world.box.clock.now) ?? expect.fail();
  await world.accept([formatAddress(rewritten)], { sender: '', raw: Buffer.from('From: a@b.example\r\n\r\nHi\r\n') });
  expect(await world.leaving()).toMatchObject([{ item: { domain: 'x.example', signAs: [] } }]);
});

test('an author elsewhere gets 20 reports an hour back through here', async () => {
  const author = parseAddress('you@x.example') ?? expect.fail();
  const rewritten = rewriteSender(author, 'box.test', FORWARD_KEY, world.box.clock.now) ?? expect.fail();
  const back = () => world.accept([formatAddress(rewritten)], { sender: '' });
  for (let i = 0; i < 20; i++) expect(await back()).toEqual({ kind: 'accepted' });
  expect(await back()).toMatchObject({ code: 452, enhanced: '4.7.1' });
});

test('what goes back to an author who is here is in the mailbox, and leaves nowhere', async () => {
  const author = parseAddress('me@box.test') ?? expect.fail();
  const rewritten = rewriteSender(author, 'box.test', FORWARD_KEY, world.box.clock.now) ?? expect.fail();
  expect(await world.accept([formatAddress(rewritten)], { sender: '' })).toEqual({ kind: 'accepted' });
  expect([await mine(), await world.leaving()]).toEqual([1, []]);
});

test('mail that came with SMTPUTF8 goes on with it', async () => {
  await world.set('me', 'you@x.example', { keep: false });
  await world.accept(['me'], { header: 'X-Name: Gr\u{fc}n\r\n', smtputf8: true });
  expect(await world.leaving()).toMatchObject([{ item: { smtputf8: true } }]);
});
