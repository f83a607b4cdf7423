import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askServer } from '../../src/control/client.ts';
import { startMailstead, type Subject } from './mailstead.ts';

const PASSWORD = 'bench-password-1';

/** Mailstead in live mode on loopback, with all of its checks, or with none. */
export async function startJudged(mailboxes: number, dns: string, checks: 'on' | 'off'): Promise<Subject> {
  const dataDir = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'mailstead-bench-'));
  const settings = {
    MAILSTEAD_HOSTNAME: 'mail.box.test',
    MAILSTEAD_LISTEN: '127.0.0.1',
    MAILSTEAD_RESOLVERS: dns,
    MAILSTEAD_SPAM_CHECKS: checks,
  };
  const box = await startMailstead(0, settings, undefined, dataDir);
  const ask = async (operation: string, input: object): Promise<void> => {
    const answer = await askServer(dataDir, operation, input);
    if (answer.kind !== 'done') throw new Error(`${operation}: ${answer.message}`);
  };
  await ask('add_domain', { domain: 'box.test' });
  const users = Array.from({ length: mailboxes }, (_, n) => `user${n + 1}`);
  for (const user of users) await ask('add_mailbox', { address: `${user}@box.test`, password: PASSWORD });
  return {
    ...box,
    name: checks === 'on' ? 'mailstead' : 'mailstead without checks',
    users,
    imapsPort: box.ports['imaps'] ?? 0,
    mailboxes: ['INBOX', 'Junk'],
    async stop() {
      await box.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
