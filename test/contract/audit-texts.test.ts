import { expect, test } from 'vitest';
import { recordAuditEvent } from '../../src/audit/commands.ts';
import { firstBrokenAuditRow } from '../../src/audit/queries.ts';
import type { AuditEntry } from '../../src/core/audit-row.ts';
import { storeParts } from '../../src/start/store-parts.ts';
import { testStore } from '../support/store.ts';

const ENTRY: AuditEntry = {
  organization: 1,
  actor: 'tok_1',
  actorName: 'x',
  way: 'rest',
  ip: '192.0.2.1',
  operation: 'create_project',
  target: 'x',
  detail: {},
};

test.each<[string, Partial<AuditEntry>]>([
  ['NUL in a name', { target: 'a\0b' }],
  ['NUL in a detail', { detail: { name: 'a\0b' } }],
  ['a surrogate without a pair in a name', { actorName: 'a\ud800' }],
  ['a surrogate without a pair in a detail', { detail: { 'a\ud800': ['\udc00'] } }],
  ['a backslash in a name that begins as a list', { target: String.raw`[work] C:\u0000` }],
  ['a backslash in a name that is a list', { actorName: String.raw`["\u0000"]` }],
])('the chain of an audit log holds with %s', async (_, texts) => {
  await using box = await testStore(storeParts());
  await box.store.write(recordAuditEvent, { entry: { ...ENTRY, ...texts }, outcome: 'done' });
  await box.store.write(recordAuditEvent, { entry: ENTRY, outcome: 'done' });
  expect(await box.store.read(firstBrokenAuditRow, { organization: 1 })).toBeUndefined();
});
