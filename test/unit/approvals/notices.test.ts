import type { AppContext } from '../../../src/core/app-context.ts';
import '../../support/gate-that-holds-all.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { query } from '../../../mail/store/engine/types.ts';
import { addProposal, decideProposal, type AddProposalResult } from '../../../src/agents/proposal-commands.ts';
import { notifyApprovals } from '../../../src/approvals/commands.ts';
import { approvalRequests } from '../../../src/approvals/notice-source.ts';
import { Notifier } from '../../../src/notices/notifier.ts';
import { approvalLink } from '../../../src/approvals/link.ts';
import { ApprovalWorld } from '../../support/approval-world.ts';

const MINUTE = 60_000;
/** Letters of the box about mail that waits, decoded, oldest first. */
const sentLetters = query('test-letters', async (rx) => {
  const rows = await rx.all<{ recipient: string; data: Uint8Array }>(
    `SELECT q.recipient, b.data FROM submission s JOIN queue q ON q.submission_id = s.id JOIN blob b ON b.id = s.blob_id
     WHERE s.tenant = 0 ORDER BY s.id`,
  );
  return rows
    .map(({ recipient, data }) => ({ recipient, text: Buffer.from(data).toString().replaceAll('=\r\n', '') }))
    .filter(({ text }) => /Approval needed/.test(text));
});

let world: ApprovalWorld;
let notifier: Notifier;

beforeEach(async () => {
  world = await ApprovalWorld.open();
  notifier = notifierOf(world.made.world);
});
afterEach(() => world[Symbol.asyncDispose]());

function notifierOf(of: AppContext): Notifier {
  return new Notifier({ ...of, sources: [approvalRequests(of)], queued: () => undefined });
}

const letters = () => world.made.world.store.read(sentLetters, undefined);

async function linkOf(id: number, user = world.acme.user): Promise<URL> {
  const link = await approvalLink(world.made.world, { id, user });
  return new URL(link ?? '');
}

const fieldsOf = (link: URL, verb: string) => ({ ...Object.fromEntries(link.searchParams), do: verb });
const pathOf = ({ pathname, search }: URL): string => `${pathname}${search}`;

/** Proposals of a token. */
async function propose(organization: number, operation: string, n = 0): Promise<AddProposalResult> {
  const { store, clock } = world.made.world;
  const digest = Uint8Array.from(Buffer.from(`${organization} ${operation} ${n}`));
  const expiresAt = clock() + 7 * 24 * 60 * MINUTE;
  const rest = { target: '', actions: ['manage'], input: Uint8Array.from(Buffer.from('sealed')), digest, expiresAt };
  return store.write(addProposal, { organization, token: 1 + (n % 5), operation, ...rest });
}

