import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { openTarget } from '../../../mail/backup/open-target.ts';
import { Repository } from '../../../mail/backup/repository.ts';
import { findSnapshot } from '../../../mail/backup/restore-snapshot.ts';
import { signedHeaders } from '../../../mail/store/bucket/s3-signature.ts';
import { S3Target } from '../../../mail/backup/s3-target.ts';
import { listingOf } from '../../../mail/store/bucket/s3-listing.ts';
import { verifyBackup } from '../../../mail/backup/verify-backup.ts';
import { BackupWorld } from '../../support/backup-world.ts';
import { FakeS3, S3_FAULTS, type S3Fault } from '../../support/fake-s3.ts';

/** Verifies the newest snapshot, if there is one. */
async function isWhole(world: BackupWorld, target: S3Target): Promise<boolean> {
  const repository = await Repository.open(target, {});
  return (await verifyBackup(repository, await findSnapshot(repository), world.directory)).ok;
}

describe('a backup to a bucket', () => {
  test('is incremental and restores, also where a listing has many pages', async () => {
    await using world = await BackupWorld.create(5, 1);
    await using s3 = await FakeS3.start();
    const target = new S3Target(s3.options);
    for (let backup = 0; backup < 10; backup++) {
      await world.backup(target);
      await world.add(1);
    }
    expect([...s3.objects.keys()].filter((name) => name.startsWith('box one/snapshots/'))).toHaveLength(10);
    expect(await isWhole(world, target)).toBe(true);
  });

  test.each(S3_FAULTS)('survives, or reports, "%s" at every request once', async (kind: S3Fault) => {
    await using world = await BackupWorld.create(2, 1);
    let refused = 0;
    for (let request = 1; ; request++) {
      await using s3 = await FakeS3.start();
      s3.fault = { request, kind };
      const target = new S3Target(s3.options);
      const report = await world.backup(target).catch((error: Error) => error);
      if (report instanceof Error) {
        expect(report.message).toMatch(/acknowledged|missing/);
        refused++;
      }
      const good = [...s3.objects.keys()].filter((name) => name.includes('/snapshots/'));
      expect(good, `request ${request}`).toHaveLength(report instanceof Error ? 0 : 1);
      if (!(report instanceof Error)) expect(await isWhole(world, target), `request ${request}`).toBe(true);
      if (s3.requests < request) break;
    }
    // The others are repeated; what a bucket loses after it said that it has it cannot be.
    if (kind === 'lost') expect(refused).toBeGreaterThan(2);
    else expect(refused).toBe(0);
  });

  test('fails with a sentence where the bucket is down, or the key is wrong', async () => {
    await using world = await BackupWorld.create(1);
    await using s3 = await FakeS3.start();
    const wrong = new S3Target({ ...s3.options, secretKey: 'another' });
    await expect(world.backup(wrong)).rejects.toThrow(/refused the request: HTTP 403, SignatureDoesNotMatch/);
    s3.down = true;
    await expect(world.backup(new S3Target(s3.options))).rejects.toThrow(/did not answer 6 times: HTTP 503/);
  });
});

describe('requests to a bucket', () => {
  // The examples of Amazon's documentation of Signature Version 4.
  const keys = {
    accessKey: 'AKIAIOSFODNN7EXAMPLE',
    secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
  };
  test.each([
    ['/?lifecycle', 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'],
    ['/?max-keys=2&prefix=J', '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'],
  ])('GET %s is signed as Amazon signs it', (path, signature) => {
    const url = new URL(`https://examplebucket.s3.amazonaws.com${path}`);
    const headers = signedHeaders(
      { method: 'GET', url, bodyHash: hash('sha256', '', 'hex') },
      keys,
      new Date('2013-05-24T00:00:00Z'),
    );
    expect(headers['authorization']).toContain(`Signature=${signature}`);
  });

  test('read listings with escaped names', () => {
    const xml =
      '<R><Contents><Key>a&amp;b&#39;/x</Key><Size>12</Size></Contents><NextContinuationToken>t&lt;</NextContinuationToken></R>';
    expect(listingOf(Buffer.from(xml))).toEqual({ objects: [{ name: 'a&b&#39;/x', size: 12, at: NaN }], next: 't<' });
  });
});

describe('the name of a target', () => {
  const access = { endpoint: undefined, region: 'eu-1', accessKey: 'a', secretKey: 'b' };
  test.each([
    ['s3://bucket/a/b/', 's3://bucket/a/b'],
    ['s3://bucket', 's3://bucket'],
    ['/nowhere/backups', '/nowhere/backups'],
  ])('%s is %s', (name, label) => {
    expect(openTarget(name, access).label).toBe(label);
  });

  test.each([
    ['s3://', /no name of a bucket/],
    ['s3://UPPER/x', /no name of a bucket/],
    ['https://host/bucket', /Name a directory, a file or s3:/],
  ])('%s is refused', (name, reason) => {
    expect(() => openTarget(name, access)).toThrow(reason);
  });

  test('needs keys for a bucket', () => {
    expect(() => openTarget('s3://bucket', { ...access, secretKey: undefined })).toThrow(
      /MAILSTEAD_BACKUP_S3_SECRET_KEY/,
    );
  });
});
