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
import type { PlainPortalKey } from '../message-types.ts';
import { actionButton, operationAction, type Page } from '../page.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { isAllowed, type OutputOf, readOperation, type Visit } from '../visit.ts';

type Backups = OutputOf<typeof getBackups>;

/** The age from which a backup without a schedule is old. */
const OLD_MINUTES = 48 * 60;

/** Backups of the whole server, for its operator. */
export const backups: Page = {
  path: '/backups',
  name: 'Backups',
  translated: true,
  menu: 'This server',
  needs: 'get_backups',
  notices: {
    backup: { message: 'backup.started' },
    verification: { message: 'backup.verifying-started' },
  },
  actions: {
    backup: operationAction('run_backup', 'backup', () => ({ verify: false })),
    verify: operationAction('run_backup', 'verification', () => ({ verify: true })),
  },
  async show(visit) {
    const found = await readOperation<typeof getBackups>(visit, 'get_backups', {});
    if (found === undefined) return undefined;
    const t = translatorOf(visit.request);
    const head = pageHead(t('page.Backups'), t('backup.about'));
    if (found.target === null) return [head, withoutTarget(t)];
    return html`${head} ${stateOf(t, found)} ${nextStep(t, found)} ${buttonsFor(t, visit, found)}
    ${snapshotTable(t, found)}`;
  },
};

function withoutTarget(t: Translator): HtmlPart {
  const text = t.rich('backup.no-target-text', {
    target: html`<code>MAILSTEAD_BACKUP_TARGET</code>`,
    bucket: html`<code>s3://bucket/prefix</code>`,
    passphrase: html`<code>MAILSTEAD_BACKUP_PASSPHRASE_FILE</code>`,
    recipient: html`<code>MAILSTEAD_BACKUP_RECIPIENT</code>`,
  });
  return emptyState(t('backup.no-target'), text);
}

function isOld({ lastGoodAt, everyMinutes }: Backups): boolean {
  const limit = everyMinutes > 0 ? 2 * everyMinutes : OLD_MINUTES;
  return lastGoodAt === null || Date.now() - Date.parse(lastGoodAt) > limit * 60_000;
}

function stateTag(t: Translator, found: Backups): HtmlPart {
  if (found.verified?.ok === false) return tag(t('backup.damaged'), 'bad');
  if (found.running !== null) return tag(t(found.running === 'backup' ? 'backup.backing-up' : 'backup.verifying'));
  if (isOld(found)) return tag(t(found.lastGoodAt === null ? 'backup.missing' : 'backup.old'), 'bad');
  return found.problem === null ? tag(t('backup.good'), 'ok') : tag(t('backup.failing'), 'warn');
}

function stateOf(t: Translator, found: Backups): HtmlPart {
  const { target, everyMinutes, lastGoodAt, problem, verified } = found;
  const none = t('backup.none-yet');
  return descriptionList([
    [t('backup.state'), stateTag(t, found)],
    [t('backup.last-good'), lastGoodAt === null ? none : timestamp(lastGoodAt, t)],
    [t('backup.last-verification'), verified === null ? none : verificationOf(t, verified)],
    [t('backup.target'), html`<code>${target}</code>`],
    [t('backup.schedule'), scheduleOf(t, everyMinutes)],
    [t('backup.encryption'), encryptionOf(t, found)],
    problem !== null && [t('backup.problem'), t.english(problem)],
  ]);
}

function scheduleOf(t: Translator, minutes: number): string {
  return minutes === 0 ? t('backup.no-schedule') : t('backup.every', { time: durationOf(minutes * 60, t) });
}

function encryptionOf(t: Translator, { encrypted, readable }: Backups): string {
  if (!encrypted) return t('backup.without-keys');
  return t(readable ? 'backup.encrypted' : 'backup.for-recipients');
}

function verificationOf(t: Translator, { at, ok, messages, problem }: NonNullable<Backups['verified']>): HtmlPart {
  const time = timestamp(at, t);
  if (ok) return t.rich('backup.whole', { time, messages: String(messages) });
  return t.rich('backup.not-whole', { time, problem: problem === null ? t('backup.is-damaged') : t.english(problem) });
}

/** The one thing to do next; nothing if all is well. */
function nextStep(t: Translator, found: Backups): HtmlPart {
  const step = stepFor(found);
  return step !== undefined && html`<p><strong>${t('backup.next')}</strong> ${t(step)}</p>`;
}

function stepFor(found: Backups): PlainPortalKey | undefined {
  const { verified, encrypted, everyMinutes, problem } = found;
  if (verified?.ok === false) return 'backup-step.damaged';
  if (problem !== null) return 'backup-step.problem';
  if (isOld(found)) return 'backup-step.old';
  if (!encrypted) return 'backup-step.unencrypted';
  if (everyMinutes === 0) return 'backup-step.unscheduled';
  return verified === null ? 'backup-step.unverified' : undefined;
}

function buttonsFor(t: Translator, visit: Visit, { running, readable, snapshots }: Backups): HtmlPart {
  if (running !== null || !isAllowed(visit, 'run_backup')) return '';
  return buttonRow(
    actionButton(visit, 'backup', t('backup.now')),
    readable && snapshots.length > 0 && actionButton(visit, 'verify', t('backup.verify')),
  );
}

function snapshotTable(t: Translator, { snapshots }: Backups): HtmlPart {
  if (snapshots.length === 0) return emptyState(t('snapshot.none'), t('snapshot.none-text'));
  const headings = [t('snapshot.name'), t('charts.time'), t('retention.messages'), t('mailboxes.size')];
  return table(
    t('snapshot.title'),
    [...headings, t('mailbox.stored'), t('snapshot.keys')],
    snapshots.map(({ id, at, messages, bytes: size, storedBytes, keys }) => [
      html`<code>${id}</code>`,
      timestamp(at, t),
      messages,
      bytes(size, t),
      bytes(storedBytes, t),
      t(keys ? 'snapshot.included' : 'snapshot.not-included'),
    ]),
    t,
  );
}
