import { afterAll, beforeAll, expect, test } from 'vitest';
import { formatAddress } from '../../../mail/message/address.ts';
import { fakeReceiver, type FakeReceiver } from '../../support/fake-intake.ts';
import { Wire } from '../../support/wire.ts';

/** Ways of writing a recipient elsewhere that some server has relayed for. None may be answered with 250. */
const recipients = [
  '<victim@ext.example>',
  '<victim%ext.example@box.test>',
  '<victim%ext.example@[127.0.0.1]>',
  '<"victim@ext.example">',
  '<"victim%ext.example">',
  '<victim@ext.example@box.test>',
  '<"victim@ext.example"@box.test>',
  '<victim@ext.example@[127.0.0.1]>',
  '<"victim@ext.example"@[127.0.0.1]>',
  '<@box.test:victim@ext.example>',
  '<@[127.0.0.1]:victim@ext.example>',
  '<@box.test,@ext.example:victim@ext.example>',
  '<ext.example!victim>',
  '<ext.example!victim@box.test>',
  '<ext.example!victim@[127.0.0.1]>',
  '<box.test!ext.example!victim>',
  '<victim@ext.example.>',
  '<victim@EXT.EXAMPLE>',
  '<<victim@ext.example>@box.test>',
  '<victim(@box.test)@ext.example>',
  '<"victim@ext.example"(x)@box.test>',
  '<victim@box.test(x)ext.example>',
  '<=?utf-8?q?victim=40ext.example=3e=20?=@box.test>',
  '<victim@ext.example\0@box.test>',
  '<victim@ext.example>\rRCPT TO:<me@box.test>',
  '<victim@box.test.ext.example>',
  '<victim@ext.example\\@box.test>',
  'victim@ext.example',
  '<<victim@ext.example>>',
  '<victim@[192.0.2.1]>',
  '<victim@[IPv6:::1]>',
  '<victim@sub.box.test>',
  '<victim@pending.test>',
  '<victim@xn--bx-fka.test>',
  '<victim@bоx.test>', // a Cyrillic o
  '<victim@ext.example> ORCPT=rfc822;me@box.test',
  '<victim@box\uff0etest>',
  '<victim@box.test\u3002ext.example>',
] as const;

const senders = [
  '<a@outside.example>',
  '<>',
  '<user@localhost>',
  '<name>',
  '<me@box.test>',
  '<user@[127.0.0.1]>',
] as const;

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
  test.each(senders)(`${before}, from %s: no recipient elsewhere is taken`, async (sender) => {
    for (const utf8 of ['', ' SMTPUTF8']) {
      for (const recipient of recipients) {
        using wire = await session(before, sender + utf8);
        expect(await wire.command(`RCPT TO:${recipient}`), recipient).toMatch(/^[45]\d\d /);
        expect(await wire.command('DATA')).toMatch(/^[45]\d\d /);
      }
    }
  });
}

test('a line end in a recipient is two commands, and the first is refused', async () => {
  using wire = await session('plain', '<>');
  wire.send('RCPT TO:<victim@ext.example\r\nRCPT TO:<me@box.test>\r\nRCPT TO:<you@box.test>\r\n');
  expect([await wire.reply(), await wire.reply(), await wire.reply()].map((reply) => reply.slice(0, 3))).toEqual([
    '501',
    '250',
    '250',
  ]);
});

test('the address that was decided on is the one that is stored', async () => {
  using wire = await session('plain', '<>');
  await wire.command('RCPT TO:<"me"@BOX.test>');
  await wire.command('RCPT TO:<Postmaster>');
  await wire.command('DATA');
  await wire.command('Subject: x\r\n.');
  const { envelope } = door.intake.taken.at(-1)!;
  expect(envelope.recipients.map(({ address }) => formatAddress(address))).toEqual([
    'me@box.test',
    'postmaster@mx.box.test',
  ]);
});
