import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { startBox } from '../support/box.ts';
import { Wire } from '../support/wire.ts';

test('an app password that expires ends what it keeps open: IMAP, submission and an event source', async () => {
  await using box = await startBox();
  const { mailboxes } = (await box.ask('list_emails')) as { mailboxes: { id: string }[] };
  const expiresAt = new Date(Date.now() + 4000).toISOString();
  const made = await box.ask('create_app_password', { mailboxId: mailboxes[0]?.id, name: 'for a moment', expiresAt });
  const { password } = made as { password: string };

  using imap = await Wire.open(box.port('imap'));
  await imap.line();
  imap.send(`a LOGIN ${box.address} ${password}\r\nb SELECT INBOX\r\nc IDLE\r\n`);
  for (let line = await imap.line(); line !== '+ idling'; line = await imap.line()) expect(line).toBeDefined();
  using smtp = await Wire.open(box.port('submission'));
  await smtp.reply();
  await smtp.command('EHLO client.example');
  const secret = Buffer.from(`\0${box.address}\0${password}`).toString('base64');
  expect(await smtp.command(`AUTH PLAIN ${secret}`)).toMatch(/^235 /);
  const authorization = `Basic ${Buffer.from(`${box.address}:${password}`).toString('base64')}`;
  const path = '/jmap/eventsource?types=*&closeafter=no&ping=0';
  const source = get({ host: '127.0.0.1', port: box.port('http'), path, headers: { authorization } });
  const [stream] = (await once(source, 'response')) as [IncomingMessage];
  expect(stream.statusCode).toBe(200);
  const ended = once(stream.resume(), 'end');

  expect(await imap.all()).toMatch(/^\* BYE .*revoked or expired\r\n$/);
  expect(await smtp.all()).toMatch(/^421 4\.7\.0 .*has expired\r\n$/);
  await ended;
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt));
});
