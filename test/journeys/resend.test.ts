import { Resend } from 'resend';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Box } from '../support/box.ts';
import { organizationBox, tool } from '../support/mcp.ts';

let box: Box;
let base: string;
let token: string;
let key: string;

beforeAll(async () => {
  ({ box, base, token } = await organizationBox('Movers'));
  await tool(base, 'add_email_domain', { domain: 'moved.test' }, token);
  await tool(base, 'verify_email_domain', { domain: 'moved.test' }, token);
  key = String((await tool(base, 'create_email_api_key', { name: 'app' }, token)).body['secret']);
  // All that a program changes to move here.
  process.env['RESEND_BASE_URL'] = base;
});
afterAll(async () => {
  delete process.env['RESEND_BASE_URL'];
  await box[Symbol.asyncDispose]();
});

const mail = {
  from: 'Shop <shop@moved.test>',
  to: ['you@elsewhere.example'],
  subject: 'Hello',
  html: '<p>Hello</p>',
};
const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();

test('its library sends, with files and tags, once for one key, and reads how it stands', async () => {
  const resend = new Resend(key);
  const attachments = [{ filename: 'a.txt', content: Buffer.from('hello'), contentType: 'text/plain' }];
  const full = { ...mail, replyTo: 'help@moved.test', attachments, tags: [{ name: 'kind', value: 'order' }] };
  const { data, error } = await resend.emails.send(full, { idempotencyKey: 'order-1' });
  expect(error).toBeNull();
  const again = await resend.emails.send(full, { idempotencyKey: 'order-1' });
  expect(again.data?.id).toBe(data?.id);
  const read = await resend.emails.get(data?.id ?? '');
  expect(read.data).toMatchObject({ object: 'email', to: mail.to, subject: 'Hello', tags: full.tags });
  expect(await resend.emails.send({ ...full, subject: 'Other' }, { idempotencyKey: 'order-1' })).toMatchObject({
    data: null,
    error: { name: 'invalid_idempotent_request', statusCode: 409 },
  });
});

test('sends a batch: all or none of it, or what is right of it', async () => {
  const resend = new Resend(key);
  const good = await resend.batch.send([mail, { ...mail, subject: 'Second' }]);
  expect(good.data?.data).toHaveLength(2);
  const wrong = { ...mail, from: 'x@elsewhere.example' };
  const before = await queued();
  expect(await resend.batch.send([mail, wrong])).toMatchObject({
    data: null,
    error: { name: 'invalid_from_address', statusCode: 422 },
  });
  expect(await queued()).toBe(before);
  const some = await resend.batch.send([wrong, mail], { batchValidation: 'permissive' });
  expect(some.data).toMatchObject({
    data: [{ id: expect.stringMatching(/^eml_/) as string }],
    errors: [{ index: 0, message: expect.stringContaining('elsewhere.example') as string }],
  });
  expect(await queued()).toBe(before + 1);
});

test('schedules, changes the time, and cancels', async () => {
  const resend = new Resend(key);
  const { data } = await resend.emails.send({ ...mail, scheduledAt: inAnHour() });
  const id = data?.id ?? '';
  const scheduledAt = new Date(Date.now() + 7_200_000).toISOString();
  expect(await resend.emails.update({ id, scheduledAt })).toMatchObject({ data: { object: 'email', id } });
  expect((await resend.emails.get(id)).data).toMatchObject({ last_event: 'scheduled', scheduled_at: scheduledAt });
  expect(await resend.emails.cancel(id)).toMatchObject({ data: { object: 'email', id } });
  expect((await resend.emails.get(id)).data?.last_event).toBe('canceled');
  expect(await resend.emails.cancel(id)).toMatchObject({ data: null, error: { statusCode: 409 } });
});

test('hears of what is wrong in error objects of its own', async () => {
  const resend = new Resend(key);
  const errors = [
    (await resend.emails.send({ ...mail, subject: 'a\r\nBcc: x@ext.example' })).error,
    (await resend.emails.send({ ...mail, scheduledAt: 'in 1 min' })).error,
    (await resend.emails.get('eml_999999')).error,
    (await new Resend(`${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`).emails.send(mail)).error,
  ];
  expect(errors.map((one) => [one?.name, one?.statusCode])).toEqual([
    ['validation_error', 400],
    ['validation_error', 400],
    ['not_found', 404],
    ['invalid_api_key', 401],
  ]);
  for (const one of errors) expect(one?.message).toMatch(/\w/);
});

test('reads copies apart from recipients', async () => {
  const resend = new Resend(key);
  const copies = { cc: 'copy@elsewhere.example', bcc: ['blind@elsewhere.example'] };
  const { data } = await resend.emails.send({ ...mail, ...copies, subject: 'Copies' });
  expect((await resend.emails.get(data?.id ?? '')).data).toMatchObject({
    to: mail.to,
    cc: ['copy@elsewhere.example'],
    bcc: ['blind@elsewhere.example'],
  });
});

test('is refused by the names that it sent', async () => {
  const resend = new Resend(key);
  const later = await resend.emails.send({ ...mail, scheduledAt: 'in 1 hour' });
  expect(later.error).toMatchObject({ name: 'validation_error', message: expect.stringMatching(/^scheduled_at: /) });
  const attachments = [{ filename: 'a.pdf', path: 'https://elsewhere.example/a.pdf' }];
  const byPath = await resend.emails.send({ ...mail, attachments });
  expect(byPath.error).toMatchObject({ statusCode: 400, message: expect.stringMatching(/^attachments\.0\.path: /) });
  const some = await resend.batch.send(
    [
      { ...mail, scheduledAt: 'soon' },
      { ...mail, subject: 'Other' },
    ],
    {
      batchValidation: 'permissive',
    },
  );
  expect(some.data).toMatchObject({ data: [{}], errors: [{ index: 0 }] });
});

test('hears of what is not offered in error objects of its own', async () => {
  const resend = new Resend(key);
  for (const { error } of [await resend.domains.list(), await resend.apiKeys.list(), await resend.domains.get('x')]) {
    expect(error).toMatchObject({ name: 'not_found', statusCode: 404, message: expect.stringContaining('openapi') });
  }
  expect((await resend.emails.list()).error).toMatchObject({ name: 'method_not_allowed', statusCode: 405 });
});

async function queued(): Promise<number> {
  return ((await tool(base, 'list_queue', { limit: 100 }, token)).body['items'] as unknown[]).length;
}
