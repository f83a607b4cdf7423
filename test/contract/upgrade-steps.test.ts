import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { quiet } from '../../mail/log.ts';
import type { UpgradeStep } from '../../mail/store/engine/upgrade-step.ts';
import { MailStore } from '../../mail/store/store.ts';
import { OLD_DIRECTORIES, unpackOldDirectory } from '../support/old-directory.ts';
import { engines } from '../support/store.ts';
import { storeParts } from '../../src/start/store-parts.ts';

test.each([
  ['a thread', engines['writer thread']],
  ['the calling thread', storeParts()],
])(
  'a start on %s that changes the tables reports the copy and each migration, the next one nothing',
  async (_, engine) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'mailstead-steps-'));
    const steps: UpgradeStep[] = [];
    const start = async (): Promise<void> => {
      await using _store = await MailStore.open({
        dataDir,
        engine,
        keepFree: 0,
        clock: () => Date.now(),
        log: quiet,
        meter: quiet,
        fatal: (error) => {
          throw error;
        },
        upgrading: (step) => steps.push(step),
      });
    };
    try {
      unpackOldDirectory(OLD_DIRECTORIES.toSorted()[0] ?? '', dataDir);
      await start();
      const [copy, ...migrations] = steps;
      expect(copy).toMatchObject({ kind: 'copy', draft: expect.stringContaining('before-upgrade') as string });
      expect(migrations.length).toBeGreaterThan(1);
      const total = migrations.length;
      expect(migrations.map((one) => one.kind === 'migrate' && [one.number, one.total])).toEqual(
        migrations.map((_one, i) => [i + 1, total]),
      );
      steps.length = 0;
      await start();
      expect(steps).toEqual([]);
      rmSync(dataDir, { recursive: true });
      // A new database is no upgrade.
      await start();
      expect(steps).toEqual([]);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  },
);
