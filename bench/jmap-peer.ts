import { startJmapPeer } from './lib/cyrus.ts';
import { poll, type Polled, pollers, type PollingFigures } from './lib/jmap-polling.ts';
import { tokensOf } from './lib/jmap-tokens.ts';
import { startMailstead } from './lib/mailstead.ts';
import { message } from './lib/messages.ts';
import { Wire } from './lib/wire.ts';

/**
 * JMAP beside a server that others run: 200 clients over 50 accounts of 100 messages each ask whether anything changed
 * and what folders there are, of Mailstead and of Debian's Cyrus in turn. `npm run bench:jmap-peer [rounds] [seconds]`;
 * needs root and apt-get, which fetches Cyrus' packages into a directory without installing them. BENCH_DIR says where.
 */
const ROUNDS = Math.max(1, Number(process.argv[2] ?? 5));
const SECONDS = Number(process.argv[3] ?? 6);
const ACCOUNTS = 50;
const MESSAGES = 100;
const CLIENTS = 200;

const box = await startMailstead(ACCOUNTS);
try {
  await using cyrus = await startJmapPeer(ACCOUNTS, MESSAGES);
  await fill();
  const ours = (await tokensOf(box)).map(({ id, token }) => ({ id, authorization: `Bearer ${token}` }));
  const theirs = cyrus.users.map((user) => ({
    id: user,
    authorization: `Basic ${Buffer.from(`${user}:${cyrus.password}`).toString('base64')}`,
  }));
  const figures = { mailstead: [] as PollingFigures[], cyrus: [] as PollingFigures[] };
  await round(box.ports['http'] ?? 0, '/jmap/api', ours, box.roots, 2);
  await round(cyrus.httpPort, '/jmap/', theirs, [cyrus.pid], 2);
  for (let n = 0; n < ROUNDS; n++) {
    figures.mailstead.push(await round(box.ports['http'] ?? 0, '/jmap/api', ours, box.roots, SECONDS));
    figures.cyrus.push(await round(cyrus.httpPort, '/jmap/', theirs, [cyrus.pid], SECONDS));
    process.stderr.write(`round ${n + 1} of ${ROUNDS}\n`);
  }
  say(figures);
} finally {
  await box.stop();
}

async function round(
  port: number,
  path: string,
  accounts: readonly Polled[],
  roots: readonly number[],
  seconds: number,
): Promise<PollingFigures> {
  const clients = await pollers(CLIENTS, port, path, accounts);
  const figures = await poll(clients, seconds, roots);
  for (const { wire } of clients) wire.close();
  return figures;
}

/** As many messages of the same sizes for ours. */
async function fill(): Promise<void> {
  const smtp = await Wire.open(box.smtpPort);
  await smtp.smtp(undefined, '2');
  await smtp.smtp('EHLO bench.test\r\n', '2');
  for (const user of box.users) {
    for (let n = 0; n < MESSAGES; n++) {
      await smtp.smtp('MAIL FROM:<bench@sender.test>\r\n', '2');
      await smtp.smtp(`RCPT TO:<${user}@${box.domain}>\r\n`, '2');
      await smtp.smtp('DATA\r\n', '3');
      await smtp.smtp(Buffer.concat([message(n, 1_500, user), Buffer.from('.\r\n')]), '2');
    }
  }
  smtp.close();
}

function say(figures: Record<'mailstead' | 'cyrus', PollingFigures[]>): void {
  const median = (of: readonly number[]): number => of.toSorted((a, b) => a - b)[of.length >> 1] ?? 0;
  const pick = (name: 'mailstead' | 'cyrus', key: keyof PollingFigures): number =>
    median(figures[name].map((one) => one[key]));
  console.log(`${CLIENTS} clients, ${ACCOUNTS} accounts, ${ROUNDS} interleaved rounds of ${SECONDS} s, medians.`);
  console.log('| | requests/s | CPU ms each | p50 ms | p99 ms |\n|---|---|---|---|---|');
  for (const name of ['mailstead', 'cyrus'] as const) {
    const cells = (['perSecond', 'cpu', 'p50', 'p99'] as const).map((key) => pick(name, key).toFixed(2));
    console.log(`| ${name} | ${cells.join(' | ')} |`);
  }
  const faster = pick('mailstead', 'perSecond') / pick('cyrus', 'perSecond');
  const cheaper = pick('cyrus', 'cpu') / pick('mailstead', 'cpu');
  console.log(`| **ratio** | **${faster.toFixed(1)}** | **1/${cheaper.toFixed(1)}** | | |`);
}
