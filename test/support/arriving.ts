import type { Arriving } from '../../mail/judge/judging.ts';

/** A message as the judge is asked about it; threads of tests look at its sender. */
export function from(sender: string, size = 100, ip = '192.0.2.1'): Arriving {
  return {
    trace: 't',
    recipients: [],
    octets: new Uint8Array(),
    size,
    headerLength: 0,
    parts: '',
    peer: { ip, helo: 'x' },
    sender,
    accounts: [],
    checks: true,
    now: 0,
  };
}
