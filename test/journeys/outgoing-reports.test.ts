import { expect, test } from 'vitest';
import { indexMessage } from '../../mail/message/indexer.ts';
import { readReportMessage } from '../../mail/reports/read-report.ts';
import { startBox } from '../support/box.ts';
import { changeBox, rowsOfBox } from '../support/box-database.ts';
import { remoteHost } from '../support/remote-host.ts';
import { dnsServer } from '../support/dns-server.ts';
import { Wire } from '../support/wire.ts';

const DAY_MS = 24 * 3600_000;
const LETTER = 'From: you@remote.example\r\nSubject: hello\r\nMessage-ID: <1@remote.example>\r\n\r\nhello\r\n';

/** Hands a message over as another server does. */
async function passOn(port: number, message: string): Promise<string> {
  using wire = await Wire.open(port);
  await wire.reply();
  await wire.command('EHLO mx.remote.example');
  await wire.command('MAIL FROM:<you@remote.example>');
  await wire.command('RCPT TO:<me@home.example>');
  await wire.command('DATA');
  wire.send(Buffer.from(`${message}.\r\n`));
  return await wire.reply(); // before the connection is closed
}

test('mail that arrives and mail that leaves is reported to its domain the next day, signed and without a return address', async () => {
  await using remote = await remoteHost();
  await using dns = await dnsServer({
    'MX remote.example': ['10 mx.remote.example'],
    'A mx.remote.example': ['127.0.0.1'],
    'TXT remote.example': ['v=spf1 ip4:127.0.0.1 -all'],
    'TXT _dmarc.remote.example': ['v=DMARC1; p=reject; rua=mailto:dmarc@remote.example'],
    'TXT _smtp._tls.remote.example': ['v=TLSRPTv1; rua=mailto:tls@remote.example'],
  });
  const settings = { RESOLVERS: dns.address, OUTBOUND_PORT: String(remote.port), EXEMPT_NETWORKS: '127.0.0.0/8' };
  await using box = await startBox({
    hostname: 'mail.home.example',
    settings: { ...settings, ALLOW_PRIVATE_NETWORKS: 'true', DNSBL: 'off' },
  });
  await box.ask('add_domain', { domain: 'home.example' });
  await box.ask('add_mailbox', { address: 'me@home.example' });
  for (let n = 0; n < 3; n++) expect(await passOn(box.port('smtp'), LETTER)).toMatch(/^250/);
  await box.stop();
  // Counts of a stopped server are stored; they are moved to the day before yesterday, whose reports are all due.
  const day = Math.floor(Date.now() / DAY_MS) - 2;
  await changeBox(box.dataDir, 'UPDATE dmarc_result SET day = ?', day);
  await changeBox(
    box.dataDir,
    "INSERT INTO tls_result VALUES (?, 'remote.example', 'no-policy-found', '[]', 'success', 'mx.remote.example', '', '', 4)",
    day,
  );
  await box.start();
  const mails = await remote.received(2);
  const contents = mails.map(({ from, text }) => {
    const octets = Buffer.from(text);
    expect(from).toBe('');
    expect(text).toMatch(/^DKIM-Signature: [^]*d=mail\.home\.example;/m);
    return readReportMessage({ octets, parts: indexMessage(octets).parts });
  });
  const sorted = contents.toSorted((a, b) => a.kind.localeCompare(b.kind));
  expect(sorted).toMatchObject([
    {
      kind: 'dmarc',
      organization: 'mail.home.example',
      domain: 'remote.example',
      sums: [{ source: '127.0.0.1', spf: true, dkim: false, disposition: 'none', messages: 3 }],
    },
    { kind: 'tls', domain: 'remote.example', sums: [{ result: 'success', sessions: 4 }] },
  ]);
  await box.stop();
  const sums = 'SELECT policy_type, sum(sessions) AS n FROM tls_result WHERE day > ? GROUP BY 1';
  const today = await rowsOfBox(box.dataDir, sums, day);
  // The session of the DMARC report alone: both left over one or two connections.
  expect(today.reduce((sum, row) => sum + Number(row['n']), 0)).toBeLessThanOrEqual(1);
});
