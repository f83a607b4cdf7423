import { stat, statfs } from 'node:fs/promises';
import type { Settings } from '../../config/settings.ts';
import type { Store } from '../../mail/store/engine/types.ts';
import { openUploads } from '../../mail/store/transfer/import-job.ts';
import { refuse } from '../core/refusal.ts';
import { uploadPath } from './import-run.ts';

/** Share of the free disk that the uploads of one organization may take together. */
const SHARE = 2;
const MB = 1024 * 1024;

/** Octets that are free for uploads of an organization, by what is free on the disk and what its uploads have. */
export function uploadRoom(free: number, own: number): number {
  return Math.max(0, (free + own) / SHARE - own);
}

/** Refuses an upload that would take more of the disk than the uploads of one organization may: all others share it. */
export async function checkUploadRoom(
  { store, settings }: { store: Pick<Store, 'read'>; settings: Pick<Settings, 'dataDir'> },
  { tenant, id, total }: { tenant: number; id: number; total: number },
): Promise<void> {
  const sizes = new Map<number, number>();
  for (const one of await store.read(openUploads, { tenant })) sizes.set(one, await sizeOf(uploadPath(settings, one)));
  const own = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const { bavail, bsize } = await statfs(settings.dataDir);
  const most = uploadRoom(bavail * bsize, own) + (sizes.get(id) ?? 0);
  if (total <= most) return;
  refuse(
    'too_large',
    `The disk has room for ${Math.floor(most / MB)} MB more of uploads of this organization, and this one has ${Math.ceil(total / MB)} MB. Import parts one after the other, or ask the operator to import the file by its path.`,
  );
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}
