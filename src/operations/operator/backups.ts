import { z } from 'zod';
import { BackupProblem } from '../../../mail/backup/backup-error.ts';
import { canReadBackups, isEncrypted } from '../../backup/backup-access.ts';
import { listBackups, readStatus } from '../../backup/backup-commands.ts';
import { readVerification } from '../../backup/backup-verification.ts';
import { type Call, operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { isoOf, isoOrNull } from '../../core/schemas.ts';

/** Snapshots in a listing: more than MAILSTEAD_BACKUP_KEEP keeps by default. */
const MAX_SNAPSHOTS = 100;

const Snapshot = z.object({
  id: z.string(),
  at: z.string(),
  messages: z.number(),
  bytes: z.number(),
  storedBytes: z.number(),
  keys: z.boolean(),
});

export const getBackups = operation({
  name: 'get_backups',
  title: 'Get the backups',
  toolset: 'deploy',
  reach: 'organization',
  action: 'read',
  operatorOnly: true,
  untrusted: true,
  description:
    'For the operator: target, schedule, state and last verification of the backups, and the newest snapshots.',
  hints: { readOnly: true, idempotent: true, openWorld: true },
  input: z.strictObject({}),
  output: z.object({
    target: z.string().nullable(),
    everyMinutes: z.number().describe('0: no schedule'),
    encrypted: z.boolean(),
    readable: z.boolean().describe('False: only an identity elsewhere opens and verifies them'),
    running: z.string().nullable(),
    lastGoodAt: z.string().nullable(),
    problem: z.string().nullable().describe('of the last backup or this listing'),
    verified: z
      .object({ at: z.string(), ok: z.boolean(), messages: z.number(), problem: z.string().nullable() })
      .nullable(),
    snapshots: z.array(Snapshot),
  }),
  async run(call) {
    const { backup, dataDir } = call.settings;
    // Before the results are read: without a task these are the last ones.
    const running = call.backups.running?.task ?? null;
    const [status, verified, listed] = await Promise.all([
      readStatus(dataDir),
      readVerification(dataDir),
      snapshotsOf(call),
    ]);
    const { at, ok, messages, problem } = verified ?? {};
    return {
      target: backup.target ?? null,
      everyMinutes: backup.everyMs / 60_000,
      encrypted: isEncrypted(backup),
      readable: canReadBackups(backup),
      running,
      lastGoodAt: isoOrNull(status?.lastGoodAt ?? null),
      // The first backup creates the repository, so before it an empty target is no problem.
      problem: status?.problem ?? (status === undefined ? null : listed.problem),
      verified:
        at === undefined ? null : { at: isoOf(at), ok: ok === true, messages: messages ?? 0, problem: problem ?? null },
      snapshots: listed.snapshots,
    };
  },
});

interface ListedSnapshots {
  snapshots: z.output<typeof Snapshot>[];
  problem: string | null;
}

/** The newest snapshots first. */
async function snapshotsOf({ settings, log }: Call): Promise<ListedSnapshots> {
  const { target } = settings.backup;
  if (target === undefined) return { snapshots: [], problem: null };
  try {
    const { snapshots, damaged } = await listBackups(target, settings);
    const newest = snapshots.toReversed().slice(0, MAX_SNAPSHOTS);
    return {
      snapshots: newest.map(({ id, at, messages, size, added, keys }) => ({
        id,
        at: isoOf(at),
        messages,
        bytes: size,
        storedBytes: added,
        keys,
      })),
      problem: damaged.length === 0 ? null : `Damaged snapshots: ${damaged.slice(0, 5).join(', ')}.`,
    };
  } catch (error) {
    if (!(error instanceof BackupProblem)) log.warn({ err: error }, 'failed to list the backups');
    const known = error instanceof BackupProblem ? error.message : 'The target cannot be read: see the log.';
    return { snapshots: [], problem: known };
  }
}

export const runBackup = operation({
  name: 'run_backup',
  title: 'Back up now',
  toolset: 'deploy',
  reach: 'organization',
  action: 'manage',
  operatorOnly: true,
  description:
    'For the operator: starts a backup to the configured target, or with verify a restore of the newest one into a scratch directory that compares every message. get_backups has the result.',
  hints: { idempotent: true, openWorld: true },
  input: z.strictObject({ verify: z.boolean().default(false).describe('Verify instead') }),
  output: z.object({ started: z.string() }),
  async run(call, { verify }) {
    const { target } = call.settings.backup;
    if (target === undefined)
      return refuse('conflict', 'No target is configured. Set MAILSTEAD_BACKUP_TARGET and restart the server.');
    if (verify && !canReadBackups(call.settings.backup))
      return refuse(
        'conflict',
        'The backups are encrypted for recipients, so this server cannot read them. Run mailstead backup verify where an identity is.',
      );
    const task = verify ? 'verification' : 'backup';
    await call.note(target, { task });
    if (!call.backups.start(task))
      return refuse('conflict', `A ${call.backups.running?.task ?? 'backup'} runs. Wait for its end: get_backups.`);
    return { started: task };
  },
});
