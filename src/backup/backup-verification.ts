import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFlushed } from '../../mail/backup/flush-file.ts';
import type { BackupVerification } from '../../mail/backup/verify-backup.ts';

/** Result of the last verification of the target of the settings, in the data directory. */
export interface VerificationStatus {
  target: string;
  /** End of the verification, ms UTC. */
  at: number;
  ok: boolean;
  /** The snapshot that was restored; null: none could be read. */
  snapshot: string | null;
  /** Messages that were compared with their hashes. */
  messages: number;
  /** The first finding; null: none. */
  problem: string | null;
}

export const VERIFICATION_FILE = 'backup-verified.json';

export function verificationStatus(target: string, at: number, done: BackupVerification): VerificationStatus {
  const { ok, snapshot, check, problems } = done;
  return { target, at, ok, snapshot: snapshot.id, messages: check?.checked ?? 0, problem: problems[0] ?? null };
}

export async function recordVerification(dataDir: string, status: VerificationStatus): Promise<void> {
  await writeFlushed(join(dataDir, VERIFICATION_FILE), Buffer.from(`${JSON.stringify(status)}\n`));
}

/** Result of the last verification; undefined: there was none. */
export async function readVerification(dataDir: string): Promise<VerificationStatus | undefined> {
  try {
    return JSON.parse(await readFile(join(dataDir, VERIFICATION_FILE), 'utf8')) as VerificationStatus;
  } catch {
    return undefined;
  }
}
