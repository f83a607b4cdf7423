import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Clamav } from '../../mail/filter/scanners/clamav.ts';
import { Rspamd } from '../../mail/filter/scanners/rspamd.ts';
import type { Scanner } from '../../mail/filter/scanners/scanner.ts';
import { ScannerGuard } from '../../mail/filter/scanners/scanner-guard.ts';
import type { ScanAll } from '../../mail/filter/scanners/scanners.ts';
import { quiet } from '../../mail/log.ts';
import type { Finding } from '../../mail/policy/finding.ts';
import { dnsServer } from '../support/dns-server.ts';
import { startRspamd } from '../support/rspamd.ts';
import { startClamd } from './clamd.ts';

const MALWARE = Buffer.from('the octets of a file that somebody signed');

const stack = new AsyncDisposableStack();
let ask: { rspamd: ScanAll; clamav: ScanAll };
beforeAll(async () => {
  const zone = { 'TXT sender.test': ['v=spf1 ip4:192.0.2.7 -all'], 'TXT _dmarc.sender.test': ['v=DMARC1; p=reject'] };
  const dns = stack.use(await dnsServer(zone));
  const rspamd = stack.use(await startRspamd({ dns: dns.address }));
  const clamd = stack.use(await startClamd(MALWARE));
  // Beside other work the first scan takes longer than the seconds that a server waits.
  const options = { log: quiet, meter: quiet, timeoutMs: 100_000 };
  const open = (scanner: Scanner): ScanAll => {
    const guard = new ScannerGuard(scanner, options);
    return (mail) => guard.scan(mail);
  };
  ask = { rspamd: open(new Rspamd(rspamd.url)), clamav: open(new Clamav(clamd)) };
}, 200_000);
afterAll(() => stack.disposeAsync());

const HEAD = [
  'From: Anna <anna@sender.test>',
  'To: me@box.test',
  'Subject: Lunch',
  'Date: Thu, 01 Jan 2026 12:00:00 +0000',
  'Message-ID: <1@sender.test>',
  'MIME-Version: 1.0',
];

function scan(by: ScanAll, octets: Buffer, ip = '192.0.2.7'): Promise<readonly Finding[]> {
  return by({
    trace: 't1',
    peer: { ip, helo: 'mx.sender.test', name: 'mx.sender.test' },
    sender: 'anna@sender.test',
    recipients: ['me@box.test'],
    size: octets.length,
    async *octets() {
      for (let at = 0; at < octets.length; at += 1000) yield octets.subarray(at, at + 1000);
      await Promise.resolve();
    },
  });
}

const text = (body: string): Buffer => Buffer.from([...HEAD, 'Content-Type: text/plain', '', body, ''].join('\r\n'));

function attached(file: Buffer): Buffer {
  const body = file.toString('base64').replace(/.{76}/g, '$&\r\n');
  const type = 'Content-Type: application/octet-stream; name=x.bin\r\nContent-Transfer-Encoding: base64';
  const parts = ['--b', 'Content-Type: text/plain', '', 'See it.', '--b', type, '', body, '--b--', ''];
  return Buffer.from([...HEAD, 'Content-Type: multipart/mixed; boundary=b', '', ...parts].join('\r\n'));
}

describe("Debian's Rspamd", () => {
  test('refuses its own test pattern, as a line that is in no mail by chance', async () => {
    const pattern = ['XJS*C4JDBQADN1.NSBN3*2IDNEN*', 'GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X'].join('');
    const [finding] = await scan(ask.rspamd, text(pattern));
    expect(finding).toMatchObject({ rule: 'rspamd', score: 10, refuse: true });
    expect(finding?.why).toMatch(/^Rspamd would reject the message \(15 of 15 points\)/);
  });

  test('has little against a letter of who it is from, and says in words what it has against a forged one', async () => {
    const good = await scan(ask.rspamd, text('See you at noon.'));
    const score = good[0]?.score ?? 0;
    expect(score).toBeLessThan(5);
    const [forged] = await scan(ask.rspamd, text('See you at noon.'), '203.0.113.9');
    expect(forged?.score).toBeGreaterThan(score);
    expect(forged?.why).toMatch(/SPF|DMARC/);
    expect(forged?.why).not.toContain('not scanned');
  });
});

describe("Debian's clamd", () => {
  test('finds a file in an attachment, and nothing in a letter', async () => {
    expect(await scan(ask.clamav, text('See you at noon.'))).toEqual([]);
    expect(await scan(ask.clamav, attached(MALWARE))).toMatchObject([
      { rule: 'clamav', flag: 'malware', refuse: true, why: expect.stringContaining('Test.Known') as string },
    ]);
  });

  test('takes no message that is too large for it, which is said, whether it hangs up before we have read why or not', async () => {
    const [finding] = await scan(ask.clamav, attached(Buffer.alloc(6_000_000, 'x')));
    expect(finding?.score).toBe(0);
    expect(finding?.why).toMatch(
      /^not scanned by ClamAV: (the message is larger than its StreamMaxLength|it closed the connection|no response)$/,
    );
  });
});
