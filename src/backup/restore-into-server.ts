import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Settings } from '../../config/settings.ts';
import { BackupProblem } from '../../mail/backup/backup-error.ts';
import type { SnapshotManifest } from '../../mail/backup/repository.ts';
import { findSnapshot, momentOf, restoreSnapshot } from '../../mail/backup/restore-snapshot.ts';
import { withRepository } from './backup-commands.ts';
import type { RestoreStep } from './restore-mailbox.ts';
import { RestoredMail } from './restored-mailbox.ts';

interface ServerAnswer {
  kind: 'done' | 'refused' | 'unreachable';
  result?: unknown;
  message?: string;
}

interface MailboxRestore {
  settings: Settings;
  target: string;
  address: string;
  /** Only messages with this Message-ID. */
  messageId: string | undefined;
  /** Data directory of the running server. */
  dataDir: string;
  at: number | string | undefined;
  callServer: (dataDir: string, operation: string, input: object) => Promise<ServerAnswer>;
}

export type MailboxRestoreOutcome = Omit<RestoreStep, 'next'> & {
  snapshot: SnapshotManifest;
  /** Time of the state that messages were taken from, ms UTC. */
  at: number;
};

/**
 * Restores one mailbox, or a message of it, into a running server: the database of the snapshot and the large messages of this mailbox go
 * into a scratch directory, from which the server takes what it lacks. Can be repeated.
 */
export async function restoreIntoServer(options: MailboxRestore): Promise<MailboxRestoreOutcome> {
  const { settings, target, dataDir, at } = options;
  const scratch = await mkdtemp(join(dataDir, 'restore-'));
  try {
    const restored = await withRepository(target, settings, async (repository) => {
      const found = await findSnapshot(repository, at);
      await restoreSnapshot(repository, found, join(scratch, 'index'), { wanted: () => false });
      const files = filesOf(join(scratch, 'index'), options.address);
      await restoreSnapshot(repository, found, join(scratch, 'data'), { wanted: ({ name }) => files.has(name) });
      const { segments: _, ...manifest } = found;
      return { snapshot: manifest, at: momentOf(found) };
    });
    const done = await runSteps(options, join(scratch, 'data'));
    if (options.messageId !== undefined && done.restored + done.present + done.skipped === 0) {
      throw new BackupProblem(
        `The snapshot has no message ${options.messageId} of ${options.address}. Choose another one with --at.`,
      );
    }
    return { ...done, ...restored };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function filesOf(directory: string, address: string): Set<string> {
  using from = new RestoredMail(directory, address);
  if (from.exists) return from.files();
  throw new BackupProblem(`The snapshot has no mailbox ${address}. Choose another one with --at.`);
}

async function runSteps(
  { callServer, dataDir, address, messageId }: MailboxRestore,
  directory: string,
): Promise<Omit<RestoreStep, 'next'>> {
  const sum = { restored: 0, present: 0, skipped: 0, reason: null as string | null };
  for (let after: object | undefined, more = true; more;) {
    const input = { address, directory, ...(messageId !== undefined && { messageId }), ...(after && { after }) };
    const answer = await callServer(dataDir, 'restore_mailbox_step', input);
    if (answer.kind !== 'done') throw new BackupProblem(answer.message ?? 'The server refused the restore.');
    const { restored, present, skipped, reason, next } = answer.result as RestoreStep;
    sum.restored += restored;
    sum.present += present;
    sum.skipped += skipped;
    sum.reason = reason ?? sum.reason;
    after = next ?? undefined;
    more = next !== null;
  }
  return sum;
}
