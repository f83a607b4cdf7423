import type { InboundMail } from '../../mail/filter/mail-filter.ts';

/** Input of the filter; test workers look at its sender. */
export function from(sender: string, size = 100, ip = '192.0.2.1'): InboundMail {
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
