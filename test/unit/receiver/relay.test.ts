import { afterAll, beforeAll, expect, test } from 'vitest';
import { formatAddress } from '../../../mail/message/address.ts';
import { fakeReceiver, type FakeReceiver } from '../../support/fake-receiver-backend.ts';
import { relayRecipients, relaySenders } from '../../support/relay-forms.ts';
import { Wire } from '../../support/wire.ts';

let door: FakeReceiver;
beforeAll(async () => {
  door = await fakeReceiver({ exempt: () => true });
});
afterAll(() => door.receiver.close());

type Before = 'plain' | 'tls' | 'failed login';

async function session(before: Before, sender: string): Promise<Wire> {
  const wire = await Wire.open(door.ports.mx);
  await wire.reply();
  await wire.command('EHLO client.example');
  if (before === 'tls') {
    await wire.command('STARTTLS');
    await wire.encrypt();
    await wire.command('EHLO client.example');
  }
  if (before === 'failed login') await wire.command('AUTH PLAIN AG1lQGJveC50ZXN0AHdyb25n');
  await wire.command(`MAIL FROM:${sender}`);
  return wire;
}

for (const before of ['plain', 'tls', 'failed login'] as const) {
  test.each(relaySenders)(`${before}, from %s: no remote recipient is accepted`, async (sender) => {
    for (const utf8 of ['', ' SMTPUTF8']) {
      for (const recipient of relayRecipients) {
        using wire = await session(before, sender + utf8);
        expect(await wire.command(`RCPT TO:${recipient}`), recipient).toMatch(/^[45]\d\d /);
        expect(await wire.command('DATA')).toMatch(/^[45]\d\d /);
      }
    }
  });
}

test('a line end in a recipient makes two commands, and the first is rejected', async () => {
  using wire = await session('plain', '<>');
  wire.send('RCPT TO:<victim@ext.example\r\nRCPT TO:<me@box.test>\r\nRCPT TO:<you@box.test>\r\n');
  expect([await wire.reply(), await wire.reply(), await wire.reply()].map((reply) => reply.slice(0, 3))).toEqual([
    '501',
    '250',
    '250',
  ]);
});

test('the checked address is the stored one', async () => {
  using wire = await session('plain', '<>');
  await wire.command('RCPT TO:<"me"@BOX.test>');
  await wire.command('RCPT TO:<Postmaster>');
  await wire.command('DATA');
  await wire.command('Subject: x\r\n.');
  const { envelope } = door.backend.taken.at(-1)!;
  expect(envelope.recipients.map(({ address }) => formatAddress(address))).toEqual([
    'me@box.test',
    'postmaster@mx.box.test',
  ]);
});
