import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { query } from '../../../mail/store/engine/types.ts';
import { ApprovalHerald } from '../../../src/approvals/herald.ts';
import { approvalLink } from '../../../src/approvals/link.ts';
import { ApprovalWorld } from '../../support/approval-world.ts';

vi.mock('../../../mail/delivery/agent/gate.ts', async () => {
  const { REASONS: reasons } = await import('../../support/held-mail.ts');
  return { judgeAgent: () => Promise.resolve({ kind: 'hold', reasons }) };
});

const MINUTE = 60_000;
/** Letters of the box about mail that waits, decoded, oldest first. */
const sentLetters = query('test-letters', async (rx) => {
  const rows = await rx.all<{ recipient: string; data: Uint8Array }>(
    `SELECT q.recipient, b.data FROM submission s JOIN queue q ON q.submission_id = s.id JOIN blob b ON b.id = s.blob_id
     WHERE s.tenant = 0 ORDER BY s.id`,
  );
  return rows
    .map(({ recipient, data }) => ({ recipient, text: Buffer.from(data).toString().replaceAll('=\r\n', '') }))
    .filter(({ text }) => text.includes('wait for you') || text.includes('waits for you'));
});

let world: ApprovalWorld;
let herald: ApprovalHerald;

beforeEach(async () => {
  world = await ApprovalWorld.open();
  herald = new ApprovalHerald({ ...world.made.world, queued: () => undefined });
  await world.break(`UPDATE user SET address_proven_at = 1 WHERE id = ${world.acme.user}`);
});
afterEach(async () => {
  await herald[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const letters = () => world.made.world.store.read(sentLetters, undefined);

async function linkOf(id: number, user = world.acme.user): Promise<URL> {
  const link = await approvalLink(world.made.world, { id, user });
  return new URL(link ?? '');
}

const fieldsOf = (link: URL, verb: string) => ({ ...Object.fromEntries(link.searchParams), do: verb });
const pathOf = ({ pathname, search }: URL): string => `${pathname}${search}`;

describe('a letter to the owners', () => {
  test('has all that waits, and is the only one for ten minutes', async () => {
    await world.hold();
    await world.hold('From: anna@anna.test\r\nSubject: see https://evil.test/x now\r\n\r\nx\r\n');
    await herald.run();
    await world.hold();
    await herald.run();
    const [letter, ...more] = await letters();
    expect(more).toEqual([]);
    expect(letter?.recipient).toBe('ada@owner.test');
    expect(letter?.text.match(/Why it waits/g)).toHaveLength(2);
    expect(letter?.text).toContain('x@elsewhere.test');
    expect(letter?.text).not.toContain('evil.test');
    world.made.store.clock.now += 11 * MINUTE;
    await herald.run();
    await herald.run();
    expect(await letters()).toHaveLength(2);
  });

  test('has a link that decides for who proved an address elsewhere, and for nobody whose mail comes through this box', async () => {
    await world.hold();
    await herald.run();
    expect((await letters())[0]?.text).toContain('/approve?id=');
    await world.break(`UPDATE user SET address_proven_at = NULL WHERE id = ${world.acme.user}`);
    world.made.store.clock.now += 11 * MINUTE;
    await world.hold();
    await herald.run();
    expect((await letters()).at(-1)?.text).not.toContain('/approve?');
    await world.break(`UPDATE user SET address_proven_at = 1, email = 'anna@anna.test' WHERE id = ${world.acme.user}`);
    world.made.store.clock.now += 11 * MINUTE;
    await world.hold();
    await herald.run();
    const inside = await world.made.world.store.read(
      query('test-inside', (rx) =>
        rx.all<{ data: Uint8Array }>(
          `SELECT b.data FROM email e JOIN blob b ON b.id = e.blob_id JOIN email_meta m ON m.email_id = e.id
           WHERE m.subject LIKE '%for you'`,
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
    expect([said.statusCode, said.body]).toEqual([200, expect.stringContaining('It is sent')]);
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
