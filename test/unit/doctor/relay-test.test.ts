import { describe, expect, test } from 'vitest';
import { checkOpenRelay, checkOutboundPort } from '../../../src/doctor/relay-test.ts';
import { scriptedServer } from '../../support/scripted-smtp.ts';

describe('the relay test of the doctor', () => {
  test('finds a server that passes on mail of strangers, and sends none', async () => {
    await using open = await scriptedServer();
    expect(await checkOpenRelay(open.port)).toMatchObject({
      status: 'failed',
      why: expect.stringContaining('was accepted'),
    });
    expect(open.lines.some((line) => /DATA/i.test(line))).toBe(false);
    expect(open.mails).toEqual([]);
  });

  test('is content with one that refuses the recipient', async () => {
    await using closed = await scriptedServer({ rcpt: '550 5.7.1 Relaying denied' });
    expect(await checkOpenRelay(closed.port)).toMatchObject({
      status: 'ok',
      why: expect.stringContaining('Relaying denied'),
    });
  });

  test('says unknown where nobody answers, and what to do where port 25 is blocked', async () => {
    expect(await checkOpenRelay(1)).toMatchObject({ status: 'unknown' });
    expect(await checkOutboundPort({ peer: '127.0.0.1', port: 1 })).toMatchObject({
      status: 'failed',
      fix: expect.stringContaining('SMARTHOST'),
    });
  });
});
