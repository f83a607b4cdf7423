import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addImportJob } from '../../../mail/store/transfer/import-job.ts';
import { publicId } from '../../../src/core/ids.ts';
import type { ExportStatus, MailTransfers } from '../../../src/core/mail-transfers.ts';
import { signTransferTicket } from '../../../src/transfers/transfer-link.ts';
import { uploadRoom } from '../../../src/transfers/upload-room.ts';
import { consentWorld, type ConsentWorld } from '../../support/consent-world.ts';

let box: ConsentWorld;
let directory: string;
/** Directory of uploads. */
let uploads: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'transfer-links-'));
  uploads = directory;
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
  const uploadPath = (id: number): string => join(uploads, `upload-${id}`);
  box = await consentWorld({ transfers: { exportStatus, uploadPath } as unknown as MailTransfers });
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

/** Uploads two octets with this range to a new import. */
async function upload(range: string): Promise<[status: number, text: string]> {
  const { world, clock, base } = box;
  const input = { tenant: 1, account: box.anna, kind: 'file', spec: '{}', secret: null, state: 'waiting' } as const;
  const id = await world.store.write(addImportJob, { ...input, by: 'operator' });
  const expires = clock.now + 3_600_000;
  const facts = { kind: 'import', id: String(id), organization: 1, credential: 'operator', expires } as const;
  const headers = { 'content-range': range, connection: 'close' };
  const response = await fetch(`${base}/api/email/transfers?ticket=${signTransferTicket(world.secrets, facts)}`, {
    method: 'PUT',
    body: 'PK',
    headers,
  });
  return [response.status, await response.text()];
}

test('a part of an upload whose file cannot be read is not refused as if no octet had arrived', async () => {
  expect(await upload('bytes 2-3/4')).toEqual([409, expect.stringContaining('Only 0 octets have arrived')]);
  uploads = join(directory, 'export.zip');
  expect((await upload('bytes 2-3/4'))[0]).toBe(500);
  uploads = directory;
});

test('the uploads of one organization leave half of the free disk to others', async () => {
  expect(uploadRoom(1000, 0)).toBe(500);
  // Uploaded octets are no longer free, and count.
  expect(uploadRoom(600, 400)).toBe(100);
  expect(uploadRoom(500, 500)).toBe(0);
  expect(await upload(`bytes 0-1/${10 ** 15 - 1}`)).toEqual([413, expect.stringContaining('ask the operator')]);
});
