import { statfs } from 'node:fs/promises';

/** Share of the free space that one unpacked file may take: several imports run at a time. */
const SHARE = 4;
const MB = 1024 * 1024;

const sizeOf = (octets: number): string => `${Math.ceil(octets / MB).toLocaleString('en-US')} MB`;

/** Throws unless a file may be unpacked into a directory: a small archive can hold a file that fills the disk. */
export async function checkDiskSpace(directory: string, file: { path: string; size: number }): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  const most = (bavail * bsize) / SHARE;
  if (file.size <= most) return;
  const name = file.path.slice(0, 200);
  throw new Error(
    `${name} has ${sizeOf(file.size)} when unpacked, and the server has room for ${sizeOf(most)}: unpack the archive and upload that file alone`,
  );
}
