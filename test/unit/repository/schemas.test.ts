import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mailMigrations } from '../../../mail/store/migrations.ts';
import { applianceMigrations } from '../../../src/core/migrations.ts';

const STORED = join(import.meta.dirname, '../../schemas');

test('a data directory of the present schema is stored, so that every later version is tried on it', () => {
  const present = `mail-${mailMigrations().length}-appliance-${applianceMigrations().length}.json.br`;
  expect(readdirSync(STORED), 'run `node test/schemas/write.ts`').toContain(present);
});
