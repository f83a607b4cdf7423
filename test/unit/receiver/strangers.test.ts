import { describe, expect, test } from 'vitest';
import { formatAddress } from '../../../mail/message/address.ts';
import { firstContactDelay } from '../../../mail/policy/first-contact.ts';
import { Tarpit } from '../../../mail/receiver/tarpit.ts';
import { fakeReceiver } from '../../support/fake-receiver-backend.ts';
import { Wire } from '../../support/wire.ts';

test.each([
  [{ known: true, vouched: false, score: 9 }, 0],
  [{ known: false, vouched: true, score: 0 }, 1000],
  [{ known: false, vouched: false, score: 0 }, 3000],
  [{ known: false, vouched: true, score: 4 }, 5000],
])('for %j an answer is held back %i ms', (arriving, ms) => expect(firstContactDelay(arriving)).toBe(ms));

test('delays are limited in number, and end with the process', async () => {
  const slow = new Tarpit(2);
  const long = [slow.hold(3_600_000), slow.hold(3_600_000)];
  await slow.hold(3_600_000);
  expect(slow.held).toBe(2);
  slow.close();
  await Promise.all(long);
  expect(slow.held).toBe(0);
  await slow.hold(3_600_000);
});

test('finished delays free their slots', async () => {
  const slow = new Tarpit(1);
  await slow.hold(1);
  const second = slow.hold(3_600_000);
  expect(slow.held).toBe(1);
  slow.close();
  await second;
});

describe('greylisting', () => {
  async function said(exempt: boolean, recipient = '<me@box.test>'): Promise<{ said: string; queried: string[] }> {
    await using door = await fakeReceiver({ exempt: () => exempt, local: false });
    const queried: string[] = [];
    door.backend.greylist = ({ ip, sender, to }) => {
      queried.push(`${ip} ${sender === undefined ? '' : formatAddress(sender)} ${formatAddress(to)}`);
      return Promise.resolve({ kind: 'refused', code: 451, enhanced: '4.7.1', text: 'Come again' });
    };
    using wire = await Wire.open(door.ports.mx);
    await wire.reply();
    await wire.command('EHLO client.example');
    await wire.command('MAIL FROM:<a@sender.example>');
    return { said: await wire.command(`RCPT TO:${recipient}`), queried };
  }

  test('applies to an unknown sender of an existing recipient', async () => {
    const { said: answer, queried } = await said(false);
    expect(answer).toMatch(/^451 4\.7\.1 Come again/);
    expect(queried).toEqual(['127.0.0.1 a@sender.example me@box.test']);
  });

  test('does not apply to exempt peers and unknown recipients', async () => {
    expect(await said(true)).toMatchObject({ said: expect.stringMatching(/^250 /) as string, queried: [] });
    expect(await said(false, '<nobody@box.test>')).toMatchObject({ queried: [] });
    expect(await said(false, '<x@pending.test>')).toMatchObject({ queried: [] });
  });
});