describe('a letter about proposals', () => {
  test('names what is asked for, leads to the page, and has no link that decides', async () => {
    await propose(world.acme.id, 'set_email_forwarder');
    await notifier.run();
    await notifier.run();
    const [letter, ...more] = await letters();
    expect(more).toEqual([]);
    expect(letter?.recipient).toBe('ada@owner.test');
    expect(letter?.text).toContain('Subject: Approval needed: a proposal');
    expect(letter?.text).toContain('Change: set email forwarder');
    expect(letter?.text).toContain(`${world.acme.path}/proposals`);
    expect(letter?.text).not.toMatch(/approve\?|wants to send mail/);
  });

  test('is one with that about mail, the only one for ten minutes, and forgets nothing', async () => {
    await world.hold();
    await propose(world.acme.id, 'create_webhook');
    await notifier.run();
    await propose(world.acme.id, 'create_app_password');
    await world.hold();
    world.made.store.clock.now += 9 * MINUTE;
    await notifier.run();
    expect(await letters()).toHaveLength(1);
    world.made.store.clock.now += 2 * MINUTE;
    await notifier.run();
    await notifier.run();
    const [first, second, ...more] = await letters();
    expect(more).toEqual([]);
    expect(first?.text).toContain("Subject: Approval needed: your agents' mail and proposals");
    expect(first?.text).toMatch(/Held because[^]*Change: create webhook/);
    expect(second?.text).toMatch(/Change: create webhook[^]*Change: create app password/);
  });

  test('leaves what is asked while it is written to the next one', async () => {
    const { store } = world.made.world;
    const late = async (...[what, input]: Parameters<typeof store.write>) => {
      if (what.name === notifyApprovals.name) {
        await propose(world.acme.id, 'create_app_password');
        await world.hold();
      }
      return store.write(what, input);
    };
    const slow = notifierOf({
      ...world.made.world,
      store: { read: store.read.bind(store), write: late } as unknown as typeof store,
    });
    await propose(world.acme.id, 'create_webhook');
    await slow.run();
    world.made.store.clock.now += 11 * MINUTE;
    await notifier.run();
    const [first, second, ...more] = await letters();
    expect(more).toEqual([]);
    expect(first?.text).not.toMatch(/create app password|Held because/);
    expect(second?.text).toMatch(/Held because[^]*Change: create app password/);
  });

  test('names twenty, and the page has the rest', async () => {
    for (let n = 0; n < 30; n++) await propose(world.acme.id, 'create_email_api_key', n);
    await notifier.run();
    const [letter] = await letters();
    expect(letter?.text.match(/Change: create email api key/g)).toHaveLength(20);
    expect(letter?.text).toContain('There are more; the page below lists all of them.');
  });

  test('is for the owners of that organization, and about what waits still', async () => {
    await propose(world.other.id, 'invite_member');
    const decided = await propose(world.acme.id, 'create_webhook');
    if (decided.kind !== 'pending') throw new Error(decided.kind);
    const decision = { organization: world.acme.id, id: decided.id, accept: false, by: 'ada' };
    await world.made.world.store.write(decideProposal, decision);
    await notifier.run();
    const all = await letters();
    expect(all.map(({ recipient }) => recipient)).toEqual(['eve@owner.test']);
    expect(all[0]?.text).toContain(`${world.other.path}/proposals`);
  });

  test('stands beside the number in the menu, of which a stranger sees none', async () => {
    for (let n = 0; n < 3; n++) await propose(world.acme.id, 'create_webhook', n);
    await world.hold();
    const { body } = await world.get(world.acme.path, world.acme.cookie);
    expect(body).toMatch(/Proposals\s*<span class="count">3/);
    expect(body).toMatch(/Approvals\s*<span class="count">1/);
    expect((await world.get(world.other.path, world.other.cookie)).body).not.toContain('class="count"');
  });
});

describe('a letter to the owners', () => {
  test('names what waits for them behind whatever else is held', async () => {
    const queried = await world.hold();
    for (let i = 0; i < 21; i++) await world.hold();
    await world.break(`DELETE FROM approval WHERE id > ${queried}`);
    await notifier.run();
    const [letter] = await letters();
    expect(letter?.text).toContain('Subject: Approval needed: a message');
    expect(letter?.text.match(/Held because/g)).toHaveLength(1);
  });

  test('has all that waits, and is the only one for ten minutes', async () => {
    await world.hold();
    await world.hold('From: anna@anna.test\r\nSubject: see https://evil.test/x now\r\n\r\nx\r\n');
    await notifier.run();
    await world.hold();
    await notifier.run();
    const [letter, ...more] = await letters();
    expect(more).toEqual([]);
    expect(letter?.recipient).toBe('ada@owner.test');
    expect(letter?.text.match(/Held because/g)).toHaveLength(2);
    expect(letter?.text).toContain('x@elsewhere.test');
    expect(letter?.text).not.toContain('evil.test');
    world.made.store.clock.now += 11 * MINUTE;
    await notifier.run();
    await notifier.run();
    expect(await letters()).toHaveLength(2);
  });

  test('is not written to an address that was never proved', async () => {
    await world.break(`UPDATE user SET address_verified_at = NULL WHERE id = ${world.acme.user}`);
    await world.hold();
    await propose(world.acme.id, 'create_webhook');
    await propose(world.other.id, 'create_webhook');
    await notifier.run();
    expect((await letters()).map(({ recipient }) => recipient)).toEqual(['eve@owner.test']);
  });

  test('is not kept back by one that a clock wrote which ran ahead', async () => {
    const { clock } = world.made.store;
    clock.now += 60 * MINUTE;
    await world.hold();
    await notifier.run();
    await propose(world.acme.id, 'create_webhook');
    clock.now += 11 * MINUTE;
    await notifier.run();
    expect(await letters()).toHaveLength(2);
    clock.now -= 71 * MINUTE;
    await world.hold();
    await notifier.run();
    await notifier.run();
    expect(await letters()).toHaveLength(3);
  });

  test('has a link that decides, but for nobody whose mail comes through this box', async () => {
    await world.hold();
    await notifier.run();
    expect((await letters())[0]?.text).toContain('/approve?id=');
    await world.break(`UPDATE user SET email = 'anna@anna.test' WHERE id = ${world.acme.user}`);
    world.made.store.clock.now += 11 * MINUTE;
    await world.hold();
    await notifier.run();
    const inside = await world.made.world.store.read(
      query('test-inside', (rx) =>
        rx.all<{ data: Uint8Array }>(
          `SELECT b.data FROM email e JOIN blob b ON b.id = e.blob_id JOIN email_meta m ON m.email_id = e.id
           WHERE m.subject LIKE 'Approval needed%'`,
        ),
      ),
      undefined,
    );
    expect(inside).toHaveLength(1);
    expect(Buffer.from(inside[0]?.data ?? []).toString()).not.toContain('/approve?');
  });
});

