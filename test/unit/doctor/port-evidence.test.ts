import { describe, expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { InboundEvidence } from '../../../src/doctor/inbound-evidence.ts';
import { checkInboundPort } from '../../../src/doctor/relay-test.ts';

const HOUR = 3_600_000;
const IP = '198.41.0.4';

describe('evidence that port 25 is open', () => {
  test('is a connection from a public address of others, recorded once an hour', async () => {
    let now = 0;
    const written: unknown[] = [];
    const write = (_command: unknown, input: unknown): Promise<never> => {
      written.push(input);
      return Promise.resolve(undefined as never);
    };
    const evidence = new InboundEvidence({ store: { write }, clock: () => now, log: quiet });
    for (const ip of ['127.0.0.1', '10.0.0.1', IP, '192.5.6.30', '192.5.6.31']) await evidence.connected(ip, IP);
    expect(written).toEqual([{ name: 'incoming', value: '192.5.6.30' }]);
    now += HOUR;
    await evidence.connected('192.5.6.31', IP);
    expect(written).toHaveLength(2);
  });

  test('is never the own look, which passes no firewall of the provider', async () => {
    const dialog = () => Promise.resolve(['220 mail.box.example ESMTP']);
    const port = { hostname: 'mail.box.example', addresses: [IP], now: HOUR };
    expect(await checkInboundPort({ ...port, last: undefined }, dialog)).toMatchObject({ status: 'warning' });
    expect(await checkInboundPort({ ...port, last: { value: IP, at: 0 } }, dialog)).toMatchObject({
      status: 'warning',
      fix: expect.stringContaining('nc -v mail.box.example 25') as string,
    });
    const last = { value: '192.5.6.30', at: 0 };
    expect(await checkInboundPort({ ...port, last }, dialog)).toMatchObject({ status: 'ok' });
  });
});
