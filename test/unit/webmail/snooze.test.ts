import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { jmapId } from '../../../mail/store/object-id.ts';
import { rowIn } from '../../../src/core/message-ids.ts';
import { translatedRefusal } from '../../../src/webmail/client/refusals.ts';
import type * as mailReader from '../../../src/webmail/mail-reader.ts';
import { type ConsentWorld, consentWorld, type Someone } from '../../support/consent-world.ts';
import { http } from '../../support/mcp.ts';
import { putMail } from '../../support/put-mail.ts';

/** Replaces the reader of the next requests; undefined: as the session says. */
const forced = vi.hoisted(() => ({ reading: undefined as mailReader.MailReading | undefined }));
vi.mock('../../../src/webmail/mail-reader.ts', async (original) => {
  const real = await original<typeof mailReader>();
  const readerOf: typeof real.findMailReader = async (...given) =>
    forced.reading ?? (await real.findMailReader(...given));
  return { ...real, readerOf };
});

const HOUR = 3600_000;
let box: ConsentWorld;
let email: string;
beforeAll(async () => {
  box = await consentWorld();
  const put = { account: box.anna, receivedAt: box.clock.now };
  const row = rowIn('email', box.anna, await putMail(box.world.store, put, 'Subject: x\n\nhello\n')) ?? 0;
  email = jmapId('email', row);
});
afterEach(() => {
  forced.reading = undefined;
});
afterAll(() => box[Symbol.asyncDispose]());

async function reader(account: number): Promise<Someone> {
  const someone = await box.someone('member', 1, [account]);
  const form = await someone.visitor.formToken('/account');
  await someone.visitor.post('/mail/open', { form, mailbox: `mbx_${account}` });
  return someone;
}

const timeIn = (ms: number): string => new Date(box.clock.now + ms).toISOString();
const snooze = ({ visitor }: Someone, until: string, headers = {}) =>
  visitor.post('/mail/snooze', { emails: email, lead: email, until }, headers);
const list = async ({ visitor }: Someone, site = 'same-origin') => {
  const said = await http('GET', `${box.base}/mail/snoozed`, { cookie: visitor.cookie ?? '', 'sec-fetch-site': site });
  return [said.status, said.json?.['snoozed']] as const;
};

test('a reader snoozes a message of theirs, sees it in the list, and ends that', async () => {
  const anna = await reader(box.anna);
  const until = timeIn(HOUR);
  expect((await snooze(anna, until)).status).toBe(200);
  expect(await list(anna)).toEqual([200, [{ email, until, back: false }]]);
  expect((await snooze(anna, '')).json).toEqual({ snoozed: [] });
});

test.each([
  ['a time that has passed', -HOUR],
  ['a time in more than a year', 400 * 24 * HOUR],
  ['no time', Number.NaN],
])('%s is refused with a code that web mail translates', async (_, ms) => {
  const until = Number.isNaN(ms) ? 'soon' : timeIn(ms);
  const said = await snooze(await reader(box.anna), until);
  expect([said.status, said.json]).toEqual([422, { detail: translatedRefusal('snooze-time'), code: 'snooze-time' }]);
});

test('another mailbox, another site and nobody snooze nothing', async () => {
  const [anna, bert] = [await reader(box.anna), await reader(box.bert)];
  expect((await snooze(bert, timeIn(HOUR))).json).toEqual({ snoozed: [] });
  expect((await snooze(anna, timeIn(HOUR), { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect((await list(anna, 'cross-site'))[0]).toBe(403);
  anna.visitor.cookie = undefined;
  expect((await list(anna))[0]).toBe(401);
  expect(await list(await reader(box.anna))).toEqual([200, []]);
});

test('web mail starts with a password that agents may use: the list is empty, not refused', async () => {
  const anna = await reader(box.anna);
  forced.reading = { kind: 'agent' };
  expect(await list(anna)).toEqual([200, []]);
});
