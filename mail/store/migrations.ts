import { type Migration, readSteps } from './engine/migrate.ts';

/** The tables of the mail engine, one file for each topic. Step 1: never edited after a release. */
const SCHEMA = [
  'account.sql',
  'domain.sql',
  'mailbox.sql',
  'message.sql',
  'queue.sql',
  'sending.sql',
  'journal.sql',
  'webhook-event.sql',
  'forwarder.sql',
  'jmap.sql',
  'filter.sql',
  'agent.sql',
  'taint.sql',
];

/** Migrations of the mail engine. A change of the schema is a further step: a list of SQL files after SCHEMA. */
export function mailMigrations(): Migration[] {
  return readSteps('mail', new URL('./schema/', import.meta.url), [
    SCHEMA,
    ['tainted-content.sql'],
    ['scheduled-internal.sql'],
    ['deleted-account.sql'],
    ['annotation.sql'],
    ['message-index.sql'],
    ['recent.sql'],
    ['import.sql'],
    ['retention.sql'],
    ['mailbox-acl.sql'],
    ['blob-hash.sql'],
    ['sending-ramp.sql'],
    ['outgoing-report.sql'],
    ['delivery-peer.sql'],
    ['snooze.sql'],
    ['flag-range.sql'],
    ['thread-total.sql'],
    ['thread-index.sql'],
    ['change-index.sql'],
  ]);
}
