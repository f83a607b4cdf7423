import { describe, expect, test } from 'vitest';
import { formatAddress } from '../../../mail/message/address.ts';
import { firstContactDelay } from '../../../mail/policy/first-contact.ts';
import { SlowAnswers } from '../../../mail/receiver/slow-answers.ts';
import { fakeReceiver } from '../../support/fake-intake.ts';
import { Wire } from '../../support/wire.ts';

test.each([
  [{ known: true, vouched: false, score: 9 }, 0],
  [{ known: false, vouched: true, score: 0 }, 1000],
  [{ known: false, vouched: false, score: 0 }, 3000],
  [{ known: false, vouched: true, score: 4 }, 5000],
])('for %j an answer is held back %i ms', (arriving, ms) => expect(firstContactDelay(arriving)).toBe(ms));

test('so many wait at once, nobody beyond, and none when the process ends', async () => {
  const slow = new SlowAnswers(2);
  const long = [slow.hold(3_600_000), slow.hold(3_600_000)];
  await slow.hold(3_600_000);
  expect(slow.held).toBe(2);
  slow.end();
  await Promise.all(long);
  expect(slow.held).toBe(0);
  await slow.hold(3_600_000);
});

test('what is over makes room', async () => {
  const slow = new SlowAnswers(1);
  await slow.hold(1);
  const second = slow.hold(3_600_000);
  expect(slow.held).toBe(1);
  slow.end();
  await second;
});

describe('who is told to come again', () => {
  async function said(exempt: boolean, recipient = '<me@box.test>'): Promise<{ said: string; asked: string[] }> {
    await using door = await fakeReceiver({ exempt: () => exempt, local: false });
    const asked: string[] = [];
    door.intake.postpone = ({ ip, sender, to }) => {
      asked.push(`${ip} ${sender === undefined ? '' : formatAddress(sender)} ${formatAddress(to)}`);
      return Promise.resolve({ kind: 'refused', code: 451, enhanced: '4.7.1', text: 'Come again' });
    };
    using wire = await Wire.open(door.ports.mx);
    await wire.reply();
    await wire.command('EHLO client.example');
    await wire.command('MAIL FROM:<a@sender.example>');
    return { said: await wire.command(`RCPT TO:${recipient}`), asked };
  }

  test('is a stranger who names somebody here', async () => {
    const { said: answer, asked } = await said(false);
    expect(answer).toMatch(/^451 4\.7\.1 Come again/);
    expect(asked).toEqual(['127.0.0.1 a@sender.example me@box.test']);
  });

  test('is nobody who is exempt, and nobody for an address that is not here', async () => {
    expect(await said(true)).toMatchObject({ said: expect.stringMatching(/^250 /) as string, asked: [] });
    expect(await said(false, '<nobody@box.test>')).toMatchObject({ asked: [] });
    expect(await said(false, '<x@pending.test>')).toMatchObject({ asked: [] });
  });
});
