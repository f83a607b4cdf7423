import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import '../../support/gate-that-holds-all.ts';
import { unschedule } from '../../../mail/delivery/scheduled-messages.ts';
import { command } from '../../../mail/store/engine/types.ts';
import { listAudit } from '../../../src/audit/queries.ts';
import { ApprovalWorld, PASSWORD } from '../../support/approval-world.ts';

const HOUR = 3_600_000;
const takeBack = command('test-take-back', (tx, { trace }: { trace: string }, stamp) => unschedule(tx, trace, stamp));

let world: ApprovalWorld;

beforeEach(async () => {
  world = await ApprovalWorld.open([takeBack]);
});
afterEach(() => world[Symbol.asyncDispose]());

const pageOf = (id: number): string => `${world.acme.path}/outbox/out_${id}`;
const verb = (id: number, what: 'approve' | 'deny'): string => `/api/outbox/out_${id}/${what}`;

describe('the page', () => {
  test('shows who asks, everybody who gets it, why it waits and the text as text, with its count in the menu', async () => {
    const bad =
      'From: anna@anna.test\r\nTo: x@elsewhere.test\r\nSubject: <b>Offer</b>\r\n\r\n<script>alert(1)</script>\r\n';
    const id = await world.hold(bad);
    const list = await world.get(`${world.acme.path}/outbox`, world.acme.cookie);
    expect(list.body).toMatch(/Approvals\s*<span class="count">1/);
    expect(list.body).toContain(`${world.acme.path}/outbox/out_${id}`);
    const { body } = await world.get(pageOf(id), world.acme.cookie);
    for (const shown of [
      'tok_7',
      'x@<wbr />elsewhere.test',
      'was never written to',
      '&lt;b&gt;Offer',
      '&lt;script&gt;',
    ]) {
      expect(body).toContain(shown);
    }
    expect(body).not.toContain('<script>alert');
  });

  test('says what the agent had read before', async () => {
    const id = await world.hold();
    const read = [{ email: 1, account: 1, author: 'stranger@evil.test', verdict: 'clear', authentic: false, at: 1 }];
    await world.break(`UPDATE agent_send SET untrusted_reads = '${JSON.stringify(read)}'`);
    const { body } = await world.get(pageOf(id), world.acme.cookie);
    expect(body).toMatch(/mail from stranger@<wbr \/>evil\.test \(not authenticated\)/);
  });

  test('approves: it leaves, with an audit row, and is seen among what was decided', async () => {
    const id = await world.hold();
    const said = await world.act(pageOf(id), 'approve', world.acme.cookie);
    expect(said.headers['location']).toBe(`${world.acme.path}/outbox?done=approved`);
    expect(await world.item(id)).toMatchObject({
      state: 'approved',
      heldBecause: null,
      approval: { decidedBy: 'ada@owner.test' },
    });
    const page = { organization: world.acme.id, before: null, limit: 1 };
    const [row] = await world.made.world.store.read(listAudit, page);
    expect(row).toMatchObject({ operation: 'approve_outbox_item', target: `out_${id}`, outcome: 'approved' });
    const { body } = await world.get(`${world.acme.path}/outbox?done=approved`, world.acme.cookie);
    expect(body).toContain('Message approved.');
    expect(body).not.toContain('class="count"');
  });

  test('refuses', async () => {
    const id = await world.hold();
    const said = await world.act(pageOf(id), 'deny', world.acme.cookie);
    expect(said.headers['location']).toBe(`${world.acme.path}/outbox?done=denied`);
    expect(await world.item(id)).toMatchObject({ state: 'denied', dueAt: null });
  });

  test('asks for the password again when the sign-in is not fresh', async () => {
    const id = await world.hold();
    world.made.store.clock.now += 16 * 60_000;
    expect((await world.get(pageOf(id), world.acme.cookie)).body).toContain('name="password"');
    for (const password of ['', 'another one entirely']) {
      const said = await world.act(pageOf(id), 'approve', world.acme.cookie, { password });
      expect([said.statusCode, said.body]).toEqual([422, expect.stringContaining('Wrong current password')]);
    }
    expect(await world.item(id)).toMatchObject({ state: 'pending' });
    await world.act(pageOf(id), 'approve', world.acme.cookie, { password: PASSWORD });
    expect(await world.item(id)).toMatchObject({ state: 'approved' });
  });

  test('says what was not done: twice, withdrawn, too late, changed', async () => {
    const cases: [string, (id: number) => Promise<unknown>][] = [
      ['decided before', (id) => world.act(pageOf(id), 'approve', world.acme.cookie)],
      [
        'decided before',
        async (id) => world.made.world.store.write(takeBack, { trace: (await world.item(id))?.trace ?? '' }),
      ],
      [
        'changed after it was held',
        (id) => world.break(`UPDATE scheduled SET recipients = '["t@evil.test"]' WHERE submission_id = ${id}`),
      ],
      ['after 24 hours', () => Promise.resolve((world.made.store.clock.now += 25 * HOUR))],
    ];
    for (const [why, happens] of cases) {
      const id = await world.hold();
      await happens(id);
      const cookie = why.startsWith('after') ? await signInAgain() : world.acme.cookie;
      const { body } = await world.get(`${world.acme.path}/outbox`, cookie);
      const form = /name="form" value="([^"]+)"/.exec(body)?.[1] ?? '';
      const said = await world.post(pageOf(id), { do: 'approve', form }, { cookie });
      expect([said.statusCode, said.body], why).toEqual([422, expect.stringContaining(why)]);
    }
  });

  test('is not there for another organization, nor for a member whose mailbox it is not', async () => {
    const id = await world.hold();
    expect((await world.get(pageOf(id), world.other.cookie)).statusCode).toBe(404);
    const foreign = `${world.other.path}/outbox/out_${id}`;
    expect((await world.get(foreign, world.other.cookie)).statusCode).toBe(404);
    expect((await world.act(foreign, 'approve', world.other.cookie)).statusCode).not.toBe(303);
    await world.break(`UPDATE member SET role = 'member' WHERE user_id = ${world.acme.user}`);
    expect((await world.get(pageOf(id), world.acme.cookie)).statusCode).toBe(404);
    expect(await world.item(id)).toMatchObject({ state: 'pending' });
  });
});

