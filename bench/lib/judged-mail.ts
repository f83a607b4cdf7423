import { generateKeyPairSync, createPublicKey, hash } from 'node:crypto';
import { type DkimKey, signHeaders } from '../../mail/auth/dkim-sign.ts';
import type { DnsAnswer } from '../../test/support/dns-server.ts';
import { message } from './messages.ts';

const DOMAINS = 8;

/** Senders with their DNS records. */
export interface Senders {
  zone: Record<string, DnsAnswer>;
  /** The `n`th message of a run, signed by its author's domain. */
  mail: (n: number, octets: number, run: string) => Promise<Buffer>;
  /** Its envelope sender. */
  sender: (n: number) => string;
}

/** Domains that publish SPF for loopback, a DKIM key of 2,048 bits and DMARC with p=reject: all of their mail passes. */
export function makeSenders(): Senders {
  const keys = Array.from({ length: DOMAINS }, (_, n): DkimKey => {
    const { privateKey: key } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    return { domain: `d${n + 1}.sender.test`, selector: 's', algorithm: 'rsa-sha256', key };
  });
  const keyOf = (n: number): DkimKey => keys[n % DOMAINS] as DkimKey;
  const zone: Record<string, DnsAnswer> = {
    'PTR 1.0.0.127.in-addr.arpa': ['mx.sender.test'],
    'A mx.sender.test': ['127.0.0.1'],
    // The EHLO name of the load.
    'A bench.test': ['127.0.0.1'],
    'AAAA bench.test': ['::1'],
    'MX bench.test': ['10 mx.sender.test'],
  };
  for (const { domain, selector, key } of keys) {
    const p = createPublicKey(key).export({ format: 'der', type: 'spki' }).toString('base64');
    zone[`TXT ${domain}`] = ['v=spf1 ip4:127.0.0.1 -all'];
    zone[`MX ${domain}`] = ['10 mx.sender.test'];
    zone[`TXT ${selector}._domainkey.${domain}`] = [`v=DKIM1; k=rsa; p=${p}`];
    zone[`TXT _dmarc.${domain}`] = ['v=DMARC1; p=reject'];
  }
  const sender = (n: number): string => `anna@${keyOf(n).domain}`;
  return {
    zone,
    sender,
    async mail(n, octets, run) {
      const text = message(n, octets, run)
        .toString('latin1')
        .replace(/^From: .*$/m, `From: Anna <${sender(n)}>`);
      const body = text.slice(text.indexOf('\r\n\r\n') + 4);
      // Generated without white space at line ends or empty lines at the end: its canonical form is itself, nearly.
      const relaxed = body
        .replace(/[ \t]+/g, ' ')
        .replace(/ +\r\n/g, '\r\n')
        .replace(/(\r\n)+$/, '\r\n');
      const header = Buffer.from(text.slice(0, text.length - body.length), 'latin1');
      const digest = hash('sha256', Buffer.from(relaxed, 'latin1'), 'buffer');
      const signature = await signHeaders(header, digest, [keyOf(n)], Date.now());
      return Buffer.concat([signature, Buffer.from(text, 'latin1')]);
    },
  };
}
