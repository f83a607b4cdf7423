import { lstat, mkdir, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** File of a directory that an export writes into; it goes when the export is complete. */
const MARKER = '.mailstead-export-draft';
const NOTE =
  'Mailstead writes an export into this directory. If no export runs, it was interrupted: the next one to the same place deletes the directory.\n';

/** Path of what an export is written into until it is complete. */
export const draftOf = (path: string): string => `${path}.partial`;

/** The path of a draft is taken, and nothing shows that an export of this program wrote what is there. */
export class ForeignDraft extends Error {
  override readonly name = 'ForeignDraft';

  constructor(path: string) {
    super(
      `${path} exists and may be somebody's. Delete it if an interrupted export left it, or choose another target.`,
    );
  }
}

/** Creates the directory of a draft, with its marker. Throws EEXIST if it is there. */
export async function createDraft(draft: string): Promise<void> {
  await mkdir(draft, { mode: 0o700 });
  await writeFile(join(draft, MARKER), NOTE, { flag: 'wx', mode: 0o600 });
}

/** Removes what an interrupted export left. Throws ForeignDraft if something else is there: it stays. */
export async function removeDraft(draft: string): Promise<void> {
  const found = await lstat(draft).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isDirectory()) throw new ForeignDraft(draft);
  // A crash may come between the directory and its marker.
  if ((await readdir(draft)).length === 0) return rmdir(draft);
  const marker = await lstat(join(draft, MARKER)).catch(() => undefined);
  if (marker?.isFile() !== true) throw new ForeignDraft(draft);
  await rm(draft, { recursive: true, force: true });
}

/** Gives a complete draft its name. */
export async function finishDraft(draft: string, path: string): Promise<void> {
  await rm(join(draft, MARKER));
  await rename(draft, path);
}