async function signInAgain(): Promise<string> {
  const said = await world.post('/login', { email: 'ada@owner.test', password: PASSWORD });
  const [cookie] = said.cookies;
  return `${cookie?.name}=${cookie?.value}`;
}

describe('POST /api/outbox/{id}/approve and /deny', () => {
  async function form(cookie: string): Promise<string> {
    const { body } = await world.get('/account', cookie);
    return /name="form" value="([^"]+)"/.exec(body)?.[1] ?? '';
  }

  test('take a session with the token of its forms', async () => {
    const [one, two] = [await world.hold(), await world.hold()];
    const { cookie } = world.acme;
    const fields = { form: await form(cookie) };
    const said = await world.post(verb(one, 'approve'), fields, { cookie });
    expect([said.statusCode, said.json()]).toEqual([200, { outboxId: `out_${one}`, state: 'approved' }]);
    expect((await world.post(verb(two, 'deny'), fields, { cookie })).json()).toMatchObject({ state: 'denied' });
    expect((await world.post(verb(one, 'deny'), fields, { cookie })).statusCode).toBe(409);
  });

  test('take no bearer, whatever else it brings, no session of another organization, and no foreign form', async () => {
    const id = await world.hold();
    const { cookie } = world.acme;
    const fields = { form: await form(cookie) };
    const tries: [number, Record<string, string>, Record<string, string>][] = [
      [403, fields, { cookie, authorization: 'Bearer mst_x' }],
      [403, {}, { authorization: 'Bearer mst_x' }],
      [401, fields, {}],
      [403, {}, { cookie }],
      [403, fields, { cookie, 'sec-fetch-site': 'cross-site' }],
      [404, { form: await form(world.other.cookie) }, { cookie: world.other.cookie }],
    ];
    for (const [status, given, headers] of tries) {
      expect((await world.post(verb(id, 'approve'), given, headers)).statusCode).toBe(status);
    }
    const missing = await world.post(
      verb(id + 999, 'approve'),
      { form: await form(world.other.cookie) },
      { cookie: world.other.cookie },
    );
    const foreign = await world.post(
      verb(id, 'approve'),
      { form: await form(world.other.cookie) },
      { cookie: world.other.cookie },
    );
    expect(missing.body).toBe(foreign.body);
    expect(await world.item(id)).toMatchObject({ state: 'pending' });
  });
});
