import type { getBackups } from '../../operations/operator/backups.ts';
import {
  buttonRow,
  bytes,
  descriptionList,
  durationOf,
  emptyState,
  pageHead,
  table,
  tag,
  timestamp,
} from '../components.ts';
import { html, type HtmlPart } from '../html.ts';
import { actionButton, operationAction, type Page } from '../page.ts';
import { isAllowed, type OutputOf, readOperation, type Visit } from '../visit.ts';

type Backups = OutputOf<typeof getBackups>;

/** The age from which a backup without a schedule is old. */
const OLD_MINUTES = 48 * 60;

/** Backups of the whole server, for its operator. */
export const backups: Page = {
  path: '/backups',
  name: 'Backups',
  menu: 'This server',
  needs: 'get_backups',
  notices: {
    backup: 'The backup has started. Reload this page for its result.',
    verification: 'The verification has started: it restores the newest snapshot and compares every message.',
  },
  actions: {
    backup: operationAction('run_backup', 'backup', () => ({ verify: false })),
    verify: operationAction('run_backup', 'verification', () => ({ verify: true })),
  },
  async show(visit) {
    const found = await readOperation<typeof getBackups>(visit, 'get_backups', {});
    if (found === undefined) return undefined;
    const head = pageHead('Backups', 'Copies of all mail, settings and keys, made while the server runs.');
    if (found.target === null) return [head, WITHOUT_TARGET];
    return html`${head} ${stateOf(found)} ${nextStep(found)} ${buttonsFor(visit, found)} ${snapshotTable(found)}`;
  },
};

const WITHOUT_TARGET = emptyState(
  'No target is configured',
  html`Without backups, a failed disk loses all mail. Set <code>MAILSTEAD_BACKUP_TARGET</code> to a directory of another
    disk or to <code>s3://bucket/prefix</code>, set <code>MAILSTEAD_BACKUP_PASSPHRASE_FILE</code> or
    <code>MAILSTEAD_BACKUP_RECIPIENT</code>, and restart the server.`,
);

function isOld({ lastGoodAt, everyMinutes }: Backups): boolean {
  const limit = everyMinutes > 0 ? 2 * everyMinutes : OLD_MINUTES;
  return lastGoodAt === null || Date.now() - Date.parse(lastGoodAt) > limit * 60_000;
}

function stateTag(found: Backups): HtmlPart {
  if (found.verified?.ok === false) return tag('Damaged', 'bad');
  if (found.running !== null) return tag(found.running === 'backup' ? 'Backing up' : 'Verifying');
  if (isOld(found)) return tag(found.lastGoodAt === null ? 'Missing' : 'Old', 'bad');
  return found.problem === null ? tag('Good', 'ok') : tag('Failing', 'warn');
}

function stateOf(found: Backups): HtmlPart {
  const { target, everyMinutes, lastGoodAt, problem, verified } = found;
  return descriptionList([
    ['State', stateTag(found)],
    ['Last good backup', lastGoodAt === null ? 'None' : timestamp(lastGoodAt)],
    ['Last verification', verified === null ? 'None' : verificationOf(verified)],
    ['Target', html`<code>${target}</code>`],
    ['Schedule', everyMinutes === 0 ? 'None' : `Every ${durationOf(everyMinutes * 60)}`],
    ['Encryption', encryptionOf(found)],
    problem !== null && ['Problem', problem],
  ]);
}

function encryptionOf({ encrypted, readable }: Backups): string {
  if (!encrypted) return 'None: the keys are not in the backups';
  return readable ? 'Encrypted' : 'For recipients: this server cannot read its backups';
}

function verificationOf({ at, ok, messages, problem }: NonNullable<Backups['verified']>): HtmlPart {
  return ok ? [timestamp(at), `: whole, ${messages} messages compared`] : [timestamp(at), `: ${problem ?? 'damaged'}`];
}

/** The one thing to do next; nothing if all is well. */
function nextStep(found: Backups): HtmlPart {
  const step = stepFor(found);
  return step !== undefined && html`<p><strong>Next:</strong> ${step}</p>`;
}

function stepFor(found: Backups): string | undefined {
  const { verified, encrypted, everyMinutes, problem } = found;
  if (verified?.ok === false)
    return 'Set a new MAILSTEAD_BACKUP_TARGET, back up, verify, and check the storage of this one.';
  if (problem !== null) return 'Correct the problem, then back up now.';
  if (isOld(found)) return 'Back up now.';
  if (!encrypted)
    return 'Set MAILSTEAD_BACKUP_PASSPHRASE_FILE or MAILSTEAD_BACKUP_RECIPIENT and a new target, or keep a copy of secret.key elsewhere.';
  if (everyMinutes === 0) return 'Set MAILSTEAD_BACKUP_EVERY, such as 1h.';
  return verified === null
    ? 'Verify once a week, best from another machine: mailstead backup verify TARGET.'
    : undefined;
}

function buttonsFor(visit: Visit, { running, readable, snapshots }: Backups): HtmlPart {
  if (running !== null || !isAllowed(visit, 'run_backup')) return '';
  return buttonRow(
    actionButton(visit, 'backup', 'Back up now'),
    readable && snapshots.length > 0 && actionButton(visit, 'verify', 'Verify the newest'),
  );
}

function snapshotTable({ snapshots }: Backups): HtmlPart {
  if (snapshots.length === 0) return emptyState('No snapshots', 'A backup adds one when it is whole.');
  return table(
    'Snapshots',
    ['Snapshot', 'Time', 'Messages', 'Size', 'Stored', 'Keys'],
    snapshots.map(({ id, at, messages, bytes: size, storedBytes, keys }) => [
      html`<code>${id}</code>`,
      timestamp(at),
      messages,
      bytes(size),
      bytes(storedBytes),
      keys ? 'Included' : 'Not included',
    ]),
  );
}
