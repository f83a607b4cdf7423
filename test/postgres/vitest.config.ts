import { defineConfig } from 'vitest/config';
import { COMMON, projectsOf } from '../suites.ts';

/**
 * Contract files that run on PostgreSQL too: mail, clients, queue, agents and organizations. Others pass as well and are left
 * out for their time. These need SQLite:
 *
 * - its files, which they open, damage or copy: annotations, backup, backup-restore, deleted-mail, flag-log, full-text, lessons,
 *   log-shipping, mailboxes, message-index, range-flags, read-ahead, restored-ids, schema, scrub, search-snippets, text-merge,
 *   text-rest, direct-route, and a part of message-bucket;
 * - its plans, which they read: agent-hold-plans, email-plans, email-query, email-query-changes, email-query-refusals,
 *   email-stats, jmap-store, message-cost, senders, store, trace;
 * - statements of their own in its dialect: agent-house, forward-safety, judged-mail, outbox, report-operations, sts-start.
 */
const FILES = [
  'accounts',
  'agent-gate',
  'agent-hold',
  'agent-policies',
  'aliases',
  'append-messages',
  'claim',
  'copies',
  'fallbacks',
  'handed-on',
  'jmap-model',
  'keywords',
  'left-to-send',
  'long-thread',
  'message-claims',
  'message-ids',
  'notices',
  'people',
  'queue',
  'queue-steering',
  'quoted-outsiders',
  'recent',
  'reports',
  'schedule',
  'undo',
  'vanished',
].map((name) => `test/contract/${name}.test.ts`);

process.env['MAILSTEAD_TEST_DATABASE'] = 'postgres';

/** The second engine: `npm run test:postgres`. Needs PostgreSQL 15 of Debian. */
export default defineConfig({ test: { ...COMMON, projects: projectsOf(FILES) } });
