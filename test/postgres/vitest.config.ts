import { defineConfig } from 'vitest/config';
import { COMMON, projectsOf } from '../suites.ts';

/** Contract files that run on PostgreSQL too; README.md names those that cannot. Others are left out for their time. */
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
