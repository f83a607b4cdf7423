import { afterAll, beforeAll, expect, test } from 'vitest';
import { quiet, type Log } from '../../../mail/log.ts';
import { fakeReceiver, type FakeReceiver } from '../../support/fake-receiver-backend.ts';
import { Wire } from '../../support/wire.ts';

const WORDS = [
  'EHLO', 'HELO', 'MAIL', 'RCPT', 'DATA', 'BDAT', 'RSET', 'NOOP', 'VRFY', 'AUTH', 'FROM:', 'TO:', '<>', '<a@b.example>',
  '<me@box.test>', 'SIZE=', 'SIZE=5', 'BODY=8BITMIME', 'SMTPUTF8', 'NOTIFY=NEVER', 'ORCPT=rfc822;x', 'RET=HDRS', 'LAST',
  'PLAIN', 'LOGIN', '=', '*', '.', '..', '5', '0', '-1', '99999999999999999999', '\0', '\r', '\n', '\x80', 'ü', '"', '\\',
  '<', '>', '@', '+00', 'x'.repeat(300), 'client.example',
]; // prettier-ignore

/** States from which nonsense is sent, as what brings a session there. */
const STATES: readonly [string, readonly string[]][] = [
  ['the banner', []],
  ['EHLO', ['EHLO client.example']],
  ['MAIL', ['EHLO client.example', 'MAIL FROM:<a@b.example>']],
  ['RCPT', ['EHLO client.example', 'MAIL FROM:<a@b.example> SMTPUTF8', 'RCPT TO:<me@box.test>']],
  ['DATA', ['EHLO client.example', 'MAIL FROM:<>', 'RCPT TO:<me@box.test>', 'DATA']],
  ['BDAT', ['EHLO client.example', 'MAIL FROM:<>', 'RCPT TO:<me@box.test>', 'BDAT 2\r\n']],
  ['AUTH', ['EHLO client.example', 'AUTH LOGIN']],
];

/** The same numbers every time: xorshift32. */
function dice(seed: number): (below: number) => number {
  let x = seed;
  return (below) => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) % below;
  };
}

const errors: unknown[] = [];
const log: Log = { ...quiet, error: (fields) => void errors.push(fields) };
let door: FakeReceiver;
beforeAll(async () => {
  // Many faults a session, so that one gets deep; no limit that would hide the command behind another.
  door = await fakeReceiver({ log, local: true, limits: { protocolErrors: 200, failedLogins: 200 } });
});
afterAll(() => door.receiver.close());

test.each(STATES)('2,000 lines of nonsense after %s', async (name, steps) => {
  const roll = dice(0x5eed + name.length);
  const line = () => {
    const words = Array.from({ length: 1 + roll(5) }, () => WORDS[roll(WORDS.length)]!);
    return Buffer.from(
      `${words.join(' '.repeat(roll(3)))}${roll(20) === 0 ? '\n' : '\r\n'}`,
      roll(9) ? 'utf8' : 'latin1',
    );
  };
  for (let round = 0; round < 20; round += 1) {
    using wire = await Wire.open(name === 'AUTH' ? door.ports.submission : door.ports.mx);
    await wire.reply();
    for (const step of steps) expect(await wire.command(step)).toMatch(/^[23]/);
    wire.send(Buffer.concat(Array.from({ length: 100 }, line)));
    wire.end();
    const replies = (await wire.all()).split('\r\n').slice(0, -1);
    for (const reply of replies) expect(reply).toMatch(/^[2-5]\d\d(?:[ -][\x20-\x7e\u0080-\uffff]*)?$/);
  }
  expect(errors).toEqual([]);
  using wire = await Wire.open(door.ports.submission);
  expect(await wire.reply()).toMatch(/^220 /);
});
