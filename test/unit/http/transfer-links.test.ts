import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publicId } from '../../../src/core/ids.ts';
import type { ExportStatus, MailTransfers } from '../../../src/core/mail-transfers.ts';
import { signTransferTicket } from '../../../src/transfers/transfer-link.ts';
import { consentWorld, type ConsentWorld } from '../../support/consent-world.ts';

let box: ConsentWorld;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'transfer-links-'));
  const path = join(directory, 'export.zip');
  await writeFile(path, 'mail of anna');
  const counts = { messages: 1, bytes: 12, damaged: [], problem: null };
  const exportStatus = (id: string): ExportStatus => ({
    id,
    path,
    state: 'done',
    tenant: 1,
    account: box.anna,
    ...counts,
  });
  box = await consentWorld({ transfers: { exportStatus } as unknown as MailTransfers });
});
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

async function download(credential: string): Promise<number> {
  const { world, clock, base } = box;
  const expires = clock.now + 3_600_000;
  const ticket = signTransferTicket(world.secrets, { kind: 'export', id: 'a', organization: 1, credential, expires });
  const response = await fetch(`${base}/api/email/transfers?ticket=${ticket}`, { headers: { connection: 'close' } });
  await response.arrayBuffer();
  return response.status;
}

test('a link to an export ends when who created it leaves, or loses the mailbox', async () => {
  const [admin, member] = [await box.someone('admin'), await box.someone('member', 1, [box.anna])];
  const ids = [admin, member].map(({ user }) => publicId('user', user));
  expect(await Promise.all(ids.map(download))).toEqual([200, 200]);
  await box.change(member.user, 'member', [box.bert]);
  await box.leave(admin.user);
  expect(await Promise.all(ids.map(download))).toEqual([404, 404]);
  expect(await download(publicId('token', 999))).toBe(404);
  expect(await download('operator')).toBe(200);
});