describe('the link', () => {
  test('shows the message and decides nothing by being opened; a button does, once', async () => {
    const id = await world.hold();
    const link = await linkOf(id);
    const shown = await world.get(pathOf(link));
    expect([shown.statusCode, shown.body]).toEqual([200, expect.stringContaining('x@<wbr />elsewhere.test')]);
    expect(await world.item(id)).toMatchObject({ state: 'pending' });
    const said = await world.post('/approve', fieldsOf(link, 'approve'));
    expect([said.statusCode, said.body]).toEqual([200, expect.stringContaining('The message is sent now')]);
    expect(await world.item(id)).toMatchObject({ state: 'approved', approval: { decidedBy: 'ada@owner.test' } });
    const again = await world.post('/approve', fieldsOf(link, 'deny'));
    expect([again.statusCode, again.body]).toEqual([409, expect.stringContaining('decided before')]);
    expect((await world.get(pathOf(link))).body).not.toContain('<button');
  });

  test('refuses as well', async () => {
    const id = await world.hold();
    await world.post('/approve', fieldsOf(await linkOf(id), 'deny'));
    expect(await world.item(id)).toMatchObject({ state: 'denied' });
  });

  test('is for one message, one person and one envelope, and for owners', async () => {
    const [id, second] = [await world.hold(), await world.hold()];
    const link = await linkOf(id);
    const changed = (name: string, value: string): URL => {
      const other = new URL(link);
      other.searchParams.set(name, value);
      return other;
    };
    const bad = [
      changed('id', `out_${second}`),
      changed('user', `usr_${world.other.user}`),
      changed('token', '0'.repeat(48)),
      changed('token', 'x'),
      changed('id', 'out_999999'),
      await linkOf(id, world.other.user),
    ];
    const answers = new Set<string>();
    for (const url of bad) {
      expect((await world.get(pathOf(url))).statusCode).toBe(404);
      const said = await world.post('/approve', fieldsOf(url, 'approve'));
      expect(said.statusCode).toBe(404);
      answers.add(said.body);
    }
    expect(answers.size).toBe(1);
    await world.break(`UPDATE approval SET seal = 'other' WHERE id = ${id}`);
    expect((await world.get(pathOf(link))).statusCode).toBe(404);
    const own = await linkOf(second);
    await world.break(`UPDATE member SET role = 'admin' WHERE user_id = ${world.acme.user}`);
    expect((await world.post('/approve', fieldsOf(own, 'approve'))).statusCode).toBe(404);
    expect(await world.item(second)).toMatchObject({ state: 'pending' });
  });

  test('of a frozen organization opens nothing, and a form of another site does nothing', async () => {
    const id = await world.hold();
    const link = await linkOf(id);
    const foreign = await world.post('/approve', fieldsOf(link, 'approve'), { 'sec-fetch-site': 'cross-site' });
    expect(foreign.statusCode).toBe(403);
    await world.break(`UPDATE organization SET frozen_at = 1 WHERE id = ${world.acme.id}`);
    expect((await world.post('/approve', fieldsOf(link, 'approve'))).statusCode).toBe(404);
    expect(await world.item(id)).toMatchObject({ state: 'pending' });
  });
});
